"""The window mechanisms on an interval."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from deniable.estimators import average_error, closed_form, expected_error, worst_case
from deniable.estimators.law.shapes import slid
from deniable.planning import best_average_window, best_in_family, best_unbiased_window, limit_of_worst
from deniable.planning.designs.cutting_planes import LossCuts, solve

from .groups import FINE, Row, band, circle, group, height, line, made
from .untested import open_keys


@group(r"ex6\.p")
def _(row: Row) -> float:
    return height(line("ogpm", row["eps"]))


@group(r"ex6\.band.*")
def _(row: Row) -> list[float]:
    return list(band(line("ogpm", row["eps"]), row["x"]))


@group(r"ex8\.p")
def _(row: Row) -> float:
    e, x = math.exp(row["eps"]), row["x0"]
    low = minimize_scalar(
        lambda a: slid(x, (1 / a - 1) / (e - 1), a * e, a).error(x, 1),
        bounds=(1 / e, 1),
        method="bounded",
        options={"xatol": 1e-12},
    ).x
    return float(low * e)


@group(r"ex9\.(eps1|eps2|val)")
def _(row: Row) -> float:
    def total(eps: float) -> float:
        radius = closed_form(line("ogpm", eps), "worst_squared_error")
        return radius + closed_form(circle("circular-ogpm", row["total"] - eps), "worst_squared_error")

    found = minimize_scalar(total, bounds=(0.5, 3), method="bounded", options={"xatol": 1e-12})
    return float({"ex9.eps1": found.x, "ex9.eps2": row["total"] - found.x, "ex9.val": found.fun}[row["id"]])


@group(r"C25\.(ogpm|sw)")
def _(row: Row) -> float:
    return expected_error(line(row["id"].removeprefix("C25."), row["eps"]), 0, "squared")


@group(r"C25\.mse\..*|T7\.L2\.mse_ogpm\..*")
def _(row: Row) -> float:
    return expected_error(line("ogpm", row["eps"]), row["x"], "squared")


@group(r"L1\.err\..*|T7\.L1\.mae\..*")
def _(row: Row) -> float:
    return expected_error(line("ogpm", row["eps"]), row["x"], "absolute")


@group(r"T7\.L2\.popt\..*")
def _(row: Row) -> float:
    return height(line("window", row["eps"], loss_exponent=2))


@group(r"T7\.L2\.mse_opt\..*")
def _(row: Row) -> float:
    return worst_case(line("window", row["eps"], loss_exponent=2), "squared").error


@group(r"lk\.s\..*")
def _(row: Row) -> Row:
    mechanism = line("window", row["eps"], loss_exponent=row["k"])
    share = mechanism.channel.sets.members / FINE
    return {"s": share, "p": height(mechanism), "worst": worst_case(mechanism, row["k"]).error}


@group(r"5\.6\.1\.L1\.(PM|SW)\..*")
def _(row: Row) -> float:
    other = {"PM": "pm-c", "SW": "sw-c"}[row["id"].split(".")[4]]
    means = [np.mean([expected_error(line(name, row["eps"]), i / 49) for i in range(49)]) for name in ("ogpm", other)]
    return float(means[0] / means[1])


BUDGETS = np.linspace(1, 8, 29).tolist()


def ratio_of_sums(ours: str, theirs: str, quantity: str) -> float:
    sums = [sum(closed_form(line(name, eps), quantity) for eps in BUDGETS) for name in (ours, theirs)]
    return sums[0] / sums[1]


@group(r"5\.6\.1\.worstL2\.(PM|SW)(\.L2opt)?")
def _(row: Row) -> float:
    ours = "window" if row["id"].endswith("L2opt") else "ogpm"
    return ratio_of_sums(ours, "pm-c" if ".PM" in row["id"] else "sw-c", "worst_squared_error")


@group(r"C27\..*")
def _(row: Row) -> float:
    def gain(x: float) -> float:
        ours, pm, sw = (closed_form(line(name, row["eps"]), "absolute_error", value=x) for name in ("ogpm", "pm-c", "sw-c"))
        return max(pm, sw) - ours

    return max(gain(i / 1000) for i in range(1001))


@group(r"D26\.SW\.C\..*")
def _(row: Row) -> list[float]:
    mechanism = line("redesigned-sw", row["eps"])
    return [height(mechanism), mechanism.channel.sets.members / FINE / 2]


@group(r"const_half\..*")
def _(row: Row) -> float:
    return float(brentq(lambda eps: average_error(line("ogpm", eps), "squared") - 1 / 12, 1, 2, xtol=1e-9))


def program(k: float, eps: float, points: int, prior: np.ndarray[Any, Any] | None = None) -> float:
    """The least worst error (or that under a prior on one half of the values) with values and outputs on an even grid."""
    places = np.linspace(0, 1, points)
    values, mirrored = places[: points // 2 + 1], np.minimum(np.arange(points), points - 1 - np.arange(points))
    e = math.exp(eps)
    cuts = LossCuts(np.abs(places - values[:, None]) ** k, mirrored, e, worst=prior is None)
    solution = solve(cuts, cuts.start(), np.ones(1) if prior is None else prior, e, tolerance=1e-5)
    assert solution.finished
    return solution.value


@group(r"LP\.minimax\.L[12]\..*")
def _(row: Row) -> Row:
    best, ogpm = line("window", row["eps"], loss_exponent=row["k"]), line("ogpm", row["eps"])
    published, optimum = worst_case(ogpm, row["k"]).error, program(row["k"], row["eps"], 321)
    return {
        "lp": optimum,
        "ogpm": published,
        "opt_constant_band": worst_case(best, row["k"]).error,
        "ogpm_over_lp": published / optimum,
    }


@group(r"LP\.avg\.L[12]\..*")
def _(row: Row) -> Row:
    # The trapezoidal rule for a uniform prior on 161 points, folded at the middle one.
    prior = np.full(81, 2 / 160)
    prior[[0, -1]] /= 2
    return {
        "lp": program(row["k"], row["eps"], 161, prior),
        "ogpm": average_error(line("ogpm", row["eps"]), row["k"]),
        "best_constant_band": best_average_window(row["k"], row["eps"])[1],
    }


@group(r"atoms\.L1\..*")
def _(row: Row) -> Row:
    mechanism = made("atoms", epsilon=row["eps"])
    channel = mechanism.channel
    mass = sum(channel.low) / channel.total
    curved = best_in_family(1, row["eps"])
    return {
        "worst": worst_case(mechanism, "absolute").error,
        "w": float(mechanism.atom),
        "G": mass,
        "worst_U": curved.error,
    }


@group(r"atoms\.L2\..*")
def _(row: Row) -> Row:
    # The mechanism chooses for absolute error, so it is told the design for squared error.
    design, e = best_in_family(2, row["eps"], ("atoms", "even")), math.exp(row["eps"])
    favoured = (1 - design.mass) / (design.mass * (e - 1))
    mechanism = made("atoms", epsilon=row["eps"], atom=max(design.atom, 1e-9), favoured=favoured)
    found = {
        "worst": worst_case(mechanism, "squared").error,
        "w": design.atom,
        "G": design.mass,
        "worst_U": best_in_family(2, row["eps"]).error,
    }
    return {key: value for key, value in found.items() if key not in open_keys(row["id"])}


@group(r"asym\.L[12]")
def _(row: Row) -> float:
    return limit_of_worst(int(row["id"][-1])).constant


@group(r"thm10\.best_p_same_domain\..*")
def _(row: Row) -> float:
    # The range [-C, C + 1) of the published unbiased mechanism.
    h = math.exp(row["eps"] / 2)
    return best_unbiased_window(row["eps"], 1 + 2 * (h + 1) / (h - 1)).worst_variance


@group(r"minimaxL2\.2out\..*")
def _(row: Row) -> float:
    return worst_case(line("one-bit-squared", row["eps"]), "squared").error
