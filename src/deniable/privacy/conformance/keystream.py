"""A bulk keystream that is the same on every run: for testing the batch kernels, never for real reports."""

from __future__ import annotations

import hashlib

from deniable.batch import CipherKeystream


class FixedKeystream(CipherKeystream):
    """AES-256-CTR under a key made from the seed: equal seeds, equal bytes. Not secret, hence not private.

    >>> import numpy as np
    >>> first, second = np.zeros(4, dtype=np.uint64), np.zeros(4, dtype=np.uint64)
    >>> FixedKeystream(1).fill(first), FixedKeystream(1).fill(second), bool((first == second).all())
    (None, None, True)
    """

    def __init__(self, seed: int | str = 0) -> None:
        self._name = f"deniable fixed keystream {seed}"
        self._children = 0
        super().__init__(hashlib.sha256(self._name.encode()).digest())

    def spawn(self) -> FixedKeystream:
        """Another repeatable stream, independent of this one."""
        self._children += 1
        return FixedKeystream(f"{self._name} child {self._children}")
