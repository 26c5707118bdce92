"""Which settings there are: families of questions that one survey is asked, mechanisms, shapes, numbers and epsilons."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from intervals import of_categories, of_several_things, on_a_line, on_a_map
from intervals.answers import BOTH, Cell, Trial
from intervals.shapes import NUMBERS, PLACES

REPORTS, EPSILONS = (50, 200, 10_000), (0.5, 1.0, 4.0)
FAMILIES: dict[str, tuple[Callable[[Cell], Trial], tuple[str, ...]]] = {
    "categories": (of_categories.categories, of_categories.CATEGORIES),
    "yes or no": (of_categories.yes_or_no, ("randomized-response",)),
    "attributes": (of_categories.attributes, of_categories.ATTRIBUTES),
    "rounds": (of_categories.rounds, ("rappor",)),
    "trees": (of_categories.trees, of_categories.TREES),
    "words": (of_categories.words, of_categories.WORDS),
    "joint": (of_categories.joint, of_categories.JOINT),
    "sets": (of_several_things.sets, of_several_things.SETS),
    "keys": (of_several_things.keys, of_several_things.KEYS),
    "workloads": (of_several_things.workloads, of_several_things.WORKLOADS),
    "levels": (of_several_things.levels, ("k-rr", "oue")),
    "vectors": (of_several_things.vectors, of_several_things.VECTORS),
    "trends": (of_several_things.trends, ("k-rr", "oue")),
    "means": (on_a_line.means, on_a_line.MEANS),
    "circle": (on_a_line.circle, on_a_line.CIRCLES),
    "trips": (on_a_map.trips, ("nearest-cells",)),
    "line": (on_a_line.line, on_a_line.LINES),
    "maps": (on_a_map.maps, on_a_map.MAPS),
}


def shapes_of(family: str) -> list[str]:
    """The names of its twelve shapes."""
    return list(PLACES if family in ("maps", "trips") else NUMBERS)


def cells(*, quick: bool) -> Iterator[Cell]:
    """All settings, or a sample in which every estimator, mechanism and shape occurs. Targets take turns."""
    step = 0
    for family, (_, mechanisms) in FAMILIES.items():
        for mechanism in mechanisms:
            for i, shape in enumerate(shapes_of(family)):
                for j, n in enumerate(REPORTS):
                    for k, epsilon in enumerate(EPSILONS):
                        step += 1
                        if not quick or (step % 7 == 0 and (n < 1000 or step % 3 == 0)):
                            yield Cell(family, mechanism, shape, n, epsilon, BOTH[(i + j + k) % 2])


def trial_of(cell: Cell) -> Trial:
    """How one survey of this setting is simulated."""
    return FAMILIES[cell.family][0](cell)
