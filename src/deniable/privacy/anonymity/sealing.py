"""A report on its way through a shuffler: encrypted to the collector, with a random key that makes sending it twice harmless."""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from deniable.errors import BadMessage
from deniable.privacy.anonymity import hpke
from deniable.surveys import KEY_BYTES, Survey

SEALED_TYPE, SHUFFLED_TYPE = "application/vnd.deniable.sealed", "application/vnd.deniable.shuffled"
"""The media types of one sealed report, and of many in random order."""
SEALED_OVERHEAD = hpke.ENCAPSULATED + hpke.TAG
"""Bytes that sealing adds to a report."""
TOKEN = 354
"""Bytes of a token of type 2."""


def _info(survey_hash: str, key: bytes) -> bytes:
    return b"deniable sealed report\0" + bytes.fromhex(survey_hash) + key


def seal_report(survey: Survey, key: bytes, report: bytes) -> bytes:
    """A report in wire form, for the owner of the key in the survey's document; nobody else can open it or use it elsewhere."""
    assert survey.shuffle is not None
    context = hpke.sending(bytes.fromhex(survey.shuffle.key), _info(survey.hash, key))
    return context.encapsulated + context.seal(report)


def open_report(private: X25519PrivateKey, survey: Survey, key: bytes, sealed: bytes) -> bytes:
    """The report in wire form, or BadMessage."""
    if len(sealed) < SEALED_OVERHEAD:
        raise BadMessage("a sealed report is cut off")
    context = hpke.receiving(private, sealed[: hpke.ENCAPSULATED], _info(survey.hash, key))
    return context.open(sealed[hpke.ENCAPSULATED :])


def join_records(records: list[bytes]) -> bytes:
    """Records of one length as the body of a request: the length, then all of them."""
    return len(records[0]).to_bytes(4, "big") + b"".join(records)


def split_records(survey: Survey, body: bytes) -> list[tuple[bytes, bytes | None, bytes]]:
    """Key, token and sealed report of every record, or BadMessage."""
    size, token = int.from_bytes(body[:4], "big"), 0 if survey.admission is None else TOKEN
    if len(body) <= 4 or size <= KEY_BYTES + token + SEALED_OVERHEAD or (len(body) - 4) % size:
        raise BadMessage("a batch of shuffled reports is cut off or malformed")
    rows = [body[at : at + size] for at in range(4, len(body), size)]
    return [(row[:KEY_BYTES], row[KEY_BYTES : KEY_BYTES + token] or None, row[KEY_BYTES + token :]) for row in rows]
