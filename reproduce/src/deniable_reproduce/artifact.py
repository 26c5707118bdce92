"""What every reproduced table, figure and example has in common: computed numbers, a picture, and published values to judge by."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from deniable.errors import InvalidParameter
from deniable.privacy import FixedKeystream
from deniable_reproduce.reads import Reads
from deniable_reproduce.verdict import CLAIMS, DIFFERS, NOT_COMPARED, RELEASED, REPRODUCED, Verdict

Result = dict[str, Any]
"""What `compute` gives and a JSON file keeps: numbers, texts, lists and dictionaries only."""

Evidence = Callable[[Result], Mapping[str, float]]
"""From a result to the numbers in it that bear a reason out, each under a name that says what it is."""

Why = str | Callable[[Result], str]
"""A reason in words; one that quotes computed numbers makes its words of the result."""
FILES = "files"
"""Where a result keeps the names of the data files it was computed from."""
UNREAD = "It rests on no number of this run."


class MissingData(InvalidParameter):
    """An artifact needs a data file that is not here."""


@dataclass(frozen=True)
class Run:
    """How one artifact is computed: at what size, from which recorded randomness, with which data.

    `progress` and `note` tell whoever waits; `steps` is where long parts are kept until the artifact is done; `opened` collects
    the data files that were read.
    """

    full: bool = False
    randomness: str = "deniable reproduce 1"
    data: Path | None = None
    progress: Callable[[int, int], None] = lambda done, total: None
    note: Callable[[str], None] = lambda what: None
    steps: Path | None = None
    opened: set[str] = field(default_factory=set, compare=False)

    def once(self, what: str, compute: Callable[[], Any]) -> Any:
        """A long part of an artifact, as JSON: noted while it is computed, and read back when the run was stopped after it."""
        path = None if self.steps is None else self.steps / f"{hashlib.sha256(what.encode()).hexdigest()[:16]}.json"
        if path is not None and path.is_file():
            return json.loads(path.read_text(encoding="utf-8"))
        self.note(what)
        result = compute()
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            half = path.with_suffix(".part")
            half.write_text(json.dumps(result, ensure_ascii=False, allow_nan=False), encoding="utf-8")
            half.replace(path)  # a run that is stopped leaves whole files only
        return result

    def repetitions(self, quick: int, full: int) -> int:
        """How often to repeat: `full` is the source's own number, `quick` what a coffee break allows."""
        return full if self.full else quick

    def keystream(self, purpose: str) -> FixedKeystream:
        """Recorded randomness for one purpose: the same words on every run of the same artifact."""
        return FixedKeystream(f"{self.randomness} | {purpose}")

    def file(self, name: str, source: str) -> Path:
        """A data file, or an error that says which file is wanted and where it comes from."""
        if self.data is not None and (self.data / name).exists():
            self.opened.add(name)
            return self.data / name
        where = "no --data directory was given" if self.data is None else "it is not in the --data directory"
        raise MissingData(
            f"this artifact needs {name} ({source}); {where}. Put the file there and run again with --data DIRECTORY."
        )

    def package(self, name: str) -> bool:
        """Is an optional package installed? If so, what follows rests on it."""
        if importlib.util.find_spec(name) is None:
            return False
        self.opened.add(name)
        return True

    def has(self, name: str) -> bool:
        """Is a data file here?"""
        return self.data is not None and (self.data / name).exists()


def named(*names: str) -> Evidence:
    """Evidence by the names it has in `result["numbers"]`."""
    return lambda result: {name: float(result["numbers"][name]) for name in names}


def readings(name: str) -> Evidence:
    """What a number is with other readings of the source: `result["variants"][name]`."""
    return lambda result: {label: float(value) for label, value in result["variants"][name].items()}


def other_roundings(name: str, digits: int = 2) -> Evidence:
    """Our number as a source prints it that cuts digits off, or rounds up."""

    def rounded(result: Result) -> Mapping[str, float]:
        scaled = float(result["numbers"][name]) * 10**digits
        places = f"{digits} digit{'' if digits == 1 else 's'}"
        return {
            f"cut after {places}": math.floor(scaled) / 10**digits,
            f"rounded up to {places}": math.ceil(scaled) / 10**digits,
        }

    return rounded


@dataclass(frozen=True)
class AsReleased:
    """The same number with the setting of the released program: one reading, taken from the program and not searched for.

    `setting` says what differs from ours; `source` is repository, commit and file. `fair` says that it is a setting as good as
    ours; otherwise something in it is wrong, or measured in two ways, and a number that needs it is corrected, not confirmed.
    `of` finds the number in a result; without it the value under `name` in `result["numbers"]` is meant.
    """

    name: str
    setting: str
    source: str
    fair: bool = False
    of: Callable[[Result], float] | None = None

    def value(self, result: Result) -> float:
        """Our number with that setting."""
        return float(result["numbers"][self.name] if self.of is None else self.of(result))


@dataclass(frozen=True)
class Published:
    """A number stated in a source, and how near ours must come to count as reproduced.

    `tolerance` is the rounding of the printed number plus, where it was simulated, its sampling error. `why` is needed
    where a correct program cannot reproduce the number: it says what is wrong with the printed one and how one can see it.
    A reason needs numbers of the same run: `released` is this very number with the setting of the released program,
    `variants` are other readings of it, and are held against the printed one; `evidence` is any other number that bears the
    reason out. `given` are numbers that the reason quotes from the source. `cause_unknown` says that the cause is not known.
    `of` finds our number in a result; without it the value under the same name in `result["numbers"]` is meant.
    `needs` are the data files (or optional packages) without which there is nothing to compare; without it, all data files of
    the artifact.
    """

    name: str
    value: float
    tolerance: float
    where: str
    why: Why = ""
    of: Callable[[Result], float] | None = None
    variants: Evidence | None = None
    evidence: Evidence | None = None
    released: AsReleased | None = None
    given: tuple[float, ...] = ()
    cause_unknown: bool = False
    needs: tuple[str, ...] | None = None

    def ours(self, result: Result) -> float:
        """Our number for it."""
        return float(result["numbers"][self.name] if self.of is None else self.of(result))

    def verdict(self, result: Result) -> Verdict:
        """Ours beside the published; a value that rests on nothing computed is not compared."""
        reads = Reads()
        ours = self.ours(reads.of(result))
        if not reads.numbers:
            return Verdict(self.name, self.where, self.value, None, self.tolerance, NOT_COMPARED, UNREAD)
        judged = Verdict(self.name, self.where, self.value, ours, self.tolerance, REPRODUCED, "")
        if self._near(ours):
            return replace(judged, evidence=_evaluated(self.evidence, result))
        judged = replace(
            judged,
            verdict=DIFFERS,
            why=_text(self.why, result),
            variants=_evaluated(self.variants, result),
            evidence=_evaluated(self.evidence, result),
            given=self.given,
            cause_unknown=self.cause_unknown,
        )
        if self.released is None:
            return judged
        again = self.released.value(result)
        setting = f"{self.released.setting}; {self.released.source}"
        met = RELEASED if self._near(again) else DIFFERS
        return replace(judged, verdict=met, released=again, setting=setting, fair=self.released.fair)

    def _near(self, ours: float) -> bool:
        return math.isfinite(ours) and abs(ours - self.value) <= self.tolerance


@dataclass(frozen=True)
class Claim:
    """A statement of a source in words, and whether our numbers bear it out; `evidence` shows by how much.

    Where it holds without `evidence`, the numbers are shown that `holds` has looked at; if it looked at none, nothing was compared.
    `levels` says at which ε it holds, for a reason that speaks of them. `measured` says that it compares times of this run, so that
    it can come out otherwise on another machine.
    """

    text: str
    where: str
    holds: Callable[[Result], bool]
    why: Why = ""
    evidence: Evidence | None = None
    levels: Callable[[Result], Mapping[float, bool]] | None = None
    given: tuple[float, ...] = ()
    cause_unknown: bool = False
    needs: tuple[str, ...] | None = None
    measured: bool = False

    def verdict(self, result: Result) -> Verdict:
        """Does it hold?"""
        reads = Reads()
        holds = bool(self.holds(reads.of(result)))
        if not reads.numbers:
            return Verdict(CLAIMS, self.where, self.text, None, 0.0, NOT_COMPARED, UNREAD)
        judged = Verdict(CLAIMS, self.where, self.text, holds, 0.0, REPRODUCED, "", evidence=_evaluated(self.evidence, result))
        if holds:
            return judged if judged.evidence else replace(judged, evidence=reads.shown())
        levels = {} if self.levels is None else self.levels(result)
        return replace(
            judged, verdict=DIFFERS, why=_text(self.why, result), levels=levels, given=self.given, cause_unknown=self.cause_unknown
        )


@dataclass(frozen=True)
class Artifact:
    """A table, figure or example of a source that one command reproduces.

    `compute` gives numbers as JSON; `draw` makes charts of such JSON (or none for a table; `table` then gives rows for people);
    `data` names the files the result rests on, `optional` those it can do without. A number or claim whose files were not read
    is never judged.
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
    optional: tuple[str, ...] = field(default=())

    def verdicts(self, result: Result) -> list[Verdict]:
        """Every published number and claim beside ours."""
        read = set(result.get(FILES, ()))
        judged: list[Published | Claim] = [*self.published, *self.claims]
        return [self._judge(one, result, read) for one in judged]

    def _judge(self, one: Published | Claim, result: Result, read: set[str]) -> Verdict:
        missing = [name for name in (self.data if one.needs is None else one.needs) if name not in read]
        if not missing:
            return one.verdict(result)
        why = f"Nothing was computed for it: {', '.join(missing)} is not here."
        if isinstance(one, Claim):
            return Verdict(CLAIMS, one.where, one.text, None, 0.0, NOT_COMPARED, why)
        return Verdict(one.name, one.where, one.value, None, one.tolerance, NOT_COMPARED, why)


def _evaluated(evidence: Evidence | None, result: Result) -> Mapping[str, float]:
    return {} if evidence is None else {label: float(value) for label, value in evidence(result).items()}


def _text(why: Why, result: Result) -> str:
    return why if isinstance(why, str) else why(result)
