"""One short name for one exact recipe."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

from deniable.errors import NotSupported

LENGTH = 32
"""Hexadecimal digits of a fingerprint: 128 bits."""


def canonical_json(document: Any) -> bytes:
    """The one JSON text of a document: sorted keys, no spaces, ASCII, integers and strings only."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


def sha256(data: bytes) -> str:
    """SHA-256 in hexadecimal, by Python's own code where there is one: loading OpenSSL takes longer than a report."""
    for home in ("_sha2", "_sha256", "hashlib"):
        try:
            digest: str = import_module(home).sha256(data).hexdigest()
        except (ImportError, AttributeError):
            continue
        return digest
    raise NotSupported("this Python has no SHA-256")


def fingerprint(recipe: dict[str, Any], compiled: dict[str, Any]) -> str:
    """128 bits of SHA-256 over the recipe and the compiled integers: another law, another name."""
    return sha256(canonical_json({"recipe": recipe, "channel": compiled}))[:LENGTH]
