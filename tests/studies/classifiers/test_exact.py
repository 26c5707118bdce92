"""Exact rho against a million draws of the mechanisms themselves, for six mechanisms at epsilon 1 … 8.

The coins are fixed. Fresh coins would put one of the 192 comparisons outside its 99.9 % interval in one run out of
six; so there is a second check, of all comparisons together, whose false-alarm rate is below 1e-6 for any coins.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from deniable.batch import Floats, draw_many
from deniable.core import analytic_sigma, exact_sigma, published_sigma
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import clopper_pearson
from deniable.privacy import FixedKeystream, binomial_tail
from deniable.studies import (
    Box,
    Cells,
    Feature,
    Perturbation,
    Utility,
    data_utility,
    exact_region,
    exact_utility,
    is_exact_model,
    perturbations,
    product_law,
    proved_box,
    utility,
)
from deniable.studies.classifiers.linear import linear_region

DRAWS = 1_000_000
MECHANISMS: dict[str, dict[str, Any]] = {
    "ogpm": {},
    "sw": {},
    "k-rr": {},
    "exponential": {},
    "laplace": {},
    "gaussian": {"delta": "0.1", "sigma": "exact"},
}
SENSITIVE = [0, 2]
FEATURES = [Feature(0, 100), Feature(10, 60)]


@cache
def data() -> tuple[Floats, NDArray[np.int64]]:
    """Something like a stroke register: age, a yes-or-no, body mass, a level."""
    source = np.random.Generator(np.random.PCG64(7))
    rows = np.column_stack(
        [
            source.uniform(0, 100, 500).round(),
            source.integers(0, 2, 500),
            source.uniform(15, 50, 500).round(1),
            source.uniform(50, 250, 500),
        ]
    )
    risk = rows[:, 0] / 18 + rows[:, 1] + rows[:, 2] / 15 + rows[:, 3] / 100 - 7 + source.normal(size=500)
    return rows, (risk > 0).astype(np.int64)


@cache
def model(kind: str) -> Any:
    chosen = (
        make_pipeline(StandardScaler(), LogisticRegression())
        if kind == "logistic regression"
        else RandomForestClassifier(100, max_depth=6, random_state=0)
    )
    return chosen.fit(*data())


@cache
def region(kind: str, number: int) -> Any:
    return exact_region(model(kind), data()[0][number], SENSITIVE)


RECORDS = (3, 17)


def settings(name: str, epsilon: int, number: int) -> tuple[tuple[Perturbation, ...], list[float]]:
    record = data()[0][number]
    return perturbations(name, FEATURES, epsilon, **MECHANISMS[name]), [float(record[column]) for column in SENSITIVE]


@cache
def forest_answers(number: int) -> dict[int, bool]:
    return {}


@cache
def thresholds() -> list[Floats]:
    """All thresholds of the forest along each sensitive feature."""
    trees = [tree.tree_ for tree in model("forest").estimators_]
    return [np.unique(np.concatenate([tree.threshold[tree.feature == column] for tree in trees])) for column in SENSITIVE]


def kept_by_forest(number: int, draws: Floats) -> int:
    """How many draws the forest answers as before: asked once per cell of its own thresholds, at the first draw there."""
    forest, record = model("forest"), data()[0][number]
    cells = np.zeros(len(draws), dtype=np.int64)
    for axis, edges in enumerate(thresholds()):
        cells = cells * (edges.size + 1) + np.searchsorted(edges, draws[:, axis].astype(np.float32).astype(np.float64), "left")
    counts = np.bincount(cells)
    first = np.empty(counts.size, dtype=np.int64)
    first[cells[::-1]] = np.arange(len(draws))[::-1]
    known = forest_answers(number)
    met = np.flatnonzero(counts).tolist()
    new = [cell for cell in met if cell not in known]
    if new:
        rows = np.repeat(record[None], len(new), axis=0)
        rows[:, SENSITIVE] = draws[first[new]]
        same = forest.predict(rows) == forest.predict(record[None])[0]
        known.update(zip(new, same.tolist(), strict=True))
    return int(sum(counts[cell] for cell in met if known[cell]))


def kept_by_line(number: int, draws: Floats) -> int:
    record = data()[0][number]
    rows = np.repeat(record[None], len(draws), axis=0)
    rows[:, SENSITIVE] = draws
    line = model("logistic regression")
    return int(np.count_nonzero(line.predict(rows) == line.predict(record[None])[0]))


@cache
def compared(name: str) -> list[tuple[str, int, Utility, int]]:
    """Model, epsilon, exact rho and how many of a million draws kept the answer, for both models and both records."""
    found = []
    for number in RECORDS:
        for epsilon in range(1, 9):
            chosen, values = settings(name, epsilon, number)
            law = product_law(chosen, values)
            stream = FixedKeystream(f"rho of {name} at {epsilon}, record {number}")
            columns = [
                one.decode(draw_many(one.mechanism.channel, np.full(DRAWS, one.index(value)), stream))
                for one, value in zip(chosen, values, strict=True)
            ]
            draws = np.column_stack(columns)
            for kind, kept in (("logistic regression", kept_by_line), ("forest", kept_by_forest)):
                found.append((kind, epsilon, utility(region(kind, number), law), kept(number, draws)))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_exact_rho_lies_in_the_interval_of_a_million_draws(name: str) -> None:
    for kind, epsilon, rho, kept in compared(name):
        assert rho.kind == "exact", (kind, epsilon)
        low, high = clopper_pearson(np.array([kept]), DRAWS, 0.0005)
        assert low[0] <= rho.value <= high[0], (kind, epsilon)


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_no_comparison_is_far_off_for_any_coins(name: str) -> None:
    """32 comparisons, each alarmed with probability 3e-8: below 1e-6 together."""
    assert all(binomial_tail(kept, DRAWS, rho.value) > 3e-8 for _, _, rho, kept in compared(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_valid_bounds_never_exceed_rho(name: str) -> None:
    rows = data()[0]
    for number in RECORDS:
        line = linear_region(model("logistic regression"), rows[number], SENSITIVE)
        point = [float(rows[number][column]) for column in SENSITIVE]
        straight = proved_box(line.holds_in, point, [0, 10], [100, 60]).box
        cells = region("forest", number)
        assert isinstance(cells, Cells)
        place = [int(np.searchsorted(edge, np.float32(x))) for edge, x in zip(cells.edges, point, strict=True)]
        boxes = {"logistic regression": straight, "forest": cells.box_around(place)}
        bounds = []
        for kind, box in boxes.items():
            assert isinstance(box, Box)
            for epsilon in range(1, 9):
                law = product_law(*settings(name, epsilon, number))
                bound = utility(box, law).lower
                assert bound <= utility(region(kind, number), law).lower + 1e-9
                bounds.append(bound)
        assert max(bounds) > 0.1


@pytest.mark.slow
def test_a_data_set_has_an_average_and_a_worst_record() -> None:
    rows = data()[0][:40]
    chosen = perturbations("ogpm", [Feature(0, 100), Feature(10, 60)], 4)
    found = data_utility(model("logistic regression"), rows, SENSITIVE, chosen)
    each = [exact_utility(model("logistic regression"), row, SENSITIVE, chosen).value for row in rows[:5]]
    assert found.values[:5] == pytest.approx(each, abs=1e-12)
    assert found.average.value == pytest.approx(found.values.mean())
    assert found.worst.value == found.values.min() == found.values[found.worst_record]
    assert found.average.kind == found.worst.kind == "exact"
    low, high = found.population(0.95)
    assert low < found.average.value < high
    assert high - low < 1


def test_the_population_interval_misses_as_seldom_as_it_says() -> None:
    """400 samples of 60 values with a known mean: more than 40 misses at 95 % would be a 1e-5 event, and it misses none."""
    from deniable.studies.classifiers.exact_models import DataUtility

    source = np.random.Generator(np.random.PCG64(2))
    samples = source.beta(0.5, 0.2, (400, 60))
    misses = 0
    for values in samples:
        low, high = DataUtility(values, values, values).population(0.95)
        misses += not low <= 0.5 / 0.7 <= high
    assert misses <= 20
    with pytest.raises(InvalidParameter, match="confidence"):
        DataUtility(samples[0], samples[0], samples[0]).population(1)


def test_trees_share_a_region_between_records_that_differ_in_sensitive_features_only() -> None:
    rows = np.repeat(data()[0][[3]], 3, axis=0)
    rows[:, 0] = [20, 50, 90]
    chosen = perturbations("k-rr", FEATURES, 3)
    found = data_utility(model("forest"), rows, SENSITIVE, chosen)
    assert found.values == pytest.approx([exact_utility(model("forest"), row, SENSITIVE, chosen).value for row in rows], abs=1e-12)


def test_the_privacy_indicator_adds_its_share_of_raw_records() -> None:
    chosen, values = settings("ogpm", 2, 3)
    rho = utility(region("forest", 3), product_law(chosen, values)).value
    # One indicator per feature instead, as the registered mechanism has it: raw and perturbed features mix.
    around = [
        feature.perturbed_by("privacy-indicator", 2, mechanism=one.mechanism, delta="0.1", publish_raw_values=True)
        for feature, one in zip(FEATURES, chosen, strict=True)
    ]
    mixed = utility(region("forest", 3), product_law(around, values)).value
    alone = [utility(region("forest", 3), product_law([around[0], chosen[1]], values)).value]
    assert rho < alone[0] < mixed


def test_the_three_gaussians_are_told_apart() -> None:
    sigmas = {"published": published_sigma(1, 0.1), "exact": exact_sigma(1, 0.1), "analytic": analytic_sigma(1, 0.1)}
    assert sigmas["analytic"] < sigmas["exact"] < sigmas["published"]
    values = settings("gaussian", 1, 3)[1]
    rhos = {}
    for rule, sigma in sigmas.items():
        chosen = perturbations("gaussian", FEATURES, 1, delta="0.1", sigma=rule)
        lattice = float(chosen[0].mechanism.least_sigma)  # type: ignore[attr-defined]
        assert lattice == pytest.approx(sigma, abs=2e-5)
        rhos[rule] = utility(region("forest", 3), product_law(chosen, values)).value
    assert len({round(rho, 6) for rho in rhos.values()}) == 3


def test_what_is_exact_and_what_is_not() -> None:
    from sklearn.neighbors import KNeighborsClassifier

    neighbours = KNeighborsClassifier().fit(*data())
    assert not is_exact_model(neighbours)
    assert is_exact_model(model("forest"))
    assert is_exact_model(model("logistic regression"))
    with pytest.raises(NotSupported, match="cannot be computed exactly"):
        exact_region(neighbours, data()[0][0], SENSITIVE)
    with pytest.raises(InvalidParameter, match="one row per record"):
        data_utility(model("forest"), data()[0][0], SENSITIVE, perturbations("ogpm", FEATURES, 1))


def test_a_larger_epsilon_can_be_worse() -> None:
    """rho need not rise with epsilon: near a boundary, a narrower window may fall on the wrong side of it."""
    law_at = [product_law(perturbations("ogpm", [Feature()], epsilon), [0.5]) for epsilon in (1, 3)]
    halves = Cells((np.array([0.45, 0.55]),), np.array([True, False, True]))
    less, more = (utility(halves, law).value for law in law_at)
    assert more < less - 0.05
