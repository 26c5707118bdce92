"""Arrays of texts and wide numbers to words of bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch.sampler import Indices
from deniable.core import Text, Whole


class WordEncoder:
    """Texts or whole numbers to words; words of 64 bits become the int64 of the same bits."""

    def __init__(self, domain: Text | Whole) -> None:
        self.domain = domain

    def __call__(self, values: NDArray[Any]) -> Indices:
        """Words of one chunk."""
        if len(values) == 0:
            return np.empty(0, np.int64)
        if values.ndim == 1 and values.dtype.kind == "U" and isinstance(self.domain, Text):
            words = self._texts(values)
        elif values.ndim == 1 and values.dtype.kind in "iu" and isinstance(self.domain, Whole):
            words = self._numbers(values)
        elif values.ndim == 1 and values.dtype.kind in "OUT":
            words = np.array([self.domain.encode(value) for value in values.tolist()], np.uint64)
        else:
            raise self.domain.refuse("the values must be a list or one-dimensional array to belong to")
        return words.view(np.int64)

    def _texts(self, values: NDArray[Any]) -> NDArray[np.uint64]:
        coded = _utf8(values)
        if coded is None or coded.dtype.itemsize > self.domain.bits // 8:
            raise self.domain.refuse("at least one value is too long or not text, so it is outside")
        letters = np.zeros((len(values), 8), np.uint8)
        letters[:, : coded.dtype.itemsize] = np.ascontiguousarray(coded).view(np.uint8).reshape(len(values), -1)
        if ((letters[:, :-1] == 0) & (letters[:, 1:] != 0)).any():
            raise self.domain.refuse("at least one value has a NUL, so it is outside")
        return letters.view(">u8")[:, 0].astype(np.uint64) >> np.uint64(64 - self.domain.bits)

    def _numbers(self, values: NDArray[Any]) -> NDArray[np.uint64]:
        if (values.dtype.kind == "i" and int(values.min()) < 0) or int(values.max()) >= self.domain.size:
            raise self.domain.refuse("at least one value is outside")
        return values.astype(np.uint64)


def _utf8(values: NDArray[Any]) -> NDArray[Any] | None:
    try:
        coded: NDArray[Any] = np.char.encode(values, "utf-8")
    except UnicodeEncodeError:
        return None
    return coded
