"""The contract of an engine: files in, sums out, whatever machines do the work."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace

from deniable.batch.accumulators.base import Accumulator
from deniable.batch.engines.part import Folded
from deniable.batch.engines.source import Source

Progress = Callable[[int], None]
"""Told how many more bytes of the source are done."""


class Engine(ABC):
    """Folds files of reports. Sums are a commutative monoid, so every engine gives the same bytes for the same files."""

    @abstractmethod
    def read(self, source: Source, progress: Progress | None = None) -> Folded:
        """The sums of all that can be used, and what could not be."""

    def fold(self, source: Source) -> Accumulator:
        """The sums of everything, or an error: nothing is left out in silence."""
        accumulator: Accumulator = self.read(replace(source, strict=True)).accumulator
        return accumulator
