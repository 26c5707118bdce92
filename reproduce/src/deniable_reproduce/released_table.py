"""Ours beside a table that the authors of the dissertation released: entry by entry, and as one largest difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deniable_reproduce.artifact import Published, Result, Why
from deniable_reproduce.pictures import significant

MOST_SHOWN = 6


@dataclass(frozen=True)
class Table:
    """A released table: a column of numbers for each method, a row for each ε, or for each value of another `axis`."""

    repository: str
    path: str
    levels: tuple[float, ...]
    columns: Mapping[str, tuple[float, ...]]
    axis: str = "ε"

    @property
    def source(self) -> str:
        """Repository, commit and file."""
        return f"{self.repository}, {self.path}"

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return len(self.levels) * len(self.columns)

    def at(self, method: str, level: float) -> float:
        """The entry of one method at one level of ε."""
        return self.columns[method][self.levels.index(level)]

    def ratio(self, one: str, other: str) -> float:
        """The sum of one column as a share of another's: what the texts give in percent."""
        return significant(sum(self.columns[one]) / sum(self.columns[other]), 7)

    def beside(self, ours: Mapping[str, Sequence[float]], *, absolute: bool = False) -> dict[str, list[float]]:
        """Ours and the released number for every entry, the most different first."""
        pairs = {
            f"{method} at {self.axis} = {level:.4g}": [significant(float(mine), 5), theirs]
            for method, column in self.columns.items()
            for level, mine, theirs in zip(self.levels, ours[method], column, strict=True)
        }
        return dict(sorted(pairs.items(), key=lambda item: -apart(*item[1], absolute=absolute)))


def apart(mine: float, theirs: float, *, absolute: bool = False) -> float:
    """How far ours is from the released number, as a share of it unless said otherwise."""
    return abs(mine - theirs) if absolute else abs(mine / theirs - 1)


def compared(
    key: str, table: Table, tolerance: float, why: Why = "", *, absolute: bool = False, cause_unknown: bool = False
) -> Published:
    """The largest difference from a released table as a number that ought to be 0; `result["released"][key]` has the pairs."""

    def pairs(result: Result) -> dict[str, list[float]]:
        columns: dict[str, list[float]] = result["released"][key]
        return columns

    def evidence(result: Result) -> dict[str, float]:
        shown = list(pairs(result).items())[:MOST_SHOWN]
        numbers = {f"{label}{who}": pair[place] for label, pair in shown for place, who in ((0, ", ours"), (1, ", released"))}
        far = sum(apart(*pair, absolute=absolute) > tolerance for pair in pairs(result).values())
        return {"entries": table.size, "entries within the tolerance": table.size - far, **numbers}

    unit = "" if absolute else ", as a share"
    return Published(
        f"{key}: largest difference from the released results{unit}",
        0.0,
        tolerance,
        table.source,
        why,
        of=lambda result: max(apart(*pair, absolute=absolute) for pair in pairs(result).values()),
        evidence=evidence,
        cause_unknown=cause_unknown,
    )


def column(numbers: str) -> tuple[float, ...]:
    """Numbers written with blanks between them."""
    return tuple(float(number) for number in numbers.split())
