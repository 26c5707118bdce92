"""Random bytes in bulk: AES-256 in counter mode under a fresh key from the operating system."""

from __future__ import annotations

import os
from typing import Any, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from deniable.core import below_from_bytes

BLOCK = 1 << 17
"""Bytes per call of the cipher: it is fastest in blocks of 64 to 256 KB."""

_ZEROS = memoryview(bytes(BLOCK))
_FROM_ZERO = modes.CTR(bytes(16))
_forks = 0


def _forked() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def process() -> tuple[int, int]:
    """What differs in every process that forks from this one.

    The number alone is not enough: in a new pid namespace a child may have its parent's. The count of forks alone is not
    either: a library that forks without telling Python does not count.
    """
    return _forks, os.getpid()


class Keystream(Protocol):
    """A source of uniform random bytes for kernels."""

    def fill(self, buffer: np.ndarray[Any, Any]) -> None:
        """Overwrite a contiguous array with random bytes."""
        ...

    def spawn(self) -> Keystream:
        """An independent stream, for another thread."""
        ...


class CipherKeystream:
    """The keystream of AES-256-CTR under one key."""

    def __init__(self, key: bytes) -> None:
        self._rekey(key)

    def _rekey(self, key: bytes) -> None:
        self._encryptor = Cipher(algorithms.AES(key), _FROM_ZERO).encryptor()

    def fill(self, buffer: np.ndarray[Any, Any]) -> None:
        """Overwrite a contiguous array with keystream."""
        if not buffer.flags.c_contiguous:
            raise ValueError("a keystream fills contiguous arrays only")
        view = memoryview(buffer.data).cast("B")
        for start in range(0, len(view), BLOCK):
            part = view[start : start + BLOCK]
            self._encryptor.update_into(_ZEROS[: len(part)], part)

    def __reduce__(self) -> Any:
        raise TypeError("a keystream cannot be pickled: two processes must never share one")


class SystemKeystream(CipherKeystream):
    """Keyed by the system CSPRNG, once per batch and again in every process that forks from this one."""

    def __init__(self) -> None:
        super().__init__(os.urandom(32))
        self._process = process()

    def fill(self, buffer: np.ndarray[Any, Any]) -> None:
        """Overwrite a contiguous array with keystream, never the parent's after a fork."""
        if process() != self._process:
            self._rekey(os.urandom(32))
            self._process = process()
        super().fill(buffer)

    def spawn(self) -> SystemKeystream:
        return SystemKeystream()


class KeystreamCoins:
    """Scalar coins that read a keystream: for channels that have no kernel of their own. For one thread.

    What was read ahead is thrown away after a fork: parent and child would share it.
    """

    def __init__(self, keystream: Keystream) -> None:
        self._keystream = keystream
        self._pool = np.empty(1 << 12, np.uint8)
        self._used = len(self._pool)
        self._process = process()

    def _take(self, count: int) -> bytes:
        if process() != self._process:
            self._used = len(self._pool)
            self._process = process()
        if count > len(self._pool):
            block = np.empty(count, np.uint8)
            self._keystream.fill(block)
            return block.tobytes()
        if self._used + count > len(self._pool):
            self._keystream.fill(self._pool)
            self._used = 0
        taken = self._pool[self._used : self._used + count].tobytes()
        self._used += count
        return taken

    def below(self, n: int) -> int:
        """A uniform integer in [0, n)."""
        return below_from_bytes(n, self._take)
