"""Claims about the published path perturbations: the privacy of everything they give away, by enumeration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.core import Epsilon, Rectangle
from deniable.errors import InvalidEpsilon, InvalidParameter, OutOfDomain
from deniable.privacy import FixedCoins, FixedKeystream, exact_law, goodness_of_fit
from deniable.studies import ATP, NGram, Paths, Places, draw_from, falling_weights
from deniable.studies.trajectories.baselines.base import extremes

ALARM = 1e-6
TOWN = Places([(0, 0), (10, 1), (1, 9), (9, 10)])
TRIANGLE = Places([(0, 0), (10, 0), (2, 7)])
Law = dict[tuple[int, ...], Fraction]


def row_law(weights: NDArray[np.int64]) -> list[Fraction]:
    total = int(weights.sum())
    return [Fraction(int(weight), total) for weight in weights.ravel()]


def worst(laws: dict[tuple[int, ...], Law], related: Callable[[tuple[int, ...], tuple[int, ...]], bool]) -> Fraction | None:
    """The largest ratio of an output's probability between related inputs; None when it is unbounded."""
    found = Fraction(1)
    for one, other in product(laws, laws):
        if not related(one, other):
            continue
        for output in laws[one]:
            if laws[one][output] > 0 and laws[other].get(output, 0) == 0:
                return None
            if laws[one][output]:
                found = max(found, laws[one][output] / laws[other][output])
    return found


def one_differs(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return sum(a != b for a, b in zip(one, other, strict=True)) == 1


def ngram_answers(mechanism: NGram, path: tuple[int, ...]) -> Law:
    """Every answer (two regions per location) of a path of two locations, with its exact probability."""
    first, second = (int(mechanism.region_of[place]) for place in path)
    begin, end = row_law(mechanism.single_table(first)), row_law(mechanism.single_table(second))
    pairs = row_law(mechanism.pair_table(first, second))
    regions = len(mechanism.members)
    return {
        (a, pair // regions, pair % regions, d): begin[a] * pairs[pair] * end[d]
        for a, pair, d in product(range(regions), range(regions**2), range(regions))
    }


def ngram_laws(mechanism: NGram) -> dict[tuple[int, ...], Law]:
    return {path: ngram_answers(mechanism, path) for path in product(range(len(mechanism.places)), repeat=2)}


@pytest.mark.parametrize("epsilon", [1, 4])
def test_all_that_ngram_gives_away_of_one_location_is_within_epsilon(epsilon: int) -> None:
    mechanism = NGram(places=TOWN, epsilon=epsilon, levels=2, reach=5)
    found = worst(ngram_laws(mechanism), one_differs)
    assert found is not None
    assert Epsilon(epsilon).allows(found)
    assert found <= mechanism.location_ratio()
    assert mechanism.certificate().holds


def test_all_that_ngram_gives_away_of_a_path_is_within_n_epsilon() -> None:
    mechanism = NGram(places=TOWN, epsilon=2, levels=2, reach=5)
    found = worst(ngram_laws(mechanism), lambda one, other: True)
    assert found is not None
    assert Epsilon(4).allows(found)
    assert not Epsilon(2).allows(found)


class NearTheTruth(NGram):
    """The unsound variant: only pairs whose first region is within reach of the true one are candidates."""

    def pair_table(self, first: int, second: int) -> NDArray[np.int64]:
        near = self.distances[first] < 0.8 * self.distances.max()
        return np.asarray(super().pair_table(first, second) * near[:, None], np.int64)


def test_candidates_that_depend_on_the_true_location_have_no_finite_epsilon() -> None:
    mechanism = NearTheTruth(places=TOWN, epsilon=2, levels=2, reach=5)
    assert worst(ngram_laws(mechanism), one_differs) is None


def test_ngram_draws_follow_the_enumerated_law() -> None:
    mechanism = NGram(places=TOWN, epsilon=6, levels=2, reach=0.95)
    path, coins, runs = np.array([0, 3]), FixedCoins(5), 6000
    law = ngram_answers(mechanism, (0, 3))
    seen = Counter(tuple(mechanism.answers(mechanism.region_of[path], coins).ravel().tolist()) for _ in range(runs))
    # The order of a row of answers is (alone, first of the pair, second of the pair, alone).
    outputs = [output for output, chance in law.items() if chance]
    common = 10**18
    weights = [int(law[output] * common) for output in outputs]
    assert set(seen) <= set(outputs)
    assert goodness_of_fit([seen[output] for output in outputs], weights) > ALARM


def test_a_rebuilt_path_is_the_nearest_one_within_reach() -> None:
    mechanism = NGram(places=TOWN, epsilon=1, levels=2, reach=0.95)
    regions = range(len(mechanism.members))
    answers = np.array([[0, 3], [3, 1], [2, 2]])

    def cost(path: tuple[int, ...]) -> float:
        allowed = all(mechanism.reachable[a, b] for a, b in pairwise(path))
        return sum(float(mechanism.distances[answers[i], r].sum()) for i, r in enumerate(path)) if allowed else np.inf

    best = min(product(regions, repeat=3), key=cost)
    rebuilt = mechanism.region_of[mechanism.rebuilt(answers, FixedCoins(1))]
    assert not mechanism.reachable.all()
    assert cost(tuple(rebuilt.tolist())) == pytest.approx(cost(best))


def test_regions_hold_equally_many_places() -> None:
    places = Places(np.random.default_rng(1).random((200, 2)) ** 3)
    sizes = [len(members) for members in NGram(places=places, epsilon=1, levels=4).members]
    assert len(sizes) == 16
    assert max(sizes) - min(sizes) <= 1


def atp_copy(mechanism: ATP, path: tuple[int, ...], first: int) -> Law:
    """Everything one copy gives away: pivots, told sectors and places, with exact probabilities."""
    law: Law = {}
    places, sectors = range(len(mechanism.places)), range(mechanism.sectors)
    pivots = [i for i in range(len(path)) if i % 2 == first]
    others = [i for i in range(len(path)) if i % 2 != first]
    pivot_laws = {i: row_law(mechanism.pivot_table(path[i])) for i in pivots}
    low, high, total = mechanism.direction.low, mechanism.direction.high, mechanism.direction.total
    for answered in product(places, repeat=len(pivots)):
        at = dict(zip(pivots, answered, strict=True))
        chance = Fraction(1)
        for i in pivots:
            chance *= pivot_laws[i][at[i]]
        states: list[tuple[tuple[int, ...], Fraction]] = [(answered, chance)]
        for i in others:
            tables = [mechanism.sectors_from(at[n]) for n in (i - 1, i + 1) if n in at]
            grown = []
            for told in product(sectors, repeat=len(tables)):
                said = Fraction(1)
                for table, sector in zip(tables, told, strict=True):
                    said *= Fraction(high if table[path[i]] == sector else low, total)
                row = row_law(mechanism.place_table(path[i], mechanism.candidates(list(zip(tables, told, strict=True)))))
                grown += [((*so_far, *told, y), p * said * row[y]) for so_far, p in states for y in places]
            states = grown
        law.update(states)
    return law


def atp_worst(mechanism: ATP, length: int) -> Fraction:
    """Both copies are drawn independently: their worst ratios for the same two paths multiply."""
    paths = list(product(range(len(mechanism.places)), repeat=length))
    laws = [{path: atp_copy(mechanism, path, first) for path in paths} for first in (0, 1)]
    found = Fraction(1)
    for one, other in product(paths, paths):
        if one_differs(one, other):
            ratio = Fraction(1)
            for copy in laws:
                largest = worst({one: copy[one], other: copy[other]}, lambda a, b: a != b)
                assert largest is not None
                ratio *= largest
            found = max(found, ratio)
    return found


@pytest.mark.parametrize(("epsilon", "length"), [(1, 1), (2, 2), (4, 3)])
def test_all_that_atp_gives_away_of_one_location_is_within_epsilon(epsilon: int, length: int) -> None:
    mechanism = ATP(places=TRIANGLE, epsilon=epsilon, sectors=3)
    found = atp_worst(mechanism, length)
    assert Epsilon(epsilon).allows(found)
    assert found <= mechanism.location_ratio()
    assert mechanism.certificate().holds


def test_a_forgotten_direction_in_the_bookkeeping_is_caught() -> None:
    mechanism = ATP(places=TRIANGLE, epsilon=4, sectors=3)
    # As if a location between two pivots told one direction only: the shares then add up to more than 1.
    object.__setattr__(mechanism, "shares", (Fraction(1, 5), Fraction(6, 10), Fraction(1, 5)))
    assert not mechanism.certificate().holds
    assert not Epsilon(4).allows(atp_worst(mechanism, 3))


def test_atp_draws_follow_the_enumerated_law() -> None:
    mechanism = ATP(places=TRIANGLE, epsilon=6, sectors=3)
    path, coins, runs = np.array([0, 2]), FixedCoins(9), 6000
    law = atp_copy(mechanism, (0, 2), 0)
    # A copy shows its two places; the told sector is between them.
    shown: Counter[tuple[int, int]] = Counter()
    for (pivot, _, place), chance in law.items():
        shown[pivot, place] += chance  # type: ignore[assignment]
    seen = Counter(tuple(mechanism.copy(path, 0, coins).tolist()) for _ in range(runs))
    outputs = list(shown)
    weights = [int(shown[output] * 10**18) for output in outputs]
    assert sum(shown.values()) == 1
    assert goodness_of_fit([seen[output] for output in outputs], weights) > ALARM


def test_the_merged_place_is_the_nearest_to_the_middle_of_both_copies() -> None:
    mechanism = ATP(places=Places([(0, 0), (4, 0), (2.1, 0), (9, 9)]), epsilon=1)
    assert mechanism.merged(np.array([0, 3, 1]), np.array([1, 3, 1])).tolist() == [2, 3, 1]


@pytest.mark.parametrize("baseline", [NGram, ATP])
def test_more_epsilon_brings_answers_nearer(baseline: Any) -> None:
    places = Places.grid(Rectangle())
    true = Paths.of(np.random.default_rng(3).random((12, 20, 2)))
    errors = []
    for epsilon in (1, 20):
        done = baseline(places=places, epsilon=epsilon).perturb(true, keystream=FixedKeystream(epsilon))
        assert np.array_equal(done.starts, true.starts)
        errors.append(float(np.hypot(*(done.places - true.places).T).mean()))
    assert errors[1] < 0.8 * errors[0]


@pytest.mark.parametrize("baseline", [NGram, ATP])
def test_short_paths_and_repeated_places_go_through(baseline: Any) -> None:
    told: list[int] = []
    paths = Paths.of([[], [(1, 1)], [(0, 0)] * 5])
    done = baseline(places=TOWN, epsilon=2).perturb(paths, keystream=FixedKeystream(1), progress=told.append)
    assert done.lengths.tolist() == [0, 1, 5]
    assert {tuple(place) for place in done.places.tolist()} <= {tuple(place) for place in TOWN.coordinates.tolist()}
    assert sum(told) == 6


@pytest.mark.parametrize("baseline", [NGram, ATP])
def test_bad_parameters_are_refused_with_their_names(baseline: Any) -> None:
    with pytest.raises(InvalidEpsilon):
        baseline(places=TOWN, epsilon=0)
    with pytest.raises(InvalidParameter, match="at least two places"):
        baseline(places=Places([(0, 0)]), epsilon=1)
    with pytest.raises(OutOfDomain, match="private"):
        baseline(places=TOWN, epsilon=1).perturb(Paths.of([[(float("nan"), 0)]]))
    with pytest.raises(InvalidParameter, match="shares must satisfy"):
        ATP(places=TOWN, epsilon=1, shares=(1, 1, 1))
    with pytest.raises(InvalidParameter, match="levels"):
        NGram(places=TOWN, epsilon=1, levels=9)


def test_weights_fall_with_the_distance_and_span_exactly_their_epsilon() -> None:
    weights = falling_weights(30, Fraction(3, 2))
    assert (np.diff(weights) <= 0).all()
    assert Epsilon(Fraction(3, 2)).allows(extremes(weights))
    assert not Epsilon(Fraction(1499, 1000)).allows(extremes(weights))


def test_a_draw_owns_exactly_its_weight() -> None:
    law = exact_law(lambda coins: draw_from(np.array([2, 0, 3, 1]), coins))
    assert law == {0: Fraction(1, 3), 2: Fraction(1, 2), 3: Fraction(1, 6)}
