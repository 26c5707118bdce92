"""What every reproduced table, figure and example has in common: computed numbers, a picture, and published values to judge by."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from deniable.errors import InvalidParameter
from deniable.testing import FixedKeystream

Result = dict[str, Any]
"""What `compute` gives and a JSON file keeps: numbers, texts, lists and dictionaries only."""

Evidence = Callable[[Result], Mapping[str, float]]
"""From a result to the numbers in it that bear a reason out, each under a name that says what it is."""

REPRODUCED = "reproduced"
DIFFERS = "differs"
CLAIMS = "claim"
SHOWN = 3
"""So many readings are named in a sentence; all of them are in the table."""


class MissingData(InvalidParameter):
    """An artifact needs a data file that is not here."""


@dataclass(frozen=True)
class Run:
    """How one artifact is computed: at what size, from which recorded randomness, with which data.

    `progress` and `note` tell whoever waits; `steps` is where long parts are kept until the artifact is done.
    """

    full: bool = False
    randomness: str = "deniable reproduce 1"
    data: Path | None = None
    progress: Callable[[int, int], None] = lambda done, total: None
    note: Callable[[str], None] = lambda what: None
    steps: Path | None = None

    def once(self, what: str, compute: Callable[[], Any]) -> Any:
        """A long part of an artifact, as JSON: noted while it is computed, and read back when the run was stopped after it."""
        path = None if self.steps is None else self.steps / f"{hashlib.sha256(what.encode()).hexdigest()[:16]}.json"
        if path is not None and path.is_file():
            return json.loads(path.read_text(encoding="utf-8"))
        self.note(what)
        found = compute()
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            half = path.with_suffix(".part")
            half.write_text(json.dumps(found, ensure_ascii=False, allow_nan=False), encoding="utf-8")
            half.replace(path)  # a run that is stopped leaves whole files only
        return found

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


def named(*names: str) -> Evidence:
    """Evidence by the names it has in `result["numbers"]`."""
    return lambda result: {name: float(result["numbers"][name]) for name in names}


def readings(name: str) -> Evidence:
    """What a number is with other readings of the source: `result["variants"][name]`."""
    return lambda result: {label: float(value) for label, value in result["variants"][name].items()}


def other_roundings(name: str, digits: int = 2) -> Evidence:
    """Our number as a source prints it that cuts digits off, or rounds up."""

    def found(result: Result) -> Mapping[str, float]:
        scaled = float(result["numbers"][name]) * 10**digits
        places = f"{digits} digit{'' if digits == 1 else 's'}"
        return {
            f"cut after {places}": math.floor(scaled) / 10**digits,
            f"rounded up to {places}": math.ceil(scaled) / 10**digits,
        }

    return found


@dataclass(frozen=True)
class Published:
    """A number stated in a source, and how near ours must come to count as reproduced.

    `tolerance` is the rounding of the printed number plus, where it was simulated, its sampling error. `why` is needed
    where a correct program cannot reproduce the number: it says what is wrong with the printed one and how one can see it.
    A reason needs numbers of the same run: `variants` are other readings of this very number, and are held against the
    printed one; `evidence` is any other number that bears the reason out.
    `of` finds our number in a result; without it the value under the same name in `result["numbers"]` is meant.
    """

    name: str
    value: float
    tolerance: float
    where: str
    why: str = ""
    of: Callable[[Result], float] | None = None
    variants: Evidence | None = None
    evidence: Evidence | None = None

    def ours(self, result: Result) -> float:
        """Our number for it."""
        return float(result["numbers"][self.name] if self.of is None else self.of(result))


@dataclass(frozen=True)
class Claim:
    """A statement of a source in words, and whether our numbers bear it out; if not, `evidence` shows by how much."""

    text: str
    where: str
    holds: Callable[[Result], bool]
    why: str = ""
    evidence: Evidence | None = None


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
    variants: Mapping[str, float] = field(default_factory=dict)
    evidence: Mapping[str, float] = field(default_factory=dict)

    @property
    def explained(self) -> bool:
        """Reproduced, or different for a stated reason that numbers of the same run bear out."""
        return self.verdict == REPRODUCED or (bool(self.why) and self.shown)

    @property
    def shown(self) -> bool:
        """Is there a finite number to look at beside the reason?"""
        return any(math.isfinite(value) for value in (*self.variants.values(), *self.evidence.values()))

    @property
    def met_by(self) -> list[str]:
        """The readings of the source that give the printed number."""
        if isinstance(self.published, str):
            return []
        return [label for label, value in self.variants.items() if abs(value - self.published) <= self.tolerance]

    @property
    def finding(self) -> str:
        """In words: how many of the other readings give the printed number, which, and from where to where all of them lie."""
        if not self.variants or isinstance(self.published, str):
            return ""
        printed = self.published
        if len(self.variants) == 1:
            label, value = next(iter(self.variants.items()))
            if self.met_by:
                return f"The printed number is got with: {label} ({value:.4g})."
            return f"{label} gives {value:.4g}, not the printed number."
        near = sorted(self.variants, key=lambda label: abs(self.variants[label] - printed))
        named_ones = "; ".join(f"{label} ({self.variants[label]:.4g})" for label in near[: min(len(self.met_by), SHOWN) or 1])
        span = f"all lie between {min(self.variants.values()):.4g} and {max(self.variants.values()):.4g}"
        if self.met_by:
            more = " and others" if len(self.met_by) > SHOWN else ""
            count = f"{len(self.met_by)} of {len(self.variants)}"
            return f"The printed number is got with {count} other readings: {named_ones}{more}; {span}."
        return f"None of {len(self.variants)} other readings gives the printed number: {span}; the nearest is {named_ones}."

    def as_json(self) -> dict[str, Any]:
        """Plain values for a file."""
        plain = ("name", "where", "published", "ours", "tolerance", "verdict", "why")
        found = {name: getattr(self, name) for name in plain}
        if self.verdict != REPRODUCED:
            found |= {"finding": self.finding, "variants": dict(self.variants), "evidence": dict(self.evidence)}
        return found


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
            judged = Verdict(number.name, number.where, number.value, ours, number.tolerance, REPRODUCED, "")
            if not near:
                tried, other = _found(number.variants, result), _found(number.evidence, result)
                judged = replace(judged, verdict=DIFFERS, why=number.why, variants=tried, evidence=other)
            found.append(judged)
        for claim in self.claims:
            holds = bool(claim.holds(result))
            judged = Verdict(CLAIMS, claim.where, claim.text, holds, 0.0, REPRODUCED, "")
            if not holds:
                judged = replace(judged, verdict=DIFFERS, why=claim.why, evidence=_found(claim.evidence, result))
            found.append(judged)
        return found


def _found(evidence: Evidence | None, result: Result) -> Mapping[str, float]:
    return {} if evidence is None else {label: float(value) for label, value in evidence(result).items()}
