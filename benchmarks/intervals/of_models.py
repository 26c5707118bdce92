"""Models that see reports: how often they keep their answer, on average over a few records and at the worst of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from deniable.studies import Feature, product_law, quantify, settings, study
from intervals.answers import Answer, Cell, Floats, Trial, fixed, of_shares
from intervals.shapes import NUMBERS

MODELS = ("k-rr",), ("sw",)
"""The main mechanism, and others."""
RECORDS, BOX = 3, ([0.3, -1e9], [1e9, 0.6])
PAIR = [Feature(0, 1), Feature(0, 1)]


def _inside(rows: Floats) -> Any:
    """Yes within a box of two features."""
    low, high = BOX
    return ((rows >= np.array(low)) & (rows <= np.array(high))).all(axis=1)


def models(cell: Cell) -> Trial:
    """Three people with two numbers each; the model is asked at as many reports as the setting has."""
    (setting,) = settings([cell.mechanism], [cell.epsilon], PAIR)

    def keeps(row: Any) -> float:
        inside = float(product_law(setting.perturbations, row.tolist()).probability(*BOX))
        return inside if _inside(row[None])[0] else 1 - inside

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        rows = NUMBERS[cell.shape](draws, 2 * RECORDS).reshape(RECORDS, 2)
        truth = np.array([keeps(row) for row in rows])
        question = study(_inside, rows, {0: PAIR[0], 1: PAIR[1]})
        asked = quantify(
            question,
            [cell.mechanism],
            [cell.epsilon],
            evaluations=cell.n,
            sample=True,
            empirical=cell.n,
            prove=False,
            keystream=stream,
        )
        (row,) = asked.rows
        ends = {
            "quantify": (truth.mean(), row.low, row.high),
            "quantify, worst": (truth.min(), row.worst_low, row.worst_high),
            "quantify, empirical": (truth.mean(), row.empirical_low, row.empirical_high),
        }
        for name, (kept, low, high) in ends.items():
            yield of_shares(name, "these users", kept, fixed(np.array([low]), np.array([high])))

    return trial
