"""One hash for everything: SHA-256 over a purpose and length-prefixed parts, so no two uses can collide."""

from __future__ import annotations

import hashlib


def tagged_hash(purpose: str, *parts: bytes) -> bytes:
    """32 bytes that bind the purpose and every part, and where each part ends.

    >>> tagged_hash("test", b"ab", b"c") == tagged_hash("test", b"a", b"bc")
    False
    """
    joined = hashlib.sha256()
    for part in (b"deniable secure 1", purpose.encode(), *parts):
        joined.update(len(part).to_bytes(8, "big"))
        joined.update(part)
    return joined.digest()
