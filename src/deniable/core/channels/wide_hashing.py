"""Local hashing of prefixes of words of up to 64 bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from deniable.core.channels.base import Sums
from deniable.core.channels.hashing import SEEDS, Keyed, mix
from deniable.errors import InvalidParameter


def wide_mix(key: int, word: int) -> int:
    """A 32-bit hash of a 64-bit word under a 32-bit key: the high half is mixed in, then the low half.

    Both rounds are invertible in the key, so each word meets every hash exactly once over all keys. Two
    words that differ in one half never meet in all 32 bits; in buckets they meet as often as chance has it.
    """
    return mix(mix(key, word >> 32), word & (SEEDS - 1))


@dataclass(frozen=True)
class WideHashing(Keyed):
    """The bucket of a word is that of the hash of its prefix.

    Inputs are words of `bits` bits, of which the first `kept` are hashed. The others cannot show in the
    output: words with the same prefix have the same law.
    """

    bits: int
    kept: int
    buckets: int
    sums: ClassVar[Sums] = "searched"

    def __post_init__(self) -> None:
        check_prefix(self.bits, self.kept)
        super().__post_init__()

    @property
    def inputs(self) -> int:
        return 1 << self.bits

    def bucket(self, key: int, index: int) -> int:
        return (wide_mix(key, index >> (self.bits - self.kept)) * self.buckets) >> 32

    def compiled(self) -> dict[str, Any]:
        """Three integers; the hash function is fixed by the format."""
        return {"set": "wide-hashing", "bits": self.bits, "kept": self.kept, "buckets": self.buckets}


def check_prefix(bits: int, kept: int) -> None:
    """Refuse words and prefixes of impossible lengths."""
    if not 1 <= kept <= bits <= 64:
        raise InvalidParameter("a prefix keeps at least 1 bit of words of at most 64 bits")
