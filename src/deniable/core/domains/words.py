"""Values out of far too many to list: short texts and whole numbers of up to 64 bits, as words of bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from deniable.core.domains.base import Domain
from deniable.core.exact.numbers import as_index
from deniable.errors import InvalidDomain, OutOfDomain

MOST_BITS = 64


@dataclass(frozen=True, repr=False)
class Text(Domain):
    """Texts of at most `length` bytes of UTF-8 (1 to 8), without the character NUL.

    A text becomes its bytes, filled up with zero bytes at the end and read as one big-endian number of
    8 * length bits. Without NUL no two texts give the same number. A prefix of the number is a
    beginning of the text.

    >>> Text(6).encode("ab"), Text(6).decode(0x616200000000), Text(6).bits
    (107073534689280, 'ab', 48)
    """

    length: int
    kind: ClassVar[str] = "text"

    def __post_init__(self) -> None:
        length = as_index(self.length)
        if length is None or not 1 <= length <= MOST_BITS // 8:
            raise InvalidDomain("length: texts have at most 1 to 8 bytes")
        object.__setattr__(self, "length", length)

    @property
    def bits(self) -> int:
        """The width of a word."""
        return 8 * self.length

    @property
    def size(self) -> int:
        """Every word of so many bits, also those that are no text."""
        return 1 << self.bits

    def encode(self, value: Any) -> int:
        """The word of a text."""
        data = utf8(value) if isinstance(value, str) else None
        if data is None:
            raise self.refuse("the value must be text to belong to")
        if len(data) > self.length or 0 in data:
            raise self.refuse("the value is too long or has a NUL, so it is outside")
        return int.from_bytes(data.ljust(self.length, b"\0"), "big")

    def decode(self, index: int) -> str:
        """The text of a word; words that no text has are refused."""
        self.check_index(index)
        data = index.to_bytes(self.length, "big").rstrip(b"\0")
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            text = "\0"
        if "\0" in text:
            raise OutOfDomain(f"the word is not a text of {self!r}")
        return text

    def clip(self, value: Any) -> str:
        """The longest beginning that fits, up to the first NUL."""
        data = utf8(value) if isinstance(value, str) else None
        if data is None:
            raise OutOfDomain(f"only text can be clipped to {self!r}")
        return data.split(b"\0")[0][: self.length].decode("utf-8", "ignore")

    def recipe(self) -> dict[str, Any]:
        return {"kind": self.kind, "length": self.length}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Text:
        return cls(**fields)

    def __repr__(self) -> str:
        return f"Text({self.length})"


@dataclass(frozen=True, repr=False)
class Whole(Domain):
    """Whole numbers from 0 to 2**bits - 1, bits from 1 to 64. A number is its own word.

    >>> Whole(64).encode(2**64 - 1) == 2**64 - 1
    True
    """

    bits: int
    kind: ClassVar[str] = "whole"

    def __post_init__(self) -> None:
        bits = as_index(self.bits)
        if bits is None or not 1 <= bits <= MOST_BITS:
            raise InvalidDomain("bits: whole numbers have 1 to 64 bits")
        object.__setattr__(self, "bits", bits)

    @property
    def size(self) -> int:
        return 1 << self.bits

    def encode(self, value: Any) -> int:
        whole = as_index(value)
        if whole is None:
            raise self.refuse("the value must be a whole number to belong to")
        if not 0 <= whole < self.size:
            raise self.refuse()
        return whole

    def decode(self, index: int) -> int:
        return self.check_index(index)

    def clip(self, value: Any) -> int:
        whole = as_index(value)
        if whole is None:
            raise OutOfDomain(f"only whole numbers can be clipped to {self!r}")
        return min(max(whole, 0), self.size - 1)

    def recipe(self) -> dict[str, Any]:
        """The number of bits."""
        return {"kind": self.kind, "bits": self.bits}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Whole:
        return cls(**fields)

    def __repr__(self) -> str:
        return f"Whole({self.bits})"


def utf8(text: str) -> bytes | None:
    """The bytes of a text, or None for half a surrogate pair (an exception would show the text)."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return None
