"""Tables of several fields that are possible together: the closest ones to unbiased interactions, in the metric of their noise.

Tables agree when they come from one set of interactions; they are possible when no share is negative. The closest such interactions
solve a convex program, Σ_T I_T |β_T − b_T|² with all tables at least 0, which is separable in the interactions but for the signs:
alternating directions (ADMM), each step in closed form. What is left below 0 at the end is removed by moving all tables
a little towards even ones, which keeps their agreement exact up to rounding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from deniable.batch import Floats
from deniable.estimators.interactions import Fields, interaction, others, spread, subsets

STEPS = 2000
CLOSE = 1e-9


def consistent_interactions(
    known: Mapping[Fields, tuple[Floats, float]], tables: Sequence[Fields], sizes: Sequence[int]
) -> dict[Fields, Floats]:
    """The tables, flat, from unbiased interactions and the information about each."""
    shapes = {fields: [sizes[field] for field in fields] for fields in tables}
    # How much a change of an interaction changes all tables, squared.
    size = dict.fromkeys(known, 0.0)
    for fields in tables:
        for wanted in subsets(fields):
            size[wanted] += 1 / others(wanted, fields, sizes)
    pressure = float(np.median([information / size[wanted] for wanted, (_, information) in known.items()]))

    def composed(parts: Mapping[Fields, Floats]) -> dict[Fields, Floats]:
        whole = {}
        for fields, shape in shapes.items():
            table = np.full(shape, 1 / prod(shape))
            for wanted in subsets(fields):
                table = table + spread(parts[wanted], wanted, fields, sizes) / others(wanted, fields, sizes)
            whole[fields] = table
        return whole

    parts = {wanted: value for wanted, (value, _) in known.items()}
    current = composed(parts)
    slack = {fields: np.zeros(shape) for fields, shape in shapes.items()}
    for _ in range(STEPS):
        possible = {fields: np.maximum(table + slack[fields], 0.0) for fields, table in current.items()}
        asked = {wanted: np.zeros_like(value) for wanted, value in parts.items()}
        for fields, table in possible.items():
            wish = table - slack[fields]
            for wanted in subsets(fields):
                asked[wanted] += interaction(wish, fields, wanted) / others(wanted, fields, sizes)
        parts = {
            wanted: (information * value + pressure * asked[wanted]) / (information + pressure * size[wanted])
            for wanted, (value, information) in known.items()
        }
        current = composed(parts)
        apart = 0.0
        for fields, table in current.items():
            slack[fields] = slack[fields] + table - possible[fields]
            apart = max(apart, float(np.abs(table - possible[fields]).max()))
        if apart < CLOSE:
            break
    # Even tables agree with one another, so a mixture with them does, too.
    even = max(max(0.0, -float(table.min())) / (1 / table.size - min(float(table.min()), 0.0)) for table in current.values())
    mixed = {fields: (1 - even) * table + even / table.size for fields, table in current.items()}
    return {fields: np.maximum(table, 0.0).reshape(-1) for fields, table in mixed.items()}
