"""One short name for one exact recipe."""

from __future__ import annotations

import hashlib
import json
from typing import Any

LENGTH = 32
"""Hexadecimal digits of a fingerprint: 128 bits."""


def canonical_json(document: Any) -> bytes:
    """The one JSON text of a document: sorted keys, no spaces, ASCII, integers and strings only."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


def fingerprint(recipe: dict[str, Any], compiled: dict[str, Any]) -> str:
    """128 bits of SHA-256 over the recipe and the compiled integers: another law, another name."""
    return hashlib.sha256(canonical_json({"recipe": recipe, "channel": compiled})).hexdigest()[:LENGTH]
