"""Beyond the source: the printed bound, a valid one, and the exact utility of a classifier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from deniable.studies import Box, Feature, OutputLaw, ProductLaw
from deniable_reproduce.artifact import Artifact, Claim, Evidence, Result, Run
from deniable_reproduce.pictures import Panel, curve, line_panels, significant
from deniable_reproduce.tested_boxes import SampleTest, bound_from_test, printed_product

TAU, LOW, HIGH, X = 0.01, 0.2, 0.8, 0.5
EPSILONS = [0.5 * i for i in range(2, 17)]
ORDER = ["exact, errors where the mechanism answers", "exact, errors at the box's ends", "printed bound", "valid bound"]


def compute(run: Run) -> Result:
    """Two classifiers that a test with tolerance 0.01 accepts on [0.2, 0.8]: one errs near x, one at the ends of the box."""
    utilities: dict[str, list[float]] = {name: [] for name in ORDER}
    for epsilon in EPSILONS:
        law = OutputLaw(Feature(0, 1).perturbed_by("ogpm", epsilon), X)
        numbers, chances = law.atoms
        inside = (numbers >= LOW) & (numbers <= HIGH)
        wrong = round(TAU * int(inside.sum()))
        kept = np.sort(chances[inside])
        places = ((float(numbers[inside][0]), float(numbers[inside][-1]), int(inside.sum())),)
        test = SampleTest(0.95, TAU, 1, places)
        whole = float(kept.sum())
        utilities[ORDER[0]].append(significant(whole - float(kept[-wrong:].sum())))
        utilities[ORDER[1]].append(significant(whole - float(kept[:wrong].sum())))
        utilities[ORDER[2]].append(significant(printed_product(whole, TAU)))
        utilities[ORDER[3]].append(significant(bound_from_test(Box((LOW,), (HIGH,)), test, ProductLaw([law]))))
    return {"epsilons": EPSILONS, "values": utilities, "tolerance": TAU}


def draw(result: Result) -> Mapping[str, Any]:
    """All four curves, and the same above the valid bound."""
    values, levels = result["values"], result["epsilons"]
    whole = [row for name in ORDER for row in curve(levels, values[name], name)]
    above = [
        row for name in ORDER for row in curve(levels, [v - w for v, w in zip(values[name], values[ORDER[3]], strict=True)], name)
    ]
    panels = [
        Panel(whole, title="probability of the same answer", x="ε", y="probability", zero=False),
        Panel(above, title="the same, above the valid bound", x="ε", y="difference"),
    ]
    return {
        "bounds": line_panels(
            panels,
            ORDER,
            title="A box with one percent of other answers: what does it promise?",
            subtitle="PM at x = 0.5, box [0.2, 0.8], τ = 0.01; without errors inside, Pr[M in the box] itself is exact",
        )
    }


def _pairs(result: Result, one: str, other: str) -> list[tuple[float, float]]:
    return list(zip(result["values"][one], result["values"][other], strict=True))


def _values(*names: str) -> Evidence:
    return lambda r: {
        f"{name}, ε = {epsilon:g}": r["values"][name][r["epsilons"].index(epsilon)] for epsilon in (2.0, 4.0) for name in names
    }


ARTIFACT = Artifact(
    name="beyond-classifier-exact",
    title="Printed bound, valid bound and exact utility",
    source="this project; Section 7.3.3",
    compute=compute,
    draw=draw,
    claims=(
        Claim(
            "Pr[M in B]·(1 − τ) is a lower bound of the utility",
            "Section 7.3.3",
            lambda r: all(bound <= exact + 1e-9 for exact, bound in _pairs(r, ORDER[0], ORDER[2])),
            "τ counts the points of the box alike, the mechanism does not: a classifier that errs where answers are likely is "
            "accepted by the test and has less "
            "(reproduce/tests/chapter_7/test_tested_boxes.py::test_the_printed_product_is_not_a_bound).",
            _values(ORDER[0], ORDER[2], ORDER[3]),
        ),
        Claim(
            "Pr[M in B] − τ·|B|·sup pdf is a lower bound of the utility, and the best one",
            "this project",
            lambda r: all(abs(bound - exact) < 1e-4 for exact, bound in _pairs(r, ORDER[0], ORDER[3])),
            evidence=_values(ORDER[0], ORDER[3]),
        ),
        Claim(
            "the valid bound never exceeds the utility of the other classifier",
            "this project",
            lambda r: all(bound <= exact + 1e-9 for exact, bound in _pairs(r, ORDER[1], ORDER[3])),
            evidence=_values(ORDER[1], ORDER[3]),
        ),
    ),
)
