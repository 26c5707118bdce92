"""The law of a pair in integers."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from deniable.core import Epsilon, Pair
from deniable.errors import InvalidParameter
from deniable.privacy import ScriptedCoins
from deniable.studies import Thresholds, bounded_pair

GOLDEN = json.loads((Path(__file__).parents[3] / "golden" / "golden.json").read_text())
ROWS = [row for row in GOLDEN if row["id"].startswith("2PC.")]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_golden_thresholds(row: dict[str, Any]) -> None:
    law = Thresholds.of(row["inputs"]["p"], row["inputs"]["rho"])
    assert [str(value) for value in (law.first, law.second, law.third)] == row["value"]


def test_there_are_golden_rows() -> None:
    assert len(ROWS) >= 2


def test_floors_never_favour_the_truth() -> None:
    for p, rho in ((Fraction(4, 5), Fraction(-1, 5)), (Fraction(7, 10), Fraction(-1, 3)), (Fraction(3, 5), Fraction(0))):
        law = Thresholds.of(p, rho)
        assert law.marginal_ratio <= p / (1 - p)
        exact = (1 - rho) * p / ((1 - p) + rho * p)
        assert law.known_pairing_ratio is not None
        if rho < 0:
            assert law.known_pairing_ratio <= exact
        assert math.isclose(law.known_pairing_ratio, exact, rel_tol=1e-15)


def test_half_open_intervals_decide_both_indicators() -> None:
    law = Thresholds.of("3/4", "-1/6")
    assert law.indicators(0) == law.indicators(law.first - 1) == (True, True)
    assert law.indicators(law.first) == law.indicators(law.second - 1) == (True, False)
    assert law.indicators(law.second) == law.indicators(law.third - 1) == (False, True)
    assert law.indicators(law.third) == law.indicators(2**64 - 1) == (False, False)
    assert sum(law.weights) == 2**64


def test_alone_has_the_same_marginal() -> None:
    law = Thresholds.of("3/4", "-1/6")
    assert law.alone(ScriptedCoins([law.second - 1]))
    assert not law.alone(ScriptedCoins([law.second]))


def test_full_anticorrelation_has_no_bound() -> None:
    assert Thresholds.of("1/2", -1).known_pairing_ratio is None


@pytest.mark.parametrize(("p", "rho"), [(1, 0), ("0.4", 0), ("3/4", "-1/2"), ("3/4", 2), ("x", 0), ("3/4", float("nan"))])
def test_parameters_out_of_range_are_refused(p: Any, rho: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"p must|rho must"):
        Thresholds.of(p, rho)


def test_thresholds_must_rise() -> None:
    for values in ((2, 1, 3), (0, 0, 5), (0, 2**64, 2**64), (-1, 1, 2)):
        with pytest.raises(InvalidParameter):
            Thresholds(*values)


def test_tables_and_thresholds_are_the_same_law() -> None:
    table = bounded_pair(1, 2)
    law = Thresholds.of_table(table)
    assert law.table == table
    assert law.known_pairing_ratio == Fraction(table.one, table.neither)
    assert Epsilon(2).allows(law.known_pairing_ratio)
    assert Epsilon(1).allows(law.marginal_ratio)
    with pytest.raises(InvalidParameter, match="add up"):
        Thresholds.of_table(Pair.exactly("3/4", 0))
    with pytest.raises(InvalidParameter, match="same chance"):
        _ = Thresholds(5, 10, 2**63).table
