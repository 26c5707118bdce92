"""What was read from files of reports: their sums, what was refused and why, and what was missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch.accumulators.choose import accumulator_for
from deniable.batch.packing import outputs_from_ints
from deniable.batch.reports import Reports
from deniable.batch.sampler import output_dtype
from deniable.core import Mechanism, PrefixExtendingMethod
from deniable.errors import Malformed, UnknownVersion, WireError, WrongRecipe

OUT_OF_RANGE = "out of range"
OTHER_RECIPE = "of another recipe"
OTHER_VERSION = "of another version"
UNREADABLE = "unreadable"
REASONS = (OUT_OF_RANGE, OTHER_RECIPE, OTHER_VERSION, UNREADABLE)
MOST_KNOWN = 1 << 23

Where = Callable[[int], str]
"""The place of the i-th record of a chunk, as a reader would look for it: `row 17`."""


@dataclass
class Intake:
    """The sums of all good reports; bad records are counted by reason, or refused at once when `strict`."""

    accumulator: Any
    """An `Accumulator`, or what stands in for one."""
    strict: bool = False
    refused: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    """Files that end too early, and parts of files that could not be followed."""

    def __post_init__(self) -> None:
        self.mechanism: Mechanism = self.accumulator.mechanism
        self._possible = _Possible(self.mechanism)

    @property
    def n(self) -> int:
        """How many reports were taken."""
        return int(self.accumulator.n)

    @property
    def takes_numbers(self) -> bool:
        """Do outputs fit into 64 bits, one number each?"""
        return self._possible.numbers

    @property
    def records(self) -> int:
        """How many records were seen, good or bad."""
        return self.n + self.refused.total()

    @cached_property
    def seen(self) -> NDArray[np.bool_]:
        """For every sum of an accumulator that counts outputs: was it asked about, and can this recipe give it?"""
        return np.zeros(len(self.accumulator.sums), np.bool_)

    def take(self, outputs: list[int] | NDArray[np.uint64], file: str, where: Where) -> None:
        """Fold the outputs that this recipe can give; count the others."""
        good = self._possible.check(outputs)
        if not good.all():
            bad = np.flatnonzero(~good)
            self.refuse(OUT_OF_RANGE, file, where(int(bad[0])), len(bad))
        if isinstance(outputs, list):
            kept = outputs if good.all() else [output for output, fine in zip(outputs, good.tolist(), strict=True) if fine]
            if kept:
                self.fold(outputs_from_ints(self.mechanism.channel, kept))
        elif good.any():
            self.fold(outputs[good].astype(output_dtype(self.mechanism.channel.outputs)))

    def fold(self, outputs: Any) -> None:
        """Add outputs that are known to be good."""
        self.accumulator.add(Reports(self.mechanism, outputs))

    def refuse(self, reason: str, file: str, place: str, count: int = 1) -> None:
        """Count bad records; when strict, stop at the first."""
        if self.strict:
            error = WrongRecipe if reason == OTHER_RECIPE else UnknownVersion if reason == OTHER_VERSION else Malformed
            raise error(f"{file}, {place}: the record is {reason}, and strict reading stops at the first such record")
        self.refused[reason] += count

    def note(self, file: str, what: str) -> None:
        """Something about a whole file; when strict, it stops there."""
        if self.strict:
            raise Malformed(f"{file} {what}")
        self.notes.append(f"{file} {what}")

    def summary(self) -> list[str]:
        """One sentence per thing that went wrong; nothing when all went well."""
        lines = list(self.notes)
        if self.refused:
            ordered = sorted(self.refused.items(), key=lambda pair: (-pair[1], REASONS.index(pair[0])))
            reasons = ", ".join(f"{count} {reason}" for reason, count in ordered)
            total = self.refused.total()
            lines.append(f"{total} of {self.records} records {'was' if total == 1 else 'were'} refused: {reasons}")
        return lines


def intake_for(mechanism: Mechanism, *, strict: bool = False) -> Intake:
    """An empty intake for reports of one recipe. Those of `pem` have no small sums: each of them is kept, in 8 bytes."""
    if isinstance(mechanism, PrefixExtendingMethod):
        from deniable.batch.accumulators.pem_reports import PEMCollector

        return Intake(PEMCollector(mechanism), strict)
    return Intake(accumulator_for(mechanism), strict)


def reason_of(error: WireError) -> str:
    """Why a record was refused, in the words of the summary."""
    if isinstance(error, WrongRecipe):
        return OTHER_RECIPE
    if isinstance(error, UnknownVersion):
        return OTHER_VERSION
    return OUT_OF_RANGE if "not one this recipe can give" in str(error) else UNREADABLE


class _Possible:
    """Which outputs a recipe can give, for many at once; each different output is asked about once."""

    def __init__(self, mechanism: Mechanism) -> None:
        channel = mechanism.channel
        self.channel = channel
        empty = outputs_from_ints(channel, [])
        self.numbers = isinstance(empty, np.ndarray) and empty.ndim == 1 and empty.dtype != object
        self.everything = channel.sums == "values"
        self.known: NDArray[np.int8] | None = None
        if self.numbers and not self.everything and channel.outputs <= MOST_KNOWN:
            self.known = np.full(channel.outputs, -1, np.int8)

    def check(self, outputs: list[int] | NDArray[np.uint64]) -> NDArray[np.bool_]:
        """For every output: can it be?"""
        count = self.channel.outputs
        array = outputs
        if isinstance(outputs, list):
            if not self.numbers or any(not 0 <= output < count for output in outputs):
                return np.array([0 <= output < count and self.channel.possible(output) for output in outputs], np.bool_)
            array = np.array(outputs, np.uint64)
        assert isinstance(array, np.ndarray)
        good: NDArray[np.bool_] = array <= np.uint64(min(count - 1, (1 << 64) - 1))
        if self.everything:
            return good
        if self.known is None:
            inside = [self.channel.possible(output) for output in array[good].tolist()]
            good[good] = np.array(inside, np.bool_)
            return good
        places = array[good].astype(np.int64)
        new = np.unique(places[self.known[places] < 0])
        self.known[new] = [self.channel.possible(output) for output in new.tolist()]
        good[good] = self.known[places] == 1
        return good
