"""One-time tokens: each admits one report, in the same transaction that counts it."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Protocol

from sqlalchemy import Connection, select, text

from deniable.collector.messages import Refusal
from deniable.collector.tables import SPENT
from deniable.errors import BadMessage, InvalidParameter
from deniable.privacy import PublicTokenKey, Token, public_key_from_bytes, survey_challenge
from deniable.surveys import Admission, Survey, period_of

NONCE = 16
"""Bytes of a token's name in the database: a part of the hash of its random number."""
AGAIN = "this token was already spent on another report; every token admits one"
_SCHEME = "PrivateToken token="
_INSERT = text("INSERT INTO spent_tokens (survey, nonce, key) VALUES (:survey, :nonce, :key) ON CONFLICT DO NOTHING")
_STEP = 1000


class Admitted(Protocol):
    """What the database has to know of a report that came with a token."""

    @property
    def key(self) -> bytes:
        """The key under which the report is sent, however often."""

    @property
    def nonce(self) -> bytes | None:
        """The token's name; None where no token is needed."""


@lru_cache(maxsize=256)
def token_key(admission: Admission) -> PublicTokenKey:
    """The issuer's key, checked."""
    key = public_key_from_bytes(admission.key_bytes)
    if not isinstance(key, PublicTokenKey):
        raise InvalidParameter("admission.key must be a key that everyone can verify tokens with (type 2)")
    return key


def check_admission(survey: Survey) -> None:
    """Refuse a survey whose tokens nobody could verify."""
    if survey.admission is not None:
        try:
            token_key(survey.admission)
        except BadMessage as error:
            raise InvalidParameter(f"admission.key: {error}; `deniable issuer --new-key issuer.pem` prints one") from None


@lru_cache(maxsize=1024)
def _digests(survey: Survey, day: date) -> frozenset[bytes]:
    """For what a token must be good today: this survey, and this window or the one that ended within a day."""
    admission = survey.admission
    assert admission is not None
    periods = {period_of(day, survey.window), period_of(day - timedelta(days=1), survey.window)}
    return frozenset(survey_challenge(survey, period).digest for period in periods)


def token_from_header(header: str | None) -> bytes | None:
    """The token of an `Authorization: PrivateToken token=…` (RFC 9577); None where there is none."""
    if header is None or not header.startswith(_SCHEME):
        return None
    value = header.removeprefix(_SCHEME).strip('"').rstrip("=")
    try:
        return base64.urlsafe_b64decode(value + "=" * (-len(value) % 4))
    except (binascii.Error, ValueError):
        raise Refusal(400, "the token is not in base64url") from None


def nonce_of(survey: Survey, data: bytes | None, today: date | None = None) -> bytes | None:
    """The name of a token that is good for this survey now; None where the survey needs none. Else a Refusal."""
    if survey.admission is None:
        return None
    if data is None:
        raise Refusal(401, f"this survey takes a report only with a token of {survey.admission.issuer}: {_SCHEME}…")
    try:
        token = Token.from_bytes(data)
    except BadMessage as error:
        raise Refusal(400, str(error)) from None
    if token.challenge_digest not in _digests(survey, datetime.now(UTC).date() if today is None else today):
        raise Refusal(403, "the token is for another survey or another window")
    if not token_key(survey.admission).accepts(token):
        raise Refusal(403, "the token was not made by this survey's issuer")
    return hashlib.sha256(token.nonce).digest()[:NONCE]


def admitted(connection: Connection, survey: str, arrivals: Sequence[Admitted], places: Sequence[int]) -> list[int]:
    """Spend the tokens of these arrivals; the places of those whose token no other report has spent."""
    wanted = sorted({(nonce, arrivals[place].key) for place in places if (nonce := arrivals[place].nonce) is not None})
    if not wanted:
        return list(places)
    # In one order everywhere, so that two writers cannot wait for each other's tokens.
    connection.execute(_INSERT, [{"survey": survey, "nonce": nonce, "key": key} for nonce, key in wanted])
    nonces = sorted({nonce for nonce, _ in wanted})
    owners: dict[bytes, bytes] = {}
    for begin in range(0, len(nonces), _STEP):
        query = select(SPENT.c.nonce, SPENT.c.key).where(SPENT.c.survey == survey, SPENT.c.nonce.in_(nonces[begin : begin + _STEP]))
        owners.update((bytes(row.nonce), bytes(row.key)) for row in connection.execute(query))
    return [place for place in places if _is_owner(arrivals[place], owners)]


def _is_owner(arrival: Admitted, owners: dict[bytes, bytes]) -> bool:
    return arrival.nonce is None or owners[arrival.nonce] == arrival.key


def owner(connection: Connection, survey: str, nonce: bytes) -> bytes | None:
    """The key of the report that spent a token; None when none did."""
    key = connection.execute(select(SPENT.c.key).where(SPENT.c.survey == survey, SPENT.c.nonce == nonce)).scalar()
    return None if key is None else bytes(key)
