"""What a device sends: a report and a random key that makes sending it twice harmless."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from deniable.core import Report, decode_report, encode_report, encode_reports, parse_json
from deniable.errors import Malformed, UnknownVersion, WrongRecipe
from deniable.surveys.document import Survey

MAGIC, VERSION = b"ds", 1
KEY_BYTES = 16
HASH_BYTES = 32
HEAD = len(MAGIC) + 1 + HASH_BYTES + KEY_BYTES
BATCH_TYPE = "application/vnd.deniable.batch"
"""The media type of a binary batch."""
MOST_IN_JSON = 10_000
"""Submissions in one JSON request."""


@dataclass(frozen=True, slots=True)
class Submission:
    """One report with its key. The key is random, says nothing about the sender, and is used for one report only."""

    key: bytes
    report: Report

    @classmethod
    def fresh(cls, report: Report) -> Submission:
        """A submission with a new key."""
        return cls(os.urandom(KEY_BYTES), report)


def submission_to_json(survey: Survey, submission: Submission) -> bytes:
    """`{"key": "<32 digits>", "report": "<the report's bytes in hexadecimal>"}`."""
    return _dumped(_document(survey, submission))


def submission_from_json(survey: Survey, data: bytes) -> Submission:
    """One submission; anything else is refused."""
    return _submission(survey, parse_json(data, most=1 << 20))


def submissions_to_json(survey: Survey, submissions: Iterable[Submission]) -> bytes:
    """`{"submissions": [...]}`, each with its own key."""
    return _dumped({"submissions": [_document(survey, submission) for submission in submissions]})


def submissions_from_json(survey: Survey, data: bytes) -> list[Submission]:
    """Several submissions, each with its own key; one bad one refuses them all."""
    document = parse_json(data)
    if not isinstance(document, dict) or set(document) != {"submissions"} or not isinstance(document["submissions"], list):
        raise Malformed("several submissions are an object with the one field 'submissions', a list")
    if not 1 <= len(document["submissions"]) <= MOST_IN_JSON:
        raise Malformed(f"a request has 1 to {MOST_IN_JSON} submissions")
    submissions = [_submission(survey, item) for item in document["submissions"]]
    if len({submission.key for submission in submissions}) != len(submissions):
        raise Malformed("a key occurs twice in one request")
    return submissions


def encode_batch(survey: Survey, reports: Iterable[Report], key: bytes | None = None) -> bytes:
    """Many reports under one key, as bytes: they are counted together, once, or not at all."""
    return batch_head(survey, key) + encode_reports(survey.mechanism, reports)


def batch_head(survey: Survey, key: bytes | None = None) -> bytes:
    """The first bytes of a batch; the reports in wire form follow (`encode_reports`, or `Reports.to_bytes` from arrays)."""
    chosen = os.urandom(KEY_BYTES) if key is None else _checked_key(key)
    return MAGIC + bytes([VERSION]) + bytes.fromhex(survey.hash) + chosen


def decode_batch(survey: Survey, data: bytes) -> tuple[bytes, memoryview]:
    """The key and the wire bytes of the reports, which the caller decodes (`decode_reports`, or faster with arrays)."""
    if len(data) < HEAD or bytes(data[:2]) != MAGIC:
        raise Malformed("the bytes are not a batch of submissions")
    if data[2] != VERSION:
        raise UnknownVersion(f"this release reads version {VERSION} of batches, got version {data[2]}")
    if bytes(data[3 : 3 + HASH_BYTES]).hex() != survey.hash:
        raise WrongRecipe("the batch belongs to another survey")
    return bytes(data[3 + HASH_BYTES : HEAD]), memoryview(data)[HEAD:]


def _document(survey: Survey, submission: Submission) -> dict[str, str]:
    key = _checked_key(submission.key)
    return {"key": key.hex(), "report": encode_report(survey.mechanism, submission.report).hex()}


def _submission(survey: Survey, document: Any) -> Submission:
    if not isinstance(document, dict) or set(document) != {"key", "report"}:
        raise Malformed("a submission has exactly the fields key and report")
    key, report = (_bytes(name, document[name]) for name in ("key", "report"))
    if len(key) != KEY_BYTES:
        raise Malformed(f"a key has {2 * KEY_BYTES} hexadecimal digits")
    return Submission(key, decode_report(survey.mechanism, report))


def _bytes(name: str, value: object) -> bytes:
    if not isinstance(value, str) or len(value) % 2 or not set(value) <= set("0123456789abcdef"):
        raise Malformed(f"{name} must be hexadecimal digits in lower case, two for each byte")
    return bytes.fromhex(value)


def _checked_key(key: bytes) -> bytes:
    if not isinstance(key, bytes) or len(key) != KEY_BYTES:
        raise Malformed(f"a key has {KEY_BYTES} bytes")
    return key


def _dumped(document: Any) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()
