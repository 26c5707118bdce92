"""One sample serves every mechanism and epsilon: unbiased, bounded weights, intervals that hold.

Tests that could fail by chance run on fixed keystreams; each would fail on fresh ones with probability below 1e-6.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.batch import Floats
from deniable.errors import InvalidParameter
from deniable.privacy import FixedKeystream
from deniable.studies import Feature, OutputLaw, Setting, drawn, groups, product_law, settings, shared
from deniable.studies.classifiers import strata
from deniable.studies.classifiers.intervals import Counted, Drawn, Pooled, Weighted, average, poisson_upper, worst
from deniable.studies.classifiers.sampling import Envelope
from deniable.studies.classifiers.strata import Strata, counted

SURE = 1e-8
PAIR = [Feature(0, 1), Feature(-1, 3)]
VALUES = [0.6, 0.2]
NAMES = ["ogpm", "sw", "k-rr", "exponential", "laplace"]


def inside_box(columns: Sequence[Floats]) -> NDArray[np.bool_]:
    """A model whose ρ is known: the answer is kept in the box [0.3, 2] x [-0.5, 1.5]."""
    return (columns[0] >= 0.3) & (columns[0] <= 2.0) & (columns[1] >= -0.5) & (columns[1] <= 1.5)


def truth(setting: Setting) -> float:
    return product_law(setting.perturbations, VALUES).probability([0.3, -0.5], [2.0, 1.5])


@pytest.fixture(scope="module")
def everything() -> list[Setting]:
    return settings(NAMES, range(1, 9), PAIR) + settings(["gaussian"], [1, 4], PAIR, gaussian={"delta": "0.1"})


@pytest.mark.slow
def test_settings_share_a_group_when_they_share_their_numbers(everything: list[Setting]) -> None:
    members = [{setting.mechanism for setting in group.settings} for group in groups(everything, VALUES)]
    assert {"ogpm", "sw"} in members
    assert {"k-rr", "exponential"} in members
    assert sum(len(group.settings) for group in groups(everything, VALUES)) == len(everything)


@pytest.mark.slow
def test_tables_are_the_laws_of_the_mechanisms(everything: list[Setting]) -> None:
    for group in groups(everything[::5], VALUES):
        for i, places in enumerate(group.places):
            table = group.table(i)
            assert np.abs(table.sum(axis=1) - 1).max() < 1e-9
            half = places.numbers.size // 2
            edge = places.edges[half] if places.edges is not None else places.numbers[half]
            for row, setting in zip(table, group.settings, strict=True):
                law = OutputLaw(setting.perturbations[i], VALUES[i])
                assert row[:half].sum() == pytest.approx(float(law.up_to([edge], strictly=True)[0]), abs=1e-9)


def test_places_move_reports_by_less_than_a_place() -> None:
    group = groups(settings(["ogpm", "sw"], [1, 8], PAIR), VALUES)[0]
    places = group.places[1]
    assert places.edges is not None
    reports = np.linspace(places.edges[0], places.edges[-1], 1001)
    moved = places.numbers[places.index(reports)]
    assert np.abs(moved - reports).max() <= 4 / 65536
    assert (np.diff(moved) >= 0).all()


def test_counting_every_point_gives_rho_itself() -> None:
    chosen = settings(["k-rr", "exponential"], [1, 4], PAIR)
    for setting, part in zip(chosen, counted(groups(chosen, VALUES)[0], inside_box), strict=True):
        assert part.estimate == pytest.approx(truth(setting), abs=1e-9)
        assert part.interval(SURE) == (part.estimate, part.estimate)


@pytest.mark.slow
def test_one_sample_is_right_about_every_mechanism_and_epsilon(everything: list[Setting]) -> None:
    found = shared(inside_box, VALUES, everything, evaluations=20_000, keystream=FixedKeystream("all"))
    for setting, part in zip(everything, found, strict=True):
        low, high = part.interval(SURE)
        # Moving reports to places shifts the box's edges by at most a place: 3e-4 of probability at epsilon = 8.
        assert low - 1e-3 <= truth(setting) <= high + 1e-3, setting.mechanism
        usual = part.interval(0.05)
        assert usual[1] - usual[0] < 0.02, setting.mechanism


def repeated(runs: int, size: int) -> Iterator[list[Weighted]]:
    chosen = settings(["ogpm", "sw"], [1, 4, 8], PAIR)
    sampler = Strata(groups(chosen, VALUES)[0])
    for run in range(runs):
        sampler._hint = None
        sampled = sampler.sample(inside_box, size, FixedKeystream(run))
        yield [part for part in sampled if isinstance(part, Weighted)]


def test_weighted_estimates_are_unbiased_and_their_intervals_hold() -> None:
    chosen = settings(["ogpm", "sw"], [1, 4, 8], PAIR)
    runs = list(repeated(400, 300))
    for j, setting in enumerate(chosen):
        rho = truth(setting)
        rights = np.array([run[j].right for run in runs])
        totals = np.array([run[j].total for run in runs])
        for sums, mean in ((rights, rho), (totals, 1.0)):
            # Six standard errors: 2e-9 a test. 1e-3 is what moving reports to places may do.
            assert abs(sums.mean() - mean) < 6 * sums.std() / math.sqrt(len(runs)) + 1e-3
        misses = sum(not low <= rho <= high for low, high in (run[j].interval(0.2) for run in runs))
        # Bin(400, 0.2) reaches 125 with probability 1e-7.
        assert misses < 125
        # Pairs estimate the variance of the sum without bias.
        pairs = np.mean([run[j].pairs for run in runs], axis=0)
        assert 0.7 < pairs[0] / rights.var() < 1.45
        assert 0.7 < pairs[2] / totals.var() < 1.45
        assert abs(pairs[1] - np.cov(rights, totals)[0, 1]) < 0.35 * math.sqrt(pairs[0] * pairs[2])


def test_no_weight_exceeds_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []
    plain = strata._pair_sums

    def watched(weights: Floats, kept: NDArray[np.bool_]) -> tuple[float, ...]:
        seen.append(float(weights.max()))
        found: tuple[float, ...] = plain(weights, kept)
        return found

    monkeypatch.setattr(strata, "_pair_sums", watched)
    chosen = settings(["ogpm", "sw"], [1, 8], PAIR)
    sampler = Strata(groups(chosen, VALUES)[0])
    for size in (500, 4_000):
        seen.clear()
        found = sampler.sample(inside_box, size, FixedKeystream(size))
        for weight, part in zip(seen, found, strict=True):
            assert isinstance(part, Weighted)
            assert weight <= part.largest * (1 + 1e-9)
            assert part.largest * size < 40


def test_draws_from_the_envelope_are_draws_of_every_setting() -> None:
    five = [Feature(0, 1)] * 5
    values = [0.1, 0.3, 0.5, 0.7, 0.9]
    chosen = settings(["ogpm"], [1, 2, 4], five) + settings(["k-rr"], [1, 3], five)

    def kept(columns: Sequence[Floats]) -> NDArray[np.bool_]:
        return (columns[0] <= 0.4) & (columns[4] >= 0.5)

    found = shared(kept, values, chosen, evaluations=6_000, keystream=FixedKeystream("envelope"))
    for setting, part in zip(chosen, found, strict=True):
        assert isinstance(part, Drawn)
        first, last = setting.perturbations[0], setting.perturbations[4]
        rho = OutputLaw(first, 0.1).probability(-1, 0.4) * OutputLaw(last, 0.9).probability(0.5, 2)
        low, high = part.interval(SURE)
        assert low - 2e-3 <= rho <= high + 2e-3
        assert part.kept.size > 6_000 / 4


def test_what_a_setting_keeps_follows_its_law() -> None:
    chosen = settings(["ogpm"], [2, 3, 4, 5], [Feature(0, 1)] * 4)
    group = groups(chosen, [0.5] * 4)[0]
    parts = Envelope(group).sample(lambda columns: np.abs(columns[2] - 0.5) <= 0.05, 30_000, FixedKeystream("law"))
    for setting, part in zip(chosen, parts, strict=True):
        assert isinstance(part, Drawn)
        expected = OutputLaw(setting.perturbations[2], 0.5).probability(0.45, 0.55)
        # Six standard errors, and half a place at either end.
        error = 6 * math.sqrt(expected * (1 - expected) / part.kept.size)
        assert abs(part.estimate - expected) < error + 2e-3


def test_plain_draws_use_the_mechanism_itself() -> None:
    setting = settings(["laplace"], [2], PAIR)[0]
    part = drawn(inside_box, VALUES, setting, 40_000, FixedKeystream("plain"))
    low, high = part.interval(SURE)
    assert low <= truth(setting) <= high
    assert high - low < 0.03


def test_a_width_that_is_asked_for_is_reached_with_fewer_answers() -> None:
    chosen = settings(["ogpm", "laplace"], [1, 4, 8], PAIR)
    asked = 0

    def counting(columns: Sequence[Floats]) -> NDArray[np.bool_]:
        nonlocal asked
        asked += len(columns[0])
        return inside_box(columns)

    found = shared(counting, VALUES, chosen, evaluations=200_000, width=0.02, keystream=FixedKeystream("width"))
    assert max(high - low for low, high in (part.interval(0.05) for part in found)) < 0.025
    assert asked < 60_000


def test_more_draws_than_alone_are_worth_one_shared_sample() -> None:
    chosen = settings(["laplace", "gaussian"], range(1, 9), PAIR, gaussian={"delta": "0.1"})
    found = shared(inside_box, VALUES, chosen, evaluations=10_000, keystream=FixedKeystream("worth"))
    worth = 0.0
    for part in found:
        low, high = part.interval(0.05)
        rho = part.estimate
        worth += 4 * 1.96**2 * rho * (1 - rho) / (high - low) ** 2
    # What plain draws would have to be taken, for intervals as wide, beside what was asked.
    assert worth > 20 * 10_000


def test_averages_and_worst_cases_hold_for_all_records_together() -> None:
    parts = [Counted(0.5), Counted(0.7, 0, 0.69, 0.71, "certified")]
    both = average(parts)
    assert both.estimate == pytest.approx(0.6)
    assert both.interval(0.05) == pytest.approx((0.595, 0.605))
    assert worst(parts, 0.05)[:2] == (0.5, 0.5)
    tosses = [Drawn(np.arange(1000) < 900, 1000), Drawn(np.arange(1200) < 600, 1200)]
    pooled = average(tosses)
    assert isinstance(pooled, Pooled)
    assert pooled.kept.size == 2000
    least = worst(tosses, 0.05)
    assert least[0] == 0.5
    # Each of the two gets half of the allowed error.
    assert least[1] == tosses[1].interval(0.025)[0]
    with pytest.raises(InvalidParameter):
        average([*tosses, *parts])
    with pytest.raises(InvalidParameter):
        average([])


def test_averages_of_weighted_samples_are_narrower_and_right() -> None:
    chosen = settings(["ogpm"], [2], PAIR)
    group = groups(chosen, VALUES)[0]
    parts = [Strata(group).sample(inside_box, 2_000, FixedKeystream(i))[0] for i in range(8)]
    together, alone = average(parts), parts[0]
    (low, high), (first, last) = together.interval(SURE), alone.interval(SURE)
    assert low - 1e-3 <= truth(chosen[0]) <= high + 1e-3
    assert high - low < 0.6 * (last - first)


def test_an_empty_or_wild_sample_says_nothing() -> None:
    assert Drawn(np.empty(0, dtype=bool), 0).interval(0.05) == (0.0, 1.0)
    assert Weighted(1.0, 1.0, (9.0, 9.0, 9.0), 1.0, 2).interval(0.05) == (0.0, 1.0)
    assert Weighted(0.0, 0.0, (0.0, 0.0, 0.0), 0.1, 2).interval(0.05) == (0.0, 1.0)


@pytest.mark.parametrize("seen", [0.0, 0.3, 5.0, 4000.0])
def test_the_bound_of_a_poisson_mean_solves_its_equation(seen: float) -> None:
    mean = poisson_upper(seen, 4.0)
    left = mean - seen + (seen * math.log(seen / mean) if seen else 0.0)
    assert left == pytest.approx(4.0, rel=1e-6)


def test_bad_requests_are_refused() -> None:
    chosen = settings(["k-rr"], [1], PAIR)
    for options in ({"evaluations": 1}, {"evaluations": True}, {"width": 0.0}):
        with pytest.raises(InvalidParameter):
            shared(inside_box, VALUES, chosen, **options)
    with pytest.raises(InvalidParameter):
        shared(inside_box, [0.5], chosen)
    with pytest.raises(InvalidParameter):
        settings([], [1], PAIR)
