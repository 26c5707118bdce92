"""The mechanisms on a circle."""

from __future__ import annotations

import math

import numpy as np

from deniable.estimators import closed_form, expected_error, pmf, worst_case
from deniable.estimators.law.loss import distance
from deniable.planning.designs.cutting_planes import LossCuts, solve

from .groups import Row, band, category, circle, group, height, line, made
from .windows import BUDGETS, ratio_of_sums


def _angle(text: str) -> float:
    top, _, bottom = text.partition("/")
    return float(top.removesuffix("pi") or 1) / float(bottom or 1) / 2


@group(r"5\.3\.Lmod")
def _(row: Row) -> float:
    return float(2 * math.pi * distance(np.array(_angle(row["y"]) - _angle(row["x"])), True))


@group(r"5\.3\.lemma3")
def _(row: Row) -> float:
    return float(2 * math.pi * distance(_angle(row["y"]) - np.arange(0, 1, 1 / 64), True).max())


@group(r"ex7\.arc")
def _(row: Row) -> list[float]:
    start, stop = band(circle("circular-ogpm", row["eps"]), row["x"])
    return [2 * start, 2 * stop - 2]


@group(r"ex10\.p")
def _(row: Row) -> float:
    return height(circle("circular-ogpm", row["eps"])) / (2 * math.pi)


@group(r"ex10\.sector")
def _(row: Row) -> list[float]:
    return [2 * end for end in band(circle("circular-ogpm", row["eps"]), row["phi_over_pi"] * math.pi)]


@group(r"ex10\.prob")
def _(row: Row) -> float:
    channel = circle("circular-ogpm", row["eps"]).channel
    return float(channel.favoured / channel.total)


@group(r"D27\.angle")
def _(row: Row) -> list[float]:
    return [2 * end for end in band(circle("circular-ogpm", row["eps"] * math.pi / (math.pi + 1)), math.pi)]


@group(r"T8\.L1\.mae\..*|fig6\.6\.tracs\..*")
def _(row: Row) -> float:
    return expected_error(circle("circular-ogpm", row["eps"]), 1, "absolute")


@group(r"T9\.mse\..*")
def _(row: Row) -> float:
    return expected_error(circle("circular-ogpm", row["eps"]), 1, "squared")


@group(r"T8\.L2\.mse_opt\..*")
def _(row: Row) -> float:
    return worst_case(circle("circular-window", row["eps"], loss_exponent=2), "squared").error


@group(r"circ\.LP\..*")
def _(row: Row) -> Row:
    # Not averaged over rotations: the program may use any reference on the sixty points.
    count, e = row["n"], math.exp(row["eps"])
    steps = np.abs(np.arange(count) - np.arange(count)[:, None])
    losses = (np.minimum(steps, count - steps) * 2 * math.pi / count) ** float(row["k"])
    cuts = LossCuts(losses, np.arange(count), e, worst=True)
    solution = solve(cuts, cuts.start(), np.ones(1), e, tolerance=1e-7)
    assert solution.finished
    best = worst_case(circle("circular-window", row["eps"], loss_exponent=row["k"]), row["k"]).error
    return {"lp": solution.value, "continuous": best}


@group(r"purk\.L1\..*")
def _(row: Row) -> float:
    return closed_form(made("purkayastha", epsilon=row["eps"]), "worst_absolute_error")


@group(r"fig6\.6\.krr(6|12)\..*")
def _(row: Row) -> float:
    k, sector = row["k"], 2 * math.pi / row["k"]
    apart = [sector / 3, *(sector * j for j in range(1, k // 2)), math.pi - sector / 3]
    distances = np.array([apart[min(j, k - j)] for j in range(k)])
    return float(pmf(category(k, row["eps"]), 0) @ distances)


@group(r"5\.6\.1\.circ\.(PM|SW)\.eps.*")
def _(row: Row) -> Row:
    name = "pm-c" if ".PM." in row["id"] else "sw-c"
    eps, values = row["eps"], [2 * math.pi * i / 49 for i in range(49)]
    flattened = circle("flattened", eps, inner=name)
    linear = float(np.mean([expected_error(flattened.linear, x, "squared") for x in values]))
    around = float(np.mean([expected_error(flattened, x, "squared") for x in values]))
    published = expected_error(circle("circular-ogpm", eps), 1, "squared")
    best = expected_error(circle("circular-window", eps, loss_exponent=2), 1, "squared")
    return {
        "thm8": published / linear,
        "L2opt": best / linear,
        "thm8_circular_metric": published / around,
        "L2opt_circular_metric": best / around,
    }


@group(r"5\.6\.1\.circ\.worstL1\.SW")
def _(row: Row) -> float:
    # Half a turn is the farthest on the circle, a whole one on the line: the ratio of the line's shares, halved.
    return ratio_of_sums("ogpm", "sw-c", "worst_absolute_error") / 2


@group(r"5\.6\.1\.circ\.worstL2\.(PM|SW)")
def _(row: Row) -> Row:
    other = "pm-c" if row["id"].endswith("PM") else "sw-c"
    circular = {name: sum(closed_form(circle(name, eps), "worst_squared_error") for eps in BUDGETS) for name in CIRCULAR}
    turn = (2 * math.pi) ** 2
    theirs = turn * sum(closed_form(line(other, eps), "worst_squared_error") for eps in BUDGETS)
    return {"thm8": circular["circular-ogpm"] / theirs, "L2opt": circular["circular-window"] / theirs}


CIRCULAR = ("circular-ogpm", "circular-window")
