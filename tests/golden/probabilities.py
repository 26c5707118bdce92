"""Probabilities of balls and half-lines."""

from __future__ import annotations

from typing import Any

from scipy.optimize import brentq

from deniable.core import Categories, Exponential
from deniable.estimators import cdf, interval_probability, pmf

from .groups import Row, category, group, line


def ball(mechanism: Any, x: float, theta: float) -> float:
    return interval_probability(mechanism, x, x - theta, x + theta)


@group(r"7\.3\.pm(\.x0)?")
def _(row: Row) -> float:
    return ball(line("ogpm", row["eps"]), row["x"], row["theta"])


@group(r"7\.3\.krr10[01]")
def _(row: Row) -> float:
    # On 100 bins the ball of radius 0.3 around bin 50 is half-open; on 101 points it has both its ends.
    reach = round(100 * row["theta"])
    return float(pmf(category(row["X"], row["eps"]), 50)[50 - reach : 50 + reach + (row["X"] == 101)].sum())


@group(r"7\.3\.3\.eps(\.tau)?")
def _(row: Row) -> float:
    wanted = row["target"] / (1 - row.get("tau", 0))
    return float(brentq(lambda eps: ball(line("ogpm", eps), 0.5, row["theta"]) - wanted, 1, 2, xtol=1e-9))


@group(r"fig7\.3\.crossover\..*")
def _(row: Row) -> float:
    ogpm, sw, x = line("ogpm", row["eps"]), line("redesigned-sw", row["eps"]), row["x"]
    return float(brentq(lambda theta: ball(ogpm, x, theta) - ball(sw, x, theta), 0.05, 0.2, xtol=1e-9))


@group(r"E25\.F063\..*")
def _(row: Row) -> float:
    return cdf(line("ogpm", row["eps"]), row["x"], row["t"])


@group(r"7\.6\.LR\.rho\..*")
def _(row: Row) -> float:
    return 1 - cdf(line("ogpm", row["eps"]), 0.79, 0.63)


@group(r"E26\.I\..*")
def _(row: Row) -> float:
    inner = line("ogpm", row["eps"])
    return cdf(line("privacy-indicator", row["eps"], mechanism=inner, delta="0.1", publish_raw_values=True), row["x"], 0.72)


@group(r"exp\.conc\..*")
def _(row: Row) -> float:
    mechanism = Exponential.distance(points=100, epsilon=row["eps"], sensitivity=1)
    return float(pmf(mechanism, 50)[20:81].sum())


@group(r"exp\.actual_eps\.D05\..*")
def _(row: Row) -> float:
    # The weights e**(-epsilon |x - y|) on 100 bins are the published rule at twice the budget.
    points = 99
    scores = [[f"-{abs(x - y)}/100" for y in range(points + 1)] for x in range(points + 1)]
    mechanism = Exponential(domain=Categories(points + 1), epsilon=2 * row["eps"], scores=scores, sensitivity=1)
    return float(mechanism.certificate().epsilon_exact)
