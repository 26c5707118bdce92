"""What every reproduced table, figure and example has in common: computed numbers, a picture, and published values to judge by."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deniable.errors import InvalidParameter
from deniable.testing import FixedKeystream

Result = dict[str, Any]
"""What `compute` gives and a JSON file keeps: numbers, texts, lists and dictionaries only."""

REPRODUCED = "reproduced"
DIFFERS = "differs"
CLAIMS = "claim"


class MissingData(InvalidParameter):
    """An artifact needs a data file that is not here."""


@dataclass(frozen=True)
class Run:
    """How one artifact is computed: at what size, from which recorded randomness, with which data."""

    full: bool = False
    randomness: str = "deniable reproduce 1"
    data: Path | None = None
    progress: Callable[[int, int], None] = lambda done, total: None

    def repetitions(self, quick: int, full: int) -> int:
        """How often to repeat: `full` is the source's own number, `quick` what a coffee break allows."""
        return full if self.full else quick

    def keystream(self, purpose: str) -> FixedKeystream:
        """Recorded randomness for one purpose: the same words on every run of the same artifact."""
        return FixedKeystream(f"{self.randomness} | {purpose}")

    def file(self, name: str, source: str) -> Path:
        """A data file, or an error that says which file is wanted and where it comes from."""
        if self.data is not None and (self.data / name).exists():
            return self.data / name
        where = "no --data directory was given" if self.data is None else "it is not in the --data directory"
        raise MissingData(
            f"this artifact needs {name} ({source}); {where}. Put the file there and run again with --data DIRECTORY."
        )


@dataclass(frozen=True)
class Published:
    """A number stated in a source, and how near ours must come to count as reproduced.

    `tolerance` is the rounding of the printed number plus, where it was simulated, its sampling error. `why` is needed
    where a correct program cannot reproduce the number: it says what is wrong with the printed one and how one can see it.
    `of` finds our number in a result; without it the value under the same name in `result["numbers"]` is meant.
    """

    name: str
    value: float
    tolerance: float
    where: str
    why: str = ""
    of: Callable[[Result], float] | None = None

    def ours(self, result: Result) -> float:
        """Our number for it."""
        return float(result["numbers"][self.name] if self.of is None else self.of(result))


@dataclass(frozen=True)
class Claim:
    """A statement of a source in words, and whether our numbers bear it out."""

    text: str
    where: str
    holds: Callable[[Result], bool]
    why: str = ""


@dataclass(frozen=True)
class Verdict:
    """One published number or claim, ours beside it, and what follows."""

    name: str
    where: str
    published: float | str
    ours: float | bool
    tolerance: float
    verdict: str
    why: str

    @property
    def explained(self) -> bool:
        """Reproduced, or different for a stated reason."""
        return self.verdict == REPRODUCED or bool(self.why)

    def as_json(self) -> dict[str, Any]:
        """Plain values for a file."""
        return {name: getattr(self, name) for name in ("name", "where", "published", "ours", "tolerance", "verdict", "why")}


@dataclass(frozen=True)
class Artifact:
    """A table, figure or example of a source that one command makes again.

    `compute` gives numbers as JSON; `draw` makes charts of such JSON (or none for a table; `table` then gives rows for people);
    `sources` names data files the result rests on; `beyond` marks what no source has.
    """

    name: str
    title: str
    source: str
    compute: Callable[[Run], Result]
    draw: Callable[[Result], Mapping[str, Any]] | None = None
    table: Callable[[Result], Sequence[Mapping[str, Any]]] | None = None
    published: tuple[Published, ...] = ()
    claims: tuple[Claim, ...] = ()
    note: str = ""
    data: tuple[str, ...] = field(default=())

    def verdicts(self, result: Result) -> list[Verdict]:
        """Every published number and claim beside ours."""
        found = []
        for number in self.published:
            ours = number.ours(result)
            near = math.isfinite(ours) and abs(ours - number.value) <= number.tolerance
            verdict = REPRODUCED if near else DIFFERS
            found.append(
                Verdict(number.name, number.where, number.value, ours, number.tolerance, verdict, "" if near else number.why)
            )
        for claim in self.claims:
            holds = bool(claim.holds(result))
            verdict = REPRODUCED if holds else DIFFERS
            found.append(Verdict(CLAIMS, claim.where, claim.text, holds, 0.0, verdict, "" if holds else claim.why))
        return found
