"""Who may answer, and what hides them: tokens that admit a person once, and a shuffler between devices and collector."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from deniable.errors import InvalidParameter
from deniable.surveys.transport import checked_url

MOST_TOKENS = 1000
LEAST_CROWD, MOST_CROWD = 2, 10**9
MOST_MINUTES = 60 * 24 * 366
_KEY_BYTES = (200, 600)
"""How long a published key of an issuer can be, in the form of RFC 9578."""
_HEX = re.compile(r"[0-9a-f]{64}", re.ASCII)
Part = TypeVar("Part", "Admission", "Shuffle")


@dataclass(frozen=True)
class Admission:
    """Reports are taken only with a token of this issuer, each token once (Privacy Pass, RFC 9578, type 2).

    The key stands in the survey's document, so every device uses the same one and an issuer cannot mark a person by giving out
    another. Every person gets `tokens` of them in all.
    """

    issuer: str
    """The issuer's address."""
    key: str
    """The issuer's public key, base64url without padding."""
    tokens: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.issuer, str):
            raise InvalidParameter("admission.issuer must be the issuer's address, such as https://issuer.example.org")
        checked_url(self.issuer)
        self.key_bytes  # noqa: B018 - refuses what is not base64
        _check("admission.tokens", self.tokens, 1, MOST_TOKENS)

    @property
    def key_bytes(self) -> bytes:
        """The key as the issuer publishes it."""
        try:
            data = base64.urlsafe_b64decode(self.key + "=" * (-len(self.key) % 4)) if isinstance(self.key, str) else b""
        except (binascii.Error, ValueError):
            data = b""
        if not _KEY_BYTES[0] <= len(data) <= _KEY_BYTES[1] or base64.urlsafe_b64encode(data).decode().rstrip("=") != self.key:
            raise InvalidParameter("admission.key must be an issuer's public key, as `deniable issuer --new-key` prints it")
        return data

    @property
    def words(self) -> str:
        """The rule in one sentence."""
        each = "one token" if self.tokens == 1 else f"{self.tokens:,} tokens"
        once = f"A report is taken only with a token of {self.issuer}, each token once"
        return f"{once}; every person gets {each}, and no token names anyone."


@dataclass(frozen=True)
class Shuffle:
    """Reports are encrypted to the collector and reach it in random order, many at once, by a shuffler that cannot read them."""

    key: str
    """The collector's public key for X25519, 64 hexadecimal digits."""
    reports: int
    """The fewest reports of a batch."""
    minutes: int = 0
    """The least time between two batches."""

    def __post_init__(self) -> None:
        if not isinstance(self.key, str) or not _HEX.fullmatch(self.key):
            raise InvalidParameter("shuffle.key must be 64 hexadecimal digits, as `deniable shuffle --new-key` prints them")
        _check("shuffle.reports", self.reports, LEAST_CROWD, MOST_CROWD)
        _check("shuffle.minutes", self.minutes, 0, MOST_MINUTES)

    @property
    def words(self) -> str:
        """The rule in one sentence."""
        wait = (
            ""
            if self.minutes == 0
            else f", not before {self.minutes:,} minute{'' if self.minutes == 1 else 's'} after the last ones"
        )
        return f"Reports reach the collector in random order and without their senders, at least {self.reports:,} at once{wait}."


def part_from(written: object, kind: type[Part], name: str, example: str) -> Part | None:
    """A table of a survey file or document; None where there is none."""
    if written is None or isinstance(written, kind):
        return written
    if not isinstance(written, dict) or not set(written) <= set(kind.__annotations__):
        raise InvalidParameter(f"{name} must be a table such as {example}")
    try:
        return kind(**written)
    except TypeError:
        raise InvalidParameter(f"{name} must be a table such as {example}") from None


def admission_from(written: object) -> Admission | None:
    """`[admission]` of a survey file."""
    return part_from(written, Admission, "admission", '{ issuer = "https://issuer.example.org", key = "…", tokens = 1 }')


def shuffle_from(written: object) -> Shuffle | None:
    """`[shuffle]` of a survey file.

    >>> shuffle_from({"key": "0f" * 32, "reports": 1000}).words
    'Reports reach the collector in random order and without their senders, at least 1,000 at once.'
    """
    return part_from(written, Shuffle, "shuffle", '{ key = "…", reports = 1000, minutes = 60 }')


def extra_fields(admission: Admission | None, shuffle: Shuffle | None) -> dict[str, Any]:
    """What the document says of both; a survey without them has no such fields."""
    parts = {"admission": admission, "shuffle": shuffle}
    return {name: asdict(part) for name, part in parts.items() if part is not None}


def _check(name: str, value: object, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidParameter(f"{name} must be a whole number from {least} to {most:,}")
