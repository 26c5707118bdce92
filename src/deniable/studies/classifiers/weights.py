"""One sample for many mechanisms: the numbers that several settings share, and each setting's probability of every one.

Two settings can share a model's answers only at numbers that both can report. Mechanisms on a coarse lattice are
grouped by their lattice. Those on a fine one (more than 2**17 outputs) share `Places`: every report is moved to
the middle of its place before the model sees it, which is post-processing and costs no privacy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from deniable.batch import Floats, Integers
from deniable.core import Affine, Epsilon, EpsilonLike
from deniable.errors import InvalidParameter
from deniable.estimators import runs
from deniable.studies.classifiers.output_law import OutputLaw
from deniable.studies.classifiers.perturbation import Feature, Perturbation, perturbations

Counts = list[tuple[int, Integers]]

MOST_READ_EXACTLY = 1 << 17
"""Mechanisms with more outputs than this are read at places."""
PLACES, FEW_PLACES = 1 << 16, 1 << 12
"""Places per domain width, for up to three sensitive features and for more."""
MOST_PLACES = 1 << 20
MOST_STRETCHES = 8
LATTICE = 64
"""Fewer outputs than this are a list of their own, not a lattice to share."""
SAME_NUMBER = 1e-9
"""Numbers closer than this share of the domain's width are one."""


@dataclass(frozen=True)
class Setting:
    """A mechanism at one privacy level on all sensitive features.

    `epsilon` is what was asked for: per feature ("each") or for all of them together ("total").
    """

    mechanism: str
    epsilon: EpsilonLike
    perturbations: tuple[Perturbation, ...]

    @property
    def level(self) -> float:
        """epsilon as a float."""
        return float(Epsilon(self.epsilon, allow_large=True))


def settings(
    mechanisms: Sequence[str],
    epsilons: Sequence[EpsilonLike],
    features: Sequence[Feature],
    *,
    budget: str = "each",
    **parameters: Any,
) -> list[Setting]:
    """Every mechanism at every epsilon. `parameters` maps a mechanism's name to its further parameters.

    >>> [setting.mechanism for setting in settings(["ogpm", "k-rr"], [1, 2], [Feature(0, 100)])]
    ['ogpm', 'ogpm', 'k-rr', 'k-rr']
    """
    if not mechanisms or not epsilons:
        raise InvalidParameter("mechanisms and epsilons must not be empty")
    return [
        Setting(name, epsilon, perturbations(name, features, epsilon, budget=budget, **parameters.get(name.replace("-", "_"), {})))
        for name in mechanisms
        for epsilon in epsilons
    ]


@dataclass(frozen=True, eq=False)
class Places:
    """The numbers a model may see of one feature, rising. With `edges`, every report is moved to one of them.

    Place i takes the reports from edges[i] up to, but not including, edges[i + 1].
    """

    numbers: Floats
    edges: Floats | None = None

    @property
    def widths(self) -> Floats:
        """How wide every place is; 1 where reports are not moved."""
        return np.ones(self.numbers.size) if self.edges is None else np.diff(self.edges)

    def index(self, reports: Floats) -> Integers:
        """The place of every report."""
        if self.edges is not None:
            places = np.searchsorted(self.edges, reports, side="right") - 1
            return np.clip(places, 0, self.numbers.size - 1).astype(np.int64)
        right = np.clip(np.searchsorted(self.numbers, reports), 1, self.numbers.size - 1) if self.numbers.size > 1 else 0
        if isinstance(right, int):
            return np.zeros(len(reports), dtype=np.int64)
        nearer_left = reports - self.numbers[right - 1] < self.numbers[right] - reports
        return (right - nearer_left).astype(np.int64)

    def chances(self, law: OutputLaw, counts: Counts | None = None) -> Floats:
        """The probability of every place; `counts` are law.counts(edges, strictly=True), when they are known."""
        if self.edges is not None:
            below = np.zeros(self.edges.size)
            for begin, stops in law.counts(self.edges, strictly=True) if counts is None else counts:
                below += law.before(stops) - law.before(np.array([begin]))
            below[0], below[-1] = 0.0, 1.0
            return np.maximum(np.diff(below), 0.0)
        numbers, chances = law.atoms
        masses: Floats = np.bincount(self.index(numbers), weights=chances, minlength=self.numbers.size).astype(np.float64)
        return masses


class Group:
    """Settings that can share a sample, with the places of every feature."""

    def __init__(self, members: Sequence[int], chosen: Sequence[Setting], values: Sequence[Any]) -> None:
        self.members = tuple(members)
        self.settings = [chosen[i] for i in self.members]
        self.values = tuple(values)
        self._logarithms: dict[int, Floats] = {}
        fine = any(is_fine(one) for setting in self.settings for one in setting.perturbations)
        self.places = [self._places_of(i, fine) for i in range(len(self.values))]

    def _places_of(self, feature: int, fine: bool) -> Places:
        laws = self._laws[feature]
        if not fine:
            return Places(_merged(np.concatenate([law.atoms[0] for law in laws])))
        low = min(law.span()[0] for law in laws)
        high = max(law.span()[1] for law in laws)
        width = _width(self.settings[0].perturbations[feature])
        step = width / places_per_width(len(self.values))
        count = min(max(int(np.ceil((high - low) / step)), 1), MOST_PLACES)
        edges = _merged(np.concatenate([np.linspace(low, high, count + 1), *(_ends(law, low, high) for law in laws)]))
        return Places((edges[:-1] + edges[1:]) / 2, edges)

    @cached_property
    def _laws(self) -> list[list[OutputLaw]]:
        known: dict[tuple[int, Any], OutputLaw] = {}
        rows = []
        for feature, value in enumerate(self.values):
            row = []
            for setting in self.settings:
                one = setting.perturbations[feature]
                key = (id(one), value)
                if key not in known:
                    known[key] = OutputLaw(one, value)
                row.append(known[key])
            rows.append(row)
        return rows

    def table(self, feature: int) -> Floats:
        """One row per setting: the probability of every place of this feature."""
        places = self.places[feature]
        known: dict[int, Floats] = {}
        counts: dict[Any, Counts] = {}
        rows = []
        for law in self._laws[feature]:
            if id(law) not in known:
                key = _reading(law.perturbation) if places.edges is not None else None
                # Laws on one lattice have the same outputs below every edge.
                if key is not None and key not in counts:
                    counts[key] = law.counts(places.edges, strictly=True)
                known[id(law)] = places.chances(law, counts.get(key))
            rows.append(known[id(law)])
        return np.array(rows)

    def logarithms(self, feature: int) -> Floats:
        """The logarithms of that table, kept for the next batch."""
        if feature not in self._logarithms:
            with np.errstate(divide="ignore"):
                self._logarithms[feature] = np.log(self.table(feature))
        return self._logarithms[feature]

    @cached_property
    def indices(self) -> list[list[int]]:
        """The channel's input of every feature under every setting."""
        return [[law.index for law in row] for row in self._laws]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many places every feature has."""
        return tuple(places.numbers.size for places in self.places)


def places_per_width(features: int) -> int:
    """How finely reports of fine lattices are read."""
    return PLACES if features <= 3 else FEW_PLACES


def groups(chosen: Sequence[Setting], values: Sequence[Any]) -> list[Group]:
    """The settings, put together where they share their numbers."""
    if any(len(setting.perturbations) != len(values) for setting in chosen):
        raise InvalidParameter("there must be one private value per perturbed feature")
    by_lattice: dict[Any, list[int]] = {}
    for i, setting in enumerate(chosen):
        by_lattice.setdefault(tuple(_lattice(one) for one in setting.perturbations), []).append(i)
    return [Group(members, chosen, values) for members in by_lattice.values()]


def is_fine(one: Perturbation) -> bool:
    """Has it more outputs than anyone lists?"""
    return one.outputs > MOST_READ_EXACTLY


def _reading(one: Perturbation) -> Any:
    """What tells two lattices apart, or None."""
    reading = getattr(one.mechanism, "reading", None)
    return (reading, one.mechanism.domain, one.outputs) if isinstance(reading, Affine) else None


def _width(one: Perturbation) -> float:
    interval = one.interval if one.interval is not None else one.mechanism.domain
    return float(getattr(interval, "width", 1))


def _lattice(one: Perturbation) -> Any:
    """What mechanisms must have in common to report the same numbers."""
    if is_fine(one):
        return "fine"
    numbers = np.sort(one.decode(np.arange(one.outputs)))
    steps = np.diff(numbers)
    if one.outputs < LATTICE or steps.max() > steps.min() * (1 + SAME_NUMBER) + SAME_NUMBER * _width(one):
        return tuple(numbers.round(12).tolist()) if one.outputs < LATTICE else id(one)
    # The same step, and places that lie a whole number of steps apart.
    step = float(numbers[-1] - numbers[0]) / (one.outputs - 1)
    offset = (numbers[0] / step) % 1.0
    return round(step / _width(one), 9), round(min(offset, 1 - offset), 5)


def _ends(law: OutputLaw, low: float, high: float) -> Floats:
    """Where a law made of a few constant stretches steps up or down: half-way between two reports."""
    stretches = runs(law.channel, np.array([law.index]))
    if stretches is None or stretches.starts.size > MOST_STRETCHES:
        return np.empty(0)
    ranks = np.unique(np.concatenate([stretches.starts.ravel(), stretches.stops.ravel()]))
    inner = ranks[(ranks > 0) & (ranks < law.channel.outputs)]
    decode = law.perturbation.decode
    numbers = (decode(inner - 1) + decode(inner)) / 2
    last = law.channel.outputs - 1
    first, second, before, final = decode(np.array([0, 1, last - 1, last]))
    numbers = np.concatenate([numbers, [(3 * first - second) / 2, (3 * final - before) / 2]])
    return numbers[(numbers > low) & (numbers < high)]


def _merged(numbers: Floats) -> Floats:
    """Different numbers, rising; those that differ by rounding only are one."""
    rising = np.unique(numbers)
    if rising.size < 2:
        return rising
    apart = SAME_NUMBER * float(rising[-1] - rising[0]) / max(rising.size, 1)
    different: Floats = rising[np.concatenate([[True], np.diff(rising) > apart])]
    return different
