"""Many oblivious transfers from 128 (Ishai, Kilian, Nissim, Petrank): hashing instead of group arithmetic.

For pairs who sample many times (long surveys, unary encodings). Each side keeps its object for the whole
conversation; every batch uses fresh keystream. Semi-honest, like everything it is used in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from deniable.errors import BadMessage
from deniable.studies.joint.protocol.oblivious_transfer import KEY

COLUMNS = 128
"""Base transfers; also the security parameter in bits."""


class ExtendedSender:
    """Both keys of every place. It was the chooser of the base transfers, with `choices` as secret bits."""

    def __init__(self, choices: Sequence[int], keys: Sequence[bytes]) -> None:
        assert len(choices) == len(keys) == COLUMNS
        self._choices = list(choices)
        self._secret = _join(self._choices)
        self._keys = list(keys)
        self._batch = 0

    def keys(self, correction: bytes, count: int) -> list[tuple[bytes, bytes]]:
        """Both keys of `count` places, from the chooser's correction."""
        size = (count + 7) // 8
        if len(correction) != COLUMNS * size:
            raise BadMessage("the correction of a transfer has the wrong length")
        columns = []
        for place, (key, choice) in enumerate(zip(self._keys, self._choices, strict=True)):
            given = int.from_bytes(correction[place * size : (place + 1) * size], "big")
            columns.append(_column(key, self._batch, size) ^ (given * choice))
        rows = _transpose(columns, size, count)
        pairs = [(_row_key(row, self._batch, at), _row_key(row ^ self._secret, self._batch, at)) for at, row in enumerate(rows)]
        self._batch += 1
        return pairs


class ExtendedChooser:
    """The key of its choice at every place. It was the sender of the base transfers."""

    def __init__(self, pairs: Sequence[tuple[bytes, bytes]]) -> None:
        assert len(pairs) == COLUMNS
        self._pairs = list(pairs)
        self._batch = 0

    def choose(self, choices: Sequence[int]) -> tuple[bytes, list[bytes]]:
        """The correction to send, and the chosen keys."""
        count = len(choices)
        size = (count + 7) // 8
        wanted = _join(choices) << (8 * size - count)
        columns, correction = [], bytearray()
        for zero, one in self._pairs:
            column = _column(zero, self._batch, size)
            columns.append(column)
            correction += (column ^ _column(one, self._batch, size) ^ wanted).to_bytes(size, "big")
        keys = [_row_key(row, self._batch, at) for at, row in enumerate(_transpose(columns, size, count))]
        self._batch += 1
        return bytes(correction), keys


def _join(bits: Sequence[int]) -> int:
    return int("".join("1" if bit else "0" for bit in bits), 2)


def _column(key: bytes, batch: int, size: int) -> int:
    digest = hashlib.shake_256(b"deniable column" + key + batch.to_bytes(8, "big")).digest(size)
    return int.from_bytes(digest, "big")


def _transpose(columns: Sequence[int], size: int, count: int) -> list[int]:
    texts = [format(column, f"0{8 * size}b") for column in columns]
    return [int("".join(row), 2) for row in zip(*texts, strict=True)][:count]


def _row_key(row: int, batch: int, place: int) -> bytes:
    data = row.to_bytes(COLUMNS // 8, "big") + batch.to_bytes(8, "big") + place.to_bytes(4, "big")
    return hashlib.blake2b(data, digest_size=KEY, person=b"deniable extend").digest()
