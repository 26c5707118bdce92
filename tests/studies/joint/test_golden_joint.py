"""Golden values of joint randomized response, recomputed from integer tables."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pytest

from deniable.core import Epsilon, Pair, as_fraction, exp_bounds
from deniable.studies import (
    PUBLISHED_COUNTS,
    KaryPair,
    account,
    best_likelihood,
    bounded_correlation,
    bounded_pair,
    feasible_rho,
    no_gain_width,
    published_pair,
    variance_joint,
    variance_randomized_response,
)
from deniable.studies.joint.accounting import marginal_ratio, secret_pairing_ratio

PREFIXES = ("JRR.", "JRRc.", "T3.", "kary.", "ex2.", "ex3.", "tab4.3.", "4.")
"""The rows this file computes; tests/golden/untested.py names this file for them."""
ROWS = [
    row for row in json.loads((Path(__file__).parents[2] / "golden" / "golden.json").read_text()) if row["id"].startswith(PREFIXES)
]
Row = dict[str, Any]


def exact(value: Any) -> Fraction:
    """A golden number as the decimal that was written."""
    found = as_fraction(str(value))
    assert found is not None
    return found


def table(row: Row) -> Pair:
    return Pair.exactly(exact(row["p"]), exact(row["rho"]))


def bounded(row: Row) -> Pair:
    return published_pair(row["eps"]) if row["eps_c"] == "inf" else bounded_pair(str(row["eps"]), str(row["eps_c"]))


def bounded_row(row: Row) -> dict[str, float]:
    pair = bounded(row)
    plain = variance_randomized_response(row["eps"], row["n"])
    return {"rho": float(pair.correlation), "var_ratio": float(variance_joint(pair, row["n"], row["n1"])) / plain}


def kary_variance(row: Row) -> float:
    pair = KaryPair.at(row["k"], row["eps"], exact(row["rho"]))
    return float(pair.variance(len(row["xs"]), row["xs"].count(0)))


def kosarak(row: Row) -> float:
    spread = variance_randomized_response(row["eps"], row["n"])
    if row["id"].endswith(".JRR"):
        spread = float(variance_joint(published_pair(str(row["eps"])), row["n"], row["n1"]))
    inverse = (1 / row["n1"] + 1 / (row["n"] - row["n1"])) / 2
    return float(NormalDist().inv_cdf(0.9) * math.sqrt(spread) * inverse)


def threshold(row: Row) -> float:
    """The largest share of colluders for which the printed constraint keeps the strongest correlation."""
    n, ones = 10_000, round(10_000 * row["f"])
    low, high = 0, n - 1
    while high - low > 1:
        middle = (low + high) // 2
        strongest = best_likelihood(Epsilon(1), n, middle, ones, printed=True) == 0
        low, high = (middle, high) if strongest else (low, middle)
    return round(low / n, 3)


def published_ratio(row: Row) -> float:
    n = 10_000
    return float(variance_joint(published_pair(str(row["eps"])), n, n)) / variance_randomized_response(row["eps"], n)


COMPUTE: dict[str, Callable[[Row], Any]] = {
    "JRR.frac_revealed.": lambda row: account(published_pair(row["eps"]), row["n"], row["m"]).exposed_fraction,
    "JRRc.rho.": lambda row: float(bounded(row).correlation),
    "JRRc.eps": bounded_row,
    "T3.exact.": lambda row: float(secret_pairing_ratio(table(row), row["n"], row["m"]) or math.inf),
    "T3.eps.": lambda row: account(published_pair(row["eps_target"]), row["n"], row["m"]).epsilon_printed,
    "T3.eps_exact.": lambda row: account(published_pair(row["eps_target"]), row["n"], row["m"]).epsilon_secret_pairing,
    "kary.corr.": lambda row: float(KaryPair.at(row["k"], row["eps"], exact(row["rho"])).pair.correlation),
    "kary.rho_min.": lambda row: [
        float(end) for end in feasible_rho(row["k"], 1 - (row["k"] - 1) / (exp_bounds(Fraction(row["eps"]))[0] + row["k"] - 1))
    ],
    "kary.var.": kary_variance,
    "ex2.eps": lambda row: math.log(marginal_ratio(Pair.exactly(exact(row["p"]), 0))),
    "ex3.var": lambda row: float(variance_joint(table(row), 2, 2)),
    "ex3.cov": lambda row: float(Fraction(table(row).both, table(row).total) - table(row).truth ** 2),
    "tab4.3.": lambda row: PUBLISHED_COUNTS[row["id"].removeprefix("tab4.3.")][1] / row["n"],
    "4.3.3.region": lambda row: no_gain_width(row["n"]),
    "4.6.3.mse_ratio.": published_ratio,
    "4.6.2.kosarak80.": kosarak,
    "4.3.4.threshold.": threshold,
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_golden_value(row: dict[str, Any]) -> None:
    found = [compute for prefix, compute in COMPUTE.items() if row["id"].startswith(prefix)]
    assert len(found) == 1
    value, wanted = found[0]({"id": row["id"], **row["inputs"]}), row["value"]
    assert value == pytest.approx(wanted, rel=1e-6, abs=1e-9)


def test_the_published_data_sets_are_those_of_the_table() -> None:
    for row in ROWS:
        if row["id"].startswith("tab4.3."):
            assert PUBLISHED_COUNTS[row["id"].removeprefix("tab4.3.")] == (row["inputs"]["n"], row["inputs"]["n1"])


@pytest.mark.parametrize(("epsilon", "collusion"), [(0.1, 0.35), (1, 2), (2, math.inf)])
def test_the_integer_table_has_the_closed_correlation(epsilon: float, collusion: float) -> None:
    pair = published_pair(epsilon) if math.isinf(collusion) else bounded_pair(epsilon, collusion)
    assert float(pair.correlation) == pytest.approx(bounded_correlation(epsilon, collusion), rel=1e-12)
