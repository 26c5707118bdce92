"""The table of a pair: integers, marginals, correlation, and draws that follow it."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from deniable.core import Epsilon, Pair, column_ratio, correlation_floor
from deniable.errors import InvalidParameter
from deniable.privacy import FixedCoins, FixedKeystream, ScriptedCoins, goodness_of_fit
from deniable.privacy.conformance.statistics import FALSE_ALARM
from deniable.studies import answer_in_pairs, bounded_pair, draw_indicators, published_pair, random_pairing
from deniable.studies.joint.accounting import known_pairing_ratio, marginal_ratio

TABLES = [Pair(3, 1, 0), Pair(5, 2, 1), Pair(2, 3, 4), bounded_pair(1, 2), published_pair("0.1"), bounded_pair(1, 1)]


@pytest.mark.parametrize(("p", "rho"), [("4/5", "-1/4"), ("4/5", "3/10"), ("7/10", 0), ("1/3", "-1/2"), ("3/5", 1)])
def test_exact_tables_have_exactly_their_probabilities(p: str, rho: Any) -> None:
    pair = Pair.exactly(p, rho)
    truth, correlation = Fraction(p), Fraction(rho)
    assert (pair.truth, pair.correlation) == (truth, correlation)
    assert Fraction(pair.both, pair.total) == truth**2 + correlation * truth * (1 - truth)
    assert Fraction(pair.neither, pair.total) == (1 - truth) ** 2 + correlation * truth * (1 - truth)


@pytest.mark.parametrize(("p", "rho"), [("4/5", "-1/7"), ("2/3", "1/7"), ("1/3", "-1/7")])
def test_rounded_tables_fill_a_word_and_never_gain(p: str, rho: str) -> None:
    pair = Pair.rounded(p, rho)
    assert pair.total == 1 << 64
    assert pair.truth <= Fraction(p)
    assert abs(pair.correlation) <= abs(Fraction(rho)) + Fraction(1, 1 << 60)
    assert abs(pair.correlation - Fraction(rho)) < Fraction(1, 1 << 60)


@pytest.mark.parametrize("pair", TABLES, ids=repr)
def test_the_channel_contract(pair: Pair) -> None:
    for index in range(4):
        assert sum(pair.row(index)) == pair.total
    assert pair.max_ratio() == column_ratio(pair)


@pytest.mark.parametrize("pair", TABLES[:3], ids=repr)
def test_every_integer_gives_what_its_weight_says(pair: Pair) -> None:
    for index in range(4):
        counts = [0] * 4
        for drawn in range(pair.total):
            counts[pair.draw(index, ScriptedCoins([drawn]))] += 1
        assert counts == list(pair.row(index))


def test_thresholds_give_the_indicators_of_the_protocol() -> None:
    pair = Pair(5, 2, 1)
    r1, r2, r3 = pair.thresholds
    for drawn in range(pair.total):
        told = int(drawn < r2), int(drawn < r1) + int(drawn < r3) - int(drawn < r2)
        assert pair.indicators(ScriptedCoins([drawn])) == told


@pytest.mark.parametrize("pair", TABLES, ids=repr)
def test_bulk_draws_follow_the_table(pair: Pair) -> None:
    first, second = draw_indicators(pair, 200_000, FixedKeystream(5))
    counts = np.bincount(2 * (1 - first.astype(int)) + (1 - second.astype(int)), minlength=4).tolist()
    assert goodness_of_fit(counts, [pair.both, pair.one, pair.one, pair.neither]) > FALSE_ALARM


class Scripted:
    """A keystream of given words, then of zeros."""

    def __init__(self, words: list[int]) -> None:
        self.words = words

    def fill(self, buffer: np.ndarray[Any, Any]) -> None:
        view = buffer.view(np.uint64)
        view[:] = 0
        taken = self.words[: len(view)]
        view[: len(taken)] = taken
        self.words = self.words[len(taken) :]

    def spawn(self) -> Scripted:
        raise AssertionError


@pytest.mark.parametrize("pair", [bounded_pair(1, 2), published_pair(1)], ids=["bounded", "published"])
def test_words_at_a_threshold_are_drawn_like_integers(pair: Pair) -> None:
    edges = sorted({word for edge in pair.thresholds for word in (edge - 1, edge) if word < 1 << 64} | {0, (1 << 64) - 1})
    found = answer_in_pairs(pair, np.ones(2 * len(edges), np.uint8), Scripted(list(edges)))
    wanted = [told for word in edges for told in pair.indicators(ScriptedCoins([word]))]
    assert found.tolist() == wanted


def test_scalar_and_bulk_reports_turn_the_same_bits() -> None:
    pair = Pair(3, 1, 0)
    bits = np.array([1, 0, 0, 1], np.uint8)
    for _ in range(50):
        first, second = pair.draw(2, FixedCoins(1)) >> 1, pair.draw(2, FixedCoins(1)) & 1
        assert (first, second) != (0, 1)  # they never both lie
    out = answer_in_pairs(pair, np.tile(bits, 1000), FixedKeystream(1)).reshape(-1, 2)
    lied = out != np.tile(bits, 1000).reshape(-1, 2)
    assert not lied.all(axis=1).any()


def test_the_last_of_an_odd_number_answers_alone_with_the_same_p() -> None:
    pair, stream = Pair(3, 1, 0), FixedKeystream(2)
    told = sum(int(answer_in_pairs(pair, np.ones(3, np.uint8), stream)[2]) for _ in range(20_000))
    assert goodness_of_fit([told, 20_000 - told], [pair.truthful, pair.lying]) > FALSE_ALARM


def test_pairings_are_uniform() -> None:
    stream, counts = FixedKeystream(3), [0] * 24
    orders = {order: place for place, order in enumerate(itertools.permutations(range(4)))}
    for _ in range(24_000):
        counts[orders[tuple(random_pairing(4, stream).tolist())]] += 1
    assert goodness_of_fit(counts, [1] * 24) > FALSE_ALARM
    assert sorted(random_pairing(100_001, stream).tolist()) == list(range(100_001))


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", 1, 4, 10])
@pytest.mark.parametrize("more", ["0", "0.25", 1, 5])
def test_bounded_tables_keep_both_promises_in_integers(epsilon: Any, more: Any) -> None:
    alone, colluding = Epsilon(epsilon), Epsilon(Epsilon(epsilon).exact + Fraction(more))
    pair = bounded_pair(alone, colluding)
    known = known_pairing_ratio(pair)
    assert alone.allows(marginal_ratio(pair))
    assert known is not None
    assert colluding.allows(known)
    assert float(known) == pytest.approx(float(colluding.bounds()[0]), rel=1e-7)
    assert pair.correlation <= 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Pair.exactly("4/5", "-1/3"), "rho.*between -0.25 and 1"),
        (lambda: Pair.exactly("4/5", "11/10"), "rho"),
        (lambda: Pair.exactly(0, 0), "p, the probability"),
        (lambda: Pair.exactly(1, 0), "p, the probability"),
        (lambda: Pair.exactly(float("nan"), 0), "p, the probability"),
        (lambda: Pair(1, -1, 1), "negative"),
        (lambda: Pair(1, 0, 0), "sometimes"),
        (lambda: bounded_pair(2, 1), "epsilon_collusion must be at least epsilon = 2"),
        (lambda: answer_in_pairs(Pair(3, 1, 0), [0, 2]), "array of bits"),
    ],
)
def test_bad_tables_are_refused(wrong: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        wrong()


def test_the_least_correlation_is_one_minus_one_over_p() -> None:
    assert correlation_floor(Fraction(4, 5)) == 1 - Fraction(5, 4)
