"""What follows from ours beside the published: reproduced, reproduced as released, different, or not compared at all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

REPRODUCED = "reproduced"
RELEASED = "reproduced as released"
DIFFERS = "differs"
NOT_COMPARED = "not compared"
CLAIMS = "claim"
CONFIRMED, CORRECTED, IMPROVED, OPEN = "confirmed", "corrected", "improved", "open"
STANDINGS = (CONFIRMED, CORRECTED, IMPROVED, OPEN)
OURS = "this project"
"""Where a statement stands that no source makes."""
SHOWN = 3
"""So many readings are named in a sentence; all of them are in the table."""


@dataclass(frozen=True)
class Chance:
    """How easily a set of readings meets a number: what happens to one drawn uniformly between the least and the largest."""

    tried: int
    met: float
    """How many of the readings meet such a number on average."""
    any: float
    """How often at least one of them does."""

    @classmethod
    def of(cls, readings: Sequence[float], tolerance: float) -> Chance:
        """Lengths of the intervals around the readings, and of their union, as shares of the whole range."""
        low, high = min(readings), max(readings)
        if high <= low:
            return cls(len(readings), float(len(readings)), 1.0)
        ends = sorted((max(value - tolerance, low), min(value + tolerance, high)) for value in readings)
        covered, reached = 0.0, low
        for begin, end in ends:
            covered += max(end - max(begin, reached), 0.0)
            reached = max(reached, end)
        return cls(len(readings), sum(end - begin for begin, end in ends) / (high - low), covered / (high - low))

    def __str__(self) -> str:
        return (
            f"A number drawn uniformly from that range would be met by {self.met:.1f} of the {self.tried} on average, "
            f"and by at least one of them in {100 * self.any:.0f} % of draws"
        )


@dataclass(frozen=True)
class Verdict:
    """One published number or claim, ours beside it, and what follows.

    `released` is our number with the setting of the released program, `setting` says what that setting is and where it stands,
    `fair` that nothing in it is wrong.
    `levels` says at which ε a claim holds. `cause_unknown` marks a difference whose cause nobody knows.
    """

    name: str
    where: str
    published: float | str
    ours: float | bool | None
    tolerance: float
    verdict: str
    why: str
    variants: Mapping[str, float] = field(default_factory=dict)
    evidence: Mapping[str, float] = field(default_factory=dict)
    released: float | None = None
    setting: str = ""
    fair: bool = True
    levels: Mapping[float, bool] = field(default_factory=dict)
    given: tuple[float, ...] = ()
    cause_unknown: bool = False

    @property
    def explained(self) -> bool:
        """Reproduced, or different for a stated reason that numbers of the same run bear out; or there was nothing to compare."""
        return self.verdict in (REPRODUCED, NOT_COMPARED) or (bool(self.why) and self.shown)

    @property
    def standing(self) -> str:
        """For the reader of the source: is this confirmed, corrected, improved on, or open?"""
        if self.verdict == REPRODUCED:
            return IMPROVED if self.where == OURS else CONFIRMED
        if self.verdict == RELEASED:
            return CONFIRMED if self.fair else CORRECTED
        return OPEN if self.cause_unknown or self.verdict == NOT_COMPARED or not self.explained else CORRECTED

    @property
    def shown(self) -> bool:
        """Is there a finite number to look at beside the reason?"""
        others = (self.released,) if self.released is not None else ()
        return any(math.isfinite(value) for value in (*others, *self.variants.values(), *self.evidence.values()))

    @property
    def quotable(self) -> list[tuple[str, float]]:
        """The numbers that a reason may quote, each with its name: computed, printed, or given."""
        numbers = [*self.evidence.items(), *self.variants.items(), *(("", one) for one in (*self.given, self.tolerance))]
        others = (self.ours, self.released, self.published)
        return numbers + [(self.name, float(one)) for one in others if one is not None and not isinstance(one, str)]

    @property
    def met_by(self) -> list[str]:
        """The readings of the source that give the printed number."""
        if isinstance(self.published, str):
            return []
        return [label for label, value in self.variants.items() if abs(value - self.published) <= self.tolerance]

    @property
    def finding(self) -> str:
        """In words: what the released setting gives; how many other readings give the printed number, and how easily they would."""
        return self.finding_after(set())

    def finding_after(self, told: set[str]) -> str:
        """The same among other verdicts: a setting that was told before is not told again."""
        return " ".join(part for part in (self._as_released(told), self._readings()) if part)

    def _as_released(self, told: set[str]) -> str:
        if self.released is None:
            return ""
        met = "the printed number within its tolerance" if self.verdict == RELEASED else "which is not the printed number either"
        setting = "as above" if self.setting in told else self.setting
        told.add(self.setting)
        return f"With the released setting ({setting}) ours is {self.released:.4g}, {met}."

    def _readings(self) -> str:
        if not self.variants or isinstance(self.published, str):
            return ""
        printed = self.published
        if len(self.variants) == 1:
            label, value = next(iter(self.variants.items()))
            if self.met_by:
                return f"The printed number comes with: {label} ({value:.4g})."
            return f"{label} gives {value:.4g}, not the printed number."
        values = list(self.variants.values())
        if min(values) == max(values):
            gives = "give the printed number" if self.met_by else f"give {values[0]:.4g}, not the printed number"
            more = " and others" if len(values) > SHOWN else ""
            return f"All {len(values)} other readings {gives}: {'; '.join(list(self.variants)[:SHOWN])}{more}."
        near = sorted(self.variants, key=lambda label: abs(self.variants[label] - printed))
        named_ones = "; ".join(f"{label} ({self.variants[label]:.4g})" for label in near[: min(len(self.met_by), SHOWN) or 1])
        span = f"all lie between {min(values):.4g} and {max(values):.4g}"
        # A count is met when it is the same whole number.
        counts = self.tolerance == 0 and all(value == round(value) for value in (*values, printed))
        chance = Chance.of(values, 0.5 if counts else self.tolerance)
        if not self.met_by:
            return f"None of {len(values)} other readings gives the printed number: {span}; the nearest is {named_ones}. {chance}."
        more = " and others" if len(self.met_by) > SHOWN else ""
        count = f"{len(self.met_by)} of {len(values)}"
        hint = "a hint, not a proof"
        return f"The printed number comes with {count} other readings: {named_ones}{more}; {span}. {chance}: {hint}."

    def as_json(self) -> dict[str, Any]:
        """Plain values for a file."""
        plain = ("name", "where", "published", "ours", "tolerance", "verdict", "why", "standing", "finding", "released", "setting")
        lists = {"variants": dict(self.variants), "evidence": dict(self.evidence)}
        return {name: getattr(self, name) for name in plain} | lists
