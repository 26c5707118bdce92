"""Which settings there are: families of questions that one survey is asked, mechanisms, shapes, numbers and epsilons."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from intervals import of_categories, of_models, of_several_things, of_streams, on_a_line, on_a_map
from intervals.answers import BOTH, Cell, Trial
from intervals.shapes import NUMBERS, PLACES

REPORTS, EPSILONS = (50, 200, 10_000), (0.5, 1.0, 4.0)
OTHERS_TAKE = 3
"""A mechanism that is not a main one is asked in every so-manieth setting: for every shape and number, one epsilon."""


class Family(NamedTuple):
    """One way to simulate a survey, and the mechanisms that it is simulated with."""

    trial: Callable[[Cell], Trial]
    main: tuple[str, ...]
    others: tuple[str, ...] = ()


FAMILIES = {
    "categories": Family(of_categories.categories, *of_categories.CATEGORIES),
    "yes or no": Family(of_categories.yes_or_no, ("randomized-response",)),
    "attributes": Family(of_categories.attributes, of_categories.ATTRIBUTES),
    "tables": Family(of_categories.tables, ("marginals",)),
    "rounds": Family(of_categories.rounds, ("rappor",)),
    "changes": Family(of_streams.changes, ("tree-of-changes",)),
    "windows": Family(of_streams.windows, of_streams.REPEATING),
    "trees": Family(of_categories.trees, *of_categories.TREES),
    "prefixes": Family(of_categories.prefixes, ("hierarchy",)),
    "words": Family(of_categories.words, of_categories.WORDS),
    "joint": Family(of_categories.joint, of_categories.JOINT),
    "sets": Family(of_several_things.sets, *of_several_things.SETS),
    "keys": Family(of_several_things.keys, of_several_things.KEYS),
    "workloads": Family(of_several_things.workloads, *of_several_things.WORKLOADS),
    "wavelets": Family(of_several_things.wavelets, ("randomized-response",)),
    "levels": Family(of_several_things.levels, ("k-rr", "oue")),
    "vectors": Family(of_several_things.vectors, of_several_things.VECTORS),
    "trends": Family(of_several_things.trends, ("k-rr", "oue")),
    "means": Family(on_a_line.means, *on_a_line.MEANS),
    "circle": Family(on_a_line.circle, *on_a_line.CIRCLES),
    "trips": Family(on_a_map.trips, ("nearest-cells",)),
    "line": Family(on_a_line.line, *on_a_line.LINES),
    "assumed": Family(on_a_line.assumed, *on_a_line.ASSUMED),
    "maps": Family(on_a_map.maps, *on_a_map.MAPS),
    "fine maps": Family(on_a_map.fine_maps, *on_a_map.FINE_MAPS),
    "lengths": Family(on_a_map.lengths, *on_a_map.LENGTHS),
    "models": Family(of_models.models, *of_models.MODELS),
}


def shapes_of(family: str) -> list[str]:
    """The names of its twelve shapes."""
    return list(PLACES if family in ("maps", "fine maps", "trips") else NUMBERS)


def cells(*, quick: bool = False, others: bool = False, every: bool = False) -> Iterator[Cell]:
    """Main mechanisms in all settings; the `others` in every third; `every` mechanism in all; `quick`: a sample of both.

    Targets take turns.
    """
    step = 0
    for name, family in FAMILIES.items():
        for mechanism in (*family.main, *family.others):
            for i, shape in enumerate(shapes_of(name)):
                for j, n in enumerate(REPORTS):
                    for k, epsilon in enumerate(EPSILONS):
                        if mechanism in family.others and not every and ((i + j + k) % OTHERS_TAKE or not (others or quick)):
                            continue
                        step += 1
                        if not quick or (step % 7 == 0 and (n < 1000 or step % 3 == 0)):
                            yield Cell(name, mechanism, shape, n, epsilon, BOTH[(i + j + k) % 2])


def trial_of(cell: Cell) -> Trial:
    """How one survey of this setting is simulated."""
    return FAMILIES[cell.family].trial(cell)
