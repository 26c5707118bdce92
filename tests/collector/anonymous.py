"""Surveys with tokens and a shuffler, and devices that answer them: for tests of the anonymous roles."""

from __future__ import annotations

import base64
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from tests.collector.running import TOML

from deniable.collector import Invitations, Issued, Issuer
from deniable.privacy import BlindPrivateKey, PublicTokenIssuer, Token, survey_challenge
from deniable.surveys import Survey, survey_from_toml

ISSUER = "http://127.0.0.1:8020"
ANALYST = X25519PrivateKey.from_private_bytes(bytes(range(32)))


@lru_cache
def signer() -> PublicTokenIssuer:
    """One key for all tests of a process: making one takes a while."""
    return PublicTokenIssuer(BlindPrivateKey.generate())


def key_text(key: PublicTokenIssuer | None = None) -> str:
    return base64.urlsafe_b64encode((key or signer()).public_bytes).decode().rstrip("=")


def toml_with(
    *, tokens: int | None = 1, reports: int | None = None, issuer: str = ISSUER, key: str | None = None, **more: str
) -> str:
    """The usual survey with tokens, or a shuffler, or both."""
    tables = ""
    if tokens is not None:
        tables += f'[admission]\nissuer = "{issuer}"\nkey = "{key or key_text()}"\ntokens = {tokens}\n'
    if reports is not None:
        tables += f'[shuffle]\nkey = "{ANALYST.public_key().public_bytes_raw().hex()}"\nreports = {reports}\n'
    head = "".join(f'{name} = "{value}"\n' for name, value in more.items())
    return head + TOML + tables


def survey_with(**how: Any) -> Survey:
    return survey_from_toml(toml_with(**how))


def token_for(survey: Survey, period: str = "", key: PublicTokenIssuer | None = None) -> Token:
    """A token straight from the key, without an issuer's service."""
    key = key or signer()
    pending = key.public.ask(survey_challenge(survey, period))
    return key.public.receive(pending, key.issue(pending.request))


class StraightToIssuer:
    """A transport that hands requests to an issuer in this process."""

    def __init__(self, issuer: Issuer, token: str = "") -> None:
        self.issuer, self.token, self.bodies = issuer, token, []  # type: ignore[var-annotated]
        self.cut = False

    def with_token(self, token: str) -> StraightToIssuer:
        self.token = token
        return self

    def get(self, url: str) -> tuple[int, bytes]:
        raise AssertionError(url)

    def post(self, url: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        self.bodies.append(body)
        status, data = self.issuer.issue(self.token, body)
        return (-1, b"") if self.cut else (status, data)


def issuer_with(folder: Path, codes: list[str], *, tokens: int = 1) -> Issuer:
    (folder / "codes.txt").write_text("\n".join(codes))
    return Issuer([signer()], Invitations(folder / "codes.txt"), Issued(folder / "issuer.db", b"secret"), tokens=tokens)


def submission(key: bytes, survey: Survey, value: str = "bus") -> bytes:
    from deniable.core import encode_report

    report = encode_report(survey.mechanism, survey.mechanism.randomize(value))
    return json.dumps({"key": key.hex(), "report": report.hex()}, separators=(",", ":")).encode()
