"""A bulk keystream that is the same on every run: for testing the batch room, never for real reports."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray


class FixedKeystream:
    """AES-256-CTR under a key made from the seed: equal seeds, equal bytes. Not secret, hence not private.

    >>> first, second = np.zeros(4, dtype=np.uint64), np.zeros(4, dtype=np.uint64)
    >>> FixedKeystream(1).fill(first), FixedKeystream(1).fill(second), bool((first == second).all())
    (None, None, True)
    """

    def __init__(self, seed: int | str = 0) -> None:
        self._name = f"deniable fixed keystream {seed}"
        self._children = 0
        key = hashlib.sha256(self._name.encode()).digest()
        self._encryptor = Cipher(algorithms.AES256(key), modes.CTR(bytes(16))).encryptor()

    def fill(self, buffer: NDArray[Any]) -> None:
        """Overwrite a contiguous array with the next bytes of the stream."""
        if not buffer.flags.c_contiguous:
            raise ValueError("a keystream fills contiguous arrays only")
        data = self._encryptor.update(bytes(buffer.nbytes))
        buffer.reshape(-1).view(np.uint8)[:] = np.frombuffer(data, dtype=np.uint8)

    def spawn(self) -> FixedKeystream:
        """Another repeatable stream, independent of this one."""
        self._children += 1
        return FixedKeystream(f"{self._name} child {self._children}")
