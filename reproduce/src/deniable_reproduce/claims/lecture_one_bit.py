"""The lecture: Laplace noise on every number, or one bit from everybody."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from deniable.batch import randomize_many
from deniable.core import Interval, make_mechanism
from deniable.estimators import closed_form, report_variance
from deniable_reproduce.artifact import Artifact, Claim, Published, Result, Run
from deniable_reproduce.pictures import Panel, curve, line_panels

LAPLACE, ONE_BIT = "Laplace noise", "one bit"
RANGE = 10
LEVELS = [0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0]


def one_bit(epsilon: float) -> float:
    """The worst variance of one bit, m² (E+1)²/(4 (E−1)²)."""
    return closed_form(make_mechanism("one-bit-mean", domain=Interval(0, RANGE), epsilon=epsilon), "worst_variance")


def laplace(epsilon: float) -> float:
    """The variance 2 m²/ε² of the Laplace mechanism on a range of width m."""
    return 2 * RANGE**2 / epsilon**2


def compute(run: Run) -> Result:
    """Variances per user; a simulated mean as a check that it is unbiased."""
    rows = curve(LEVELS, [laplace(level) for level in LEVELS], LAPLACE)
    rows += curve(LEVELS, [one_bit(level) for level in LEVELS], ONE_BIT)
    mechanism = make_mechanism("one-bit-mean", domain=Interval(0, RANGE), epsilon=1)
    count = run.repetitions(200_000, 5_000_000)
    reports = np.asarray(randomize_many(mechanism, np.full(count, 4.0), run.keystream("lecture one bit")).values())
    spread = math.sqrt(float(report_variance(mechanism, 4.0)) / count)
    crossing = next((level for level in np.arange(0.1, 8, 0.01) if laplace(level) < one_bit(level)), math.inf)
    numbers = {
        "one bit: ln of the largest ratio, ε = 1": mechanism.certificate().epsilon_exact,
        "one bit: variance at x = 4, m = 10, ε = 1": float(report_variance(mechanism, 4.0)),
        "one bit: simulated mean of 4, in standard errors": (float(reports.mean()) - 4.0) / spread,
        "one bit / Laplace, ε = 0.1": one_bit(0.1) / laplace(0.1),
        "one bit / Laplace, ε = 1": one_bit(1.0) / laplace(1.0),
        "Laplace is better from ε": float(crossing),
        "bits of a one-bit report": 1,
        "simulated users": count,
    }
    return {"numbers": numbers, "panels": [{"rows": rows}]}


def draw(result: Result) -> Mapping[str, Any]:
    """Variances over epsilon."""
    panel = Panel(
        result["panels"][0]["rows"],
        x="privacy parameter ε",
        y="worst variance per user (m = 10)",
        log_x=True,
        log_y=True,
        ticks=LEVELS,
    )
    return {
        "variances": line_panels(
            [panel],
            [ONE_BIT, LAPLACE],
            title="One bit, or Laplace noise",
            subtitle="numbers in [0, 10]; log₂ m bits against one",
            size=(520, 300),
        )
    }


ARTIFACT = Artifact(
    name="lecture-one-bit",
    title="The mean of numbers: Laplace noise or one bit",
    source="Lecture 20, local model of differential privacy",
    compute=compute,
    draw=draw,
    published=(Published("one bit: ln of the largest ratio, ε = 1", 1.0, 1e-6, "Lecture 20, ε"),),
    claims=(
        Claim(
            "one bit is unbiased (within four standard errors)",
            "Lecture 20",
            lambda result: abs(result["numbers"]["one bit: simulated mean of 4, in standard errors"]) < 4,
        ),
        Claim(
            "one bit needs no more users than Laplace noise for ε ≤ 1: n ≥ m²/(α²ε²) for both",
            "Lecture 20",
            lambda result: max(result["numbers"]["one bit / Laplace, ε = 0.1"], result["numbers"]["one bit / Laplace, ε = 1"]) < 1,
        ),
    ),
    note="One bit is the better of the two up to the ε given; beyond that, its rounding to two answers costs more than the noise.",
)
