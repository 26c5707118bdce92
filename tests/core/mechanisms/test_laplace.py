"""Noise that is added: Laplace, staircase, bounded Laplace, Gaussian; and the privacy indicator."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from deniable.core import (
    OGPM,
    Interval,
    Laplace,
    NumericMechanism,
    analytic_sigma,
    column_ratio,
    exact_sigma,
    mechanism_from_recipe,
    published_sigma,
)
from deniable.core.mechanisms.numeric._gaussian_sigma import gaussian_delta
from deniable.core.mechanisms.numeric.bounded_laplace import BoundedLaplace
from deniable.core.mechanisms.numeric.gaussian import Gaussian
from deniable.core.mechanisms.numeric.privacy_indicator import PrivacyIndicator
from deniable.core.mechanisms.numeric.staircase import Staircase
from deniable.core.mechanisms.numeric.truncated_laplace import TruncatedLaplace
from deniable.errors import InvalidParameter

GOLDEN = {row["id"]: row for row in json.loads((Path(__file__).parents[2] / "golden" / "golden.json").read_text())}


def error(mechanism: NumericMechanism, index: int, power: int = 1, value: float | None = None) -> float:
    place = float(mechanism.grid.position(index)) if value is None else value
    channel, position = mechanism.channel, mechanism.reading.position
    return sum(w * abs(float(position(y)) - place) ** power for y, w in enumerate(channel.row(index))) / channel.total


def rows(prefix: str) -> list[Any]:
    return [pytest.param(row, id=row["id"]) for row in GOLDEN.values() if row["id"].startswith(prefix)]


@pytest.mark.parametrize("kind", [Laplace, TruncatedLaplace, Staircase])
@pytest.mark.parametrize("epsilon", ["1e-9", "1e-3", 0.1, 1, 3, 12, 20])
@pytest.mark.parametrize("points", [2, 7])
def test_weights_one_domain_apart_stay_within_epsilon_by_construction(kind: type[Laplace], epsilon: Any, points: int) -> None:
    mechanism = kind(epsilon=epsilon, points=points)
    channel = mechanism.channel
    ratio = channel.max_ratio()
    assert ratio == column_ratio(channel)
    assert ratio is not None
    assert mechanism.privacy.allows(ratio)
    assert all(sum(channel.row(x)) == channel.total for x in range(channel.inputs))


def test_laplace_law_is_geometric_in_the_distance() -> None:
    mechanism = Laplace(epsilon=2, points=8)
    row = list(mechanism.channel.row(4))
    centre = 4 + 8 * mechanism.widths
    for d in range(20):
        assert row[centre + d] == row[centre - d]
        assert row[centre + d] / row[centre] == pytest.approx(math.exp(-2 * d / 8), rel=1e-9)


def test_laplace_has_its_textbook_errors() -> None:
    mechanism = Laplace(epsilon=1, points=256)
    assert error(mechanism, 128) == pytest.approx(1, rel=1e-3)
    assert error(mechanism, 128, 2) == pytest.approx(2, rel=2e-3)


@pytest.mark.parametrize("row", rows("tlap.worst."))
def test_truncated_laplace_has_the_golden_worst_error(row: dict[str, Any]) -> None:
    mechanism = TruncatedLaplace(epsilon=row["inputs"]["eps"])
    assert max(error(mechanism, i * 64) for i in range(17)) == pytest.approx(row["value"], rel=1e-3)


def test_truncated_laplace_stays_in_the_domain() -> None:
    mechanism = TruncatedLaplace(domain=Interval(10, 20), epsilon=1, points=8)
    assert [mechanism.decode(0), mechanism.decode(mechanism.channel.outputs - 1)] == [10, 20]


@pytest.mark.parametrize("epsilon", [1, 2, 4])
def test_staircase_has_the_published_absolute_error(epsilon: float) -> None:
    h = math.exp(epsilon / 2)
    assert error(Staircase(epsilon=epsilon), 512) == pytest.approx(h / (h * h - 1), rel=2e-3)
    assert math.exp(1) / math.expm1(2) == pytest.approx(GOLDEN["stair.L1.eps2"]["value"], rel=1e-9)


def test_staircase_steps_are_one_domain_long_and_one_epsilon_high() -> None:
    mechanism = Staircase(epsilon=2, points=10)
    row = list(mechanism.channel.row(5))
    centre = 5 + 10 * mechanism.widths
    levels = sorted(set(row[centre : centre + 35]), reverse=True)
    assert [row[centre : centre + 35].count(level) for level in levels] == [3, 10, 10, 10, 2]
    assert all(high == mechanism.privacy.floor(low) for high, low in pairwise(levels))


@pytest.mark.parametrize("row", [*rows("blap.worst."), *rows("blap.err.mid.")])
def test_bounded_laplace_has_the_golden_errors(row: dict[str, Any]) -> None:
    mechanism = BoundedLaplace(epsilon=row["inputs"]["eps"])
    if "x" in row["inputs"]:
        assert error(mechanism, 128) == pytest.approx(row["value"], rel=3e-3)
    else:
        worst = error(mechanism, 0, value=0.0)
        assert worst == pytest.approx(row["value"], rel=1e-3)
        assert worst > max(error(mechanism, 5 * i) for i in range(52))


@pytest.mark.parametrize("epsilon", ["1e-9", "1e-6", 0.1, 1, 20])
def test_bounded_laplace_needs_no_more_than_epsilon(epsilon: Any) -> None:
    assert BoundedLaplace(epsilon=epsilon, points=40).certificate().holds


@pytest.mark.parametrize(
    ("prefix", "formula"),
    [("T18.sigma.", published_sigma), ("PAC.sigma_exact.", exact_sigma), ("AGM.sigma.", analytic_sigma)],
)
def test_sigma_formulas_equal_the_golden_values(prefix: str, formula: Any) -> None:
    found = [row for name, row in GOLDEN.items() if name.startswith(prefix)]
    assert len(found) >= 8
    for row in found:
        assert formula(row["inputs"]["eps"], row["inputs"]["delta"]) == pytest.approx(row["value"], rel=1e-9)


@pytest.mark.parametrize("sigma", ["analytic", "exact", "published"])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, "0.1"), (2, "0.001"), (8, "1e-6")])
def test_gaussian_delta_is_summed_exactly_and_holds(sigma: str, epsilon: float, delta: str) -> None:
    mechanism = Gaussian(epsilon=epsilon, delta=delta, sigma=sigma, points=64)
    certificate = mechanism.certificate()
    assert certificate.holds
    assert certificate.delta > 0
    real = gaussian_delta(float(mechanism.least_sigma), epsilon)
    assert float(certificate.delta_exact) == pytest.approx(real, rel=0.02)


def test_gaussian_delta_is_the_worst_over_all_pairs_of_inputs() -> None:
    mechanism = Gaussian(epsilon=2, delta="0.1", points=4)
    channel, ratio = mechanism.channel, mechanism.privacy.bounds()[0]
    table = [list(channel.row(x)) for x in range(channel.inputs)]
    every = (sum(max(Fraction(0), a - ratio * b) for a, b in zip(p, q, strict=True)) / channel.total for p in table for q in table)
    assert max(every) == mechanism.delta_exact()


def test_gaussian_noise_has_its_sigma() -> None:
    mechanism = Gaussian(epsilon=1, delta="0.01", points=64)
    assert math.sqrt(error(mechanism, 32, 2)) == pytest.approx(float(mechanism.least_sigma), rel=1e-3)


def test_gaussian_enlarges_sigma_when_a_coarse_lattice_spends_more() -> None:
    for points in (2, 3, 5):
        assert Gaussian(epsilon=8, delta="0.001", points=points).certificate().holds


@pytest.mark.parametrize("bad", [{"delta": 0}, {"delta": 0.5}, {"delta": "x"}, {"delta": 0.1, "sigma": "none"}])
def test_gaussian_refuses_bad_parameters(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter, match=r"delta|sigma"):
        Gaussian(epsilon=1, **bad)


def test_privacy_indicator_must_be_asked_for_loudly() -> None:
    base = OGPM(domain=Interval(0, 1, cells=8), epsilon=1)
    with pytest.raises(InvalidParameter, match="RAW"):
        PrivacyIndicator(domain=base.domain, epsilon=1, mechanism=base, delta=0.1)


def test_privacy_indicator_publishes_the_raw_value_with_exactly_its_share() -> None:
    base = OGPM(domain=Interval(0, 1, cells=8), epsilon=1)
    mechanism = PrivacyIndicator(domain=base.domain, epsilon=1, mechanism=base, delta=0.1, publish_raw_values=True)
    channel = mechanism.channel
    for x in range(8):
        assert Fraction(channel.weight(x, 8 + x), channel.total) == mechanism.delta_exact() <= Fraction(0.1)
        assert mechanism.decode(8 + x) == base.domain.decode(x)
    assert channel.max_ratio() is None
    assert mechanism_from_recipe(mechanism.recipe()) == mechanism


def test_privacy_indicator_refuses_another_epsilon_or_domain() -> None:
    base = OGPM(domain=Interval(0, 1, cells=8), epsilon=1)
    for domain, epsilon in ((base.domain, 2), (Interval(0, 2, cells=8), 1)):
        with pytest.raises(InvalidParameter, match="same domain and epsilon"):
            PrivacyIndicator(domain=domain, epsilon=epsilon, mechanism=base, delta=0.1, publish_raw_values=True)


def test_points_are_refused_when_the_lattice_would_be_too_long() -> None:
    with pytest.raises(InvalidParameter, match="points must be at most"):
        Laplace(epsilon="0.1", points=1 << 16)
    with pytest.raises(InvalidParameter, match="points"):
        Laplace(epsilon=1, points=1)
