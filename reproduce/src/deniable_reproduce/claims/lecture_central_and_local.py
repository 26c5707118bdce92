"""The lecture: the mean of bits in the central and in the local model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from deniable.core import Pair
from deniable.studies import published_pair, simulate, variance_randomized_response
from deniable_reproduce.artifact import Artifact, Claim, Result, Run
from deniable_reproduce.pictures import Panel, curve, line_panels

EPSILON = 0.5
SIZES = [100, 316, 1_000, 3_162, 10_000, 31_622, 100_000, 316_228, 1_000_000]
SIMULATED = (1_000, 10_000)
NORMAL_99 = 2.575829
CENTRAL, LOCAL = "central (Laplace)", "local (randomized response)"
TARGETS = (0.1, 0.01, 0.001)


def central(n: float, epsilon: float = EPSILON) -> float:
    """|error| in 99 % of all cases with Laplace noise of scale 1/(εn) on the mean."""
    return math.log(100) / (epsilon * n)


def local(n: float, epsilon: float = EPSILON) -> float:
    """The same for the debiased mean of randomized responses, by the normal approximation."""
    return NORMAL_99 * math.sqrt(variance_randomized_response(epsilon, 1) / n)


def slope(error: Any) -> float:
    """By what power of n the error falls."""
    return math.log(error(1_000_000) / error(100)) / math.log(1_000_000 / 100)


def compute(run: Run) -> Result:
    """Formulas; and simulated surveys for the local model."""
    rows = curve(SIZES, [central(n) for n in SIZES], CENTRAL) + curve(SIZES, [local(n) for n in SIZES], LOCAL)
    joint = published_pair(str(EPSILON))
    alone = Pair.exactly(joint.truth, 0)
    runs = run.repetitions(1_000, 20_000)
    numbers: dict[str, float] = {"slope, central": slope(central), "slope, local": slope(local), "simulated surveys each": runs}
    for n in SIMULATED:
        simulated = simulate(alone, n, round(0.3 * n), runs, keystream=run.keystream(f"lecture central {n}"))
        inside = sum(abs(simulated.estimates / n - simulated.ones / n) <= local(n)) / runs
        numbers[f"share of surveys within the local bound, n = {n}"] = float(inside)
    for target in TARGETS:
        few, many = math.ceil(math.log(100) / (EPSILON * target)), math.ceil((local(1) / target) ** 2)
        numbers |= {f"users for an error of {target}, central": few, f"users for an error of {target}, local": many}
    for level in (0.25, 0.5, 1.0):
        numbers[f"ε times the local error, ε = {level}"] = level * local(1, level)
    return {"numbers": numbers, "panels": [{"rows": rows}]}


def draw(result: Result) -> Mapping[str, Any]:
    """Both errors over the number of users."""
    panel = Panel(result["panels"][0]["rows"], x="users n", y="|error of the mean| in 99 % of cases", log_x=True, log_y=True)
    return {
        "errors": line_panels(
            [panel],
            [CENTRAL, LOCAL],
            title="The price of not trusting the collector",
            subtitle="mean of bits, ε = 0.5: the error falls as 1/n or as 1/√n",
            size=(520, 300),
        )
    }


ARTIFACT = Artifact(
    name="lecture-central-and-local",
    title="The mean of bits in the central and the local model",
    source="Lecture 20, local model of differential privacy",
    compute=compute,
    draw=draw,
    claims=(
        Claim("central: the error is O(1/(εn))", "Lecture 20", lambda result: abs(result["numbers"]["slope, central"] + 1) < 1e-9),
        Claim(
            "local: the error is O(1/(ε√n)) for ε ≤ 1",
            "Lecture 20",
            lambda result: (
                abs(result["numbers"]["slope, local"] + 0.5) < 1e-9
                and max(result["numbers"][f"ε times the local error, ε = {level}"] for level in (0.25, 0.5, 1.0)) < 2.6
            ),
        ),
        Claim(
            "n ≥ m/(δε) against n ≥ m²/(ε²δ²): ten times less error takes 10 and 100 times the users",
            "Lecture 20",
            lambda result: _factor(result, "central", 10) and _factor(result, "local", 100),
        ),
        Claim(
            "99 % of simulated surveys are within the bound (up to four sampling errors)",
            "Lecture 20",
            lambda result: all(
                abs(result["numbers"][f"share of surveys within the local bound, n = {n}"] - 0.99)
                < 4 * math.sqrt(0.99 * 0.01 / result["numbers"]["simulated surveys each"])
                for n in SIMULATED
            ),
        ),
    ),
)


def _factor(result: Result, model: str, factor: float) -> bool:
    users = [result["numbers"][f"users for an error of {target}, {model}"] for target in TARGETS]
    return all(abs(b / a / factor - 1) < 0.02 for a, b in pairwise(users))
