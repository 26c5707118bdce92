"""The numbers inside the artifacts agree with golden values and with other ways of computing them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable_reproduce.artifact import Run
from deniable_reproduce.catalogue import find
from deniable_reproduce.joint_error import GRID, JOINT, PLAIN, errors, mean_relative_error, share_of_sums, share_of_sums_error
from deniable_reproduce.run import compute
from deniable_reproduce.verdict import RELEASED, REPRODUCED

GOLDEN = {
    row["id"]: row
    for row in json.loads((Path(__file__).parents[2] / "tests" / "golden" / "golden.json").read_text(encoding="utf-8"))
}


def numbers(name: str) -> dict[str, Any]:
    found: dict[str, Any] = compute(find(name), Run())["numbers"]
    return found


def test_average_errors_are_the_golden_ones() -> None:
    found = numbers("figure-5.8")
    for other, golden in (("PM-C", "PM"), ("SW-C", "SW")):
        for epsilon in (2, 4):
            value = GOLDEN[f"5.6.1.L1.{golden}.eps{epsilon}"]["value"]
            # The golden values average over a grid with both ends, ours over the interval.
            assert found[f"average error, OGPM / {other}, ε = {epsilon}"] == pytest.approx(value, abs=1e-3)


def test_worst_case_ratios_are_the_golden_ones() -> None:
    found = numbers("figure-5.9")
    assert found["squared error, squared-error window / PM-C"] == pytest.approx(GOLDEN["5.6.1.worstL2.PM.L2opt"]["value"], rel=1e-4)
    assert found["squared error, OGPM / SW-C"] == pytest.approx(GOLDEN["5.6.1.worstL2.SW"]["value"], rel=1e-4)


def test_the_posters_regimes_are_the_golden_ones() -> None:
    found = numbers("poster-regimes")
    for name, golden in (("k = 4", "kairouz.B.thresholds"), ("k = 6", "kairouz.C.thresholds")):
        low, high = GOLDEN[golden]["value"]
        assert found[f"binary is best up to ε, {name}"] == pytest.approx(low, abs=0.02)
        assert found[f"k-RR is best from ε, {name}"] == pytest.approx(high, abs=0.02)


def test_three_epsilons_are_the_golden_ones() -> None:
    found = numbers("beyond-joint-three-epsilons")
    for m in (0, 1, 100, 500):
        value = GOLDEN[f"T3.eps_exact.n1e4.m{m}"]["value"]
        assert found[f"ε with a secret pairing, m = {m}"] == pytest.approx(value, rel=1e-7)


def test_one_bit_has_the_golden_variance() -> None:
    found = numbers("lecture-one-bit")["one bit: variance at x = 4, m = 10, ε = 1"]
    assert found == pytest.approx(GOLDEN["lec.1bit.var.eps1.m10.x4.0"]["value"], rel=1e-6)


def test_a_printed_number_that_cannot_be_is_not_called_reproduced() -> None:
    artifact = find("figure-5.9")
    verdicts = {verdict.name: verdict for verdict in artifact.verdicts(compute(artifact, Run()))}
    assert verdicts["squared error, OGPM / PM-C"].verdict != REPRODUCED
    assert "cubic" in verdicts["squared error, OGPM / PM-C"].why or "root" in verdicts["squared error, OGPM / PM-C"].why
    assert verdicts["squared error, OGPM / PM-C"].verdict == RELEASED


def test_the_share_of_sums_and_its_error_are_those_of_simulated_surveys() -> None:
    """40 batches of 25 surveys: their mean ratio is within 6 of its errors, their spread within a factor 2 of the stated one.

    A sample variance of 39 degrees of freedom is off by a factor 4 with probability below 1e-7; 6 errors are below 1e-8.
    """
    n, ones, batches, runs = 2_000, 20, 40, 25
    sums = {name: np.zeros(batches) for name in (PLAIN, JOINT)}
    for epsilon in GRID:
        for name, error in errors(Run(), epsilon, n, ones, batches * runs, "test").items():
            assert error.simulation is not None
            sums[name] += error.simulation.relative_errors.reshape(batches, runs).mean(axis=1)
    ratios = sums[JOINT] / sums[PLAIN]
    spread = share_of_sums_error(GRID, n, ones, runs)
    assert spread / 2 < ratios.std(ddof=1) < 2 * spread
    # The mean of a ratio is a little above the ratio of the means, by the square of the denominator's relative error.
    wanted = share_of_sums(GRID, n, ones)
    assert abs(ratios.mean() - wanted) < 6 * spread / math.sqrt(batches) + spread**2 / wanted


def test_mean_relative_errors_are_those_of_simulated_surveys() -> None:
    """1000 surveys: |Z| has relative spread 0.756, so 5.5 standard errors are 13 % (false alarm below 1e-7)."""
    n, ones, runs = 2_000, 200, 1_000
    for error in errors(Run(), 0.5, n, ones, runs, "test").values():
        assert error.simulation is not None
        found = float(error.simulation.relative_errors.mean())
        assert found == pytest.approx(mean_relative_error(error.mse, n, ones), rel=5.5 * 0.756 / math.sqrt(runs))
        assert abs(error.deviation) < 5.5
