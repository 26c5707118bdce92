"""Frequent words are found, rare ones are not reported, and the intervals hold what they promise.

Fixed keystreams; every statistical claim here has a false-alarm rate of at most 1e-6.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deniable.batch import PEMCollector, Reports, accumulator_for, accumulator_from_bytes, randomize_many
from deniable.core import Categories, PrefixExtendingMethod, Text, TreeHist, Whole, make_mechanism
from deniable.errors import InvalidParameter, Malformed, NotSupported, OutOfDomain, UnknownVersion, WrongRecipe
from deniable.estimators import heavy_hitters
from deniable.estimators.frequent_words.count_sketch import CountSketch
from deniable.estimators.frequent_words.treehist import sketch_of
from deniable.estimators.frequent_words.wide_support import supported
from deniable.privacy import FixedCoins, FixedKeystream, binomial_tail

BOTH = [PrefixExtendingMethod, TreeHist]


def people(shares: dict[Any, float], n: int, bits: int) -> np.ndarray:
    """So many of each word; everybody else has a word of his own."""
    coins = FixedCoins(len(shares))
    counts = [round(share * n) for share in shares.values()]
    others = [coins.below(1 << bits) for _ in range(n - sum(counts))]
    return np.concatenate([np.repeat(np.array(list(shares), np.uint64), counts), np.array(others, np.uint64)])


# --- finding


@pytest.mark.parametrize(
    ("kind", "share", "near"),
    # Six standard errors and more between the threshold of 3/4 of the share and either neighbour.
    [(PrefixExtendingMethod, 0.04, 0.019), (TreeHist, 0.14, 0.069)],
)
def test_words_of_the_wanted_share_are_found_and_none_of_half_of_it(kind: Any, share: float, near: float) -> None:
    wanted = {0xABCDEF: 2 * share, 0xABCDE0: share, 0x000001: 1.4 * share}
    values = people({**wanted, 0xABC000: near, 0xFFFFFF: near, 0x000002: near}, 300_000, 24)
    words = heavy_hitters(randomize_many(kind(domain=Whole(24), epsilon=4), values, FixedKeystream(1)), share=share)
    assert words.words == (0xABCDEF, 0x000001, 0xABCDE0)
    assert words.threshold == pytest.approx(0.75 * share)
    assert np.abs((words.shares.value - [2 * share, 1.4 * share, share]) / words.shares.standard_error).max() < 6
    assert words.counts.value == pytest.approx(words.shares.value * 300_000)


@pytest.mark.parametrize("kind", BOTH)
def test_texts_are_found_as_texts(kind: Any) -> None:
    texts = ["kitty"] * 30_000 + ["été"] * 20_000 + [f"{i:06d}" for i in range(30_000)]
    words = heavy_hitters(randomize_many(kind(domain=Text(6), epsilon=4), texts, FixedKeystream(2)), share=0.2)
    assert words.words == ("kitty", "été")
    assert "kitty" in words
    assert [row[0] for row in words.table()] == list(words)


@pytest.mark.parametrize("kind", BOTH)
def test_numbers_of_64_bits_are_found(kind: Any) -> None:
    wanted = [(1 << 64) - 1, 1 << 63, 0]
    values = np.repeat(np.array(wanted, np.uint64), [40_000, 30_000, 30_000])
    words = heavy_hitters(randomize_many(kind(domain=Whole(64), epsilon=4), values, FixedKeystream(3)), share=0.2)
    assert set(words.words) == set(wanted)


@pytest.mark.parametrize("kind", BOTH)
def test_one_by_one_as_in_a_batch(kind: Any) -> None:
    mechanism = kind(domain=Whole(12), epsilon=6, step_bits=6)
    coins = FixedCoins(5)
    reports = [mechanism.randomize(value, coins) for value in [77] * 1500 + [2000] * 1500]
    source = (PEMCollector(mechanism) if kind is PrefixExtendingMethod else accumulator_for(mechanism)).add(reports)
    assert set(heavy_hitters(source, false_positives=1e-7).words) == {77, 2000}


# --- honest errors


def intervals_that_cover(kind: Any, runs: int) -> tuple[int, int]:
    covered = total = 0
    shares = {5: 0.4, 900: 0.2, 65_000: 0.2}
    values = people(shares, 20_000, 16)
    for run in range(runs):
        mechanism = kind(domain=Whole(16), epsilon=4)
        words = heavy_hitters(randomize_many(mechanism, values, FixedKeystream(f"cover {run}")), share=0.1)
        for word, _, low, high in words.table():
            covered += low <= shares[word] <= high
            total += 1
    return covered, total


@pytest.mark.parametrize("kind", BOTH)
def test_intervals_cover_as_often_as_they_say(kind: Any) -> None:
    covered, total = intervals_that_cover(kind, 80)
    assert total == 240
    assert binomial_tail(covered, total, 0.95) > 1e-6


def test_absent_words_are_reported_no_more_often_than_stated() -> None:
    """1,000 searches, each with a probability of at most 0.3 that any absent word is reported, and really near it."""
    mechanism = PrefixExtendingMethod(domain=Whole(8), epsilon=2)
    values = np.full(1000, 9, np.uint64)
    wrong = 0
    for run in range(1000):
        reports = randomize_many(mechanism, values, FixedKeystream(f"absent {run}"))
        wrong += any(word != 9 for word in heavy_hitters(reports, false_positives=0.3).words)
    assert wrong > 150
    assert wrong <= 300 or binomial_tail(wrong, 1000, 0.3) > 1e-6


def test_nobodys_words_do_not_pass_tree_hist() -> None:
    """Heavy words collide with thousands of candidates in single rows: none of those may be reported."""
    mechanism = TreeHist(domain=Whole(24), epsilon=4, width_bits=6, row_bits=3)
    values = np.repeat(np.array([1, 1 << 20, 77_777, (1 << 24) - 1], np.uint64), 25_000)
    words = heavy_hitters(randomize_many(mechanism, values, FixedKeystream(8)), false_positives=1e-7)
    assert set(words.words) == {1, 1 << 20, 77_777, (1 << 24) - 1}


@pytest.mark.parametrize("kind", BOTH)
def test_given_users_vary_less_than_a_population_by_their_own_sampling(kind: Any) -> None:
    reports = randomize_many(kind(domain=Whole(16), epsilon=4), np.full(5000, 300, np.uint64), FixedKeystream(9))
    here, everywhere = heavy_hitters(reports).shares, heavy_hitters(reports, target="population").shares
    share = np.clip(here.value, 0, 1)
    assert everywhere.variance - here.variance == pytest.approx(share * (1 - share) / 5000)


def test_exact_intervals_lie_within_what_is_possible() -> None:
    reports = randomize_many(PrefixExtendingMethod(domain=Whole(8), epsilon=4), np.full(300, 8, np.uint64), FixedKeystream(1))
    low, high = heavy_hitters(reports).shares.interval(0.999999, "exact")
    assert 0 <= low[0] <= 1 <= high[0] <= 1


@pytest.mark.parametrize("kind", BOTH)
def test_users_who_give_the_shares_have_no_say_in_the_order(kind: Any) -> None:
    """Sorted by their own estimates, the first of equally frequent words would be the luckiest one."""
    mechanism: Any = kind(domain=Whole(8), epsilon=6)
    values = np.tile(np.arange(0, 256, 32, dtype=np.uint64), 2000)
    last = mechanism.channel.starts[len(mechanism.levels)]
    draws = [np.asarray(randomize_many(mechanism, values, FixedKeystream(seed)).outputs) for seed in (3, 4)]
    lists = []
    for other in draws:
        outputs = np.concatenate([draws[0][draws[0] < last], other[other >= last]])
        lists.append(heavy_hitters(Reports(mechanism, outputs)))
    first, second = lists
    assert len(first) > 4
    assert first.words == second.words
    assert sorted(first.shares.value) != sorted(second.shares.value)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("n", [1, 2, 10])
def test_few_users_give_no_words(kind: Any, n: int) -> None:
    mechanism = kind(domain=Whole(48), epsilon=1)
    reports = randomize_many(mechanism, np.full(n, 5, np.uint64), FixedKeystream(n))
    words = heavy_hitters(reports, false_positives=1e-7)
    assert len(words) == 0
    assert words.n == n
    assert words.levels[0].tested == 1 << mechanism.step_bits


# --- what the collector keeps


def test_pem_collectors_merge_and_travel() -> None:
    mechanism = PrefixExtendingMethod(domain=Whole(16), epsilon=4)
    values = people({1: 0.5, 60_000: 0.3}, 10_000, 16)
    halves = [randomize_many(mechanism, part, FixedKeystream(i)) for i, part in enumerate(np.array_split(values, 2))]
    first, second = (PEMCollector(mechanism).add(half) for half in halves)
    whole = PEMCollector(mechanism).add(halves[0]).add(halves[1])
    merged = first.merge(second)
    results = [heavy_hitters(source) for source in (whole, merged, second.merge(first))]
    assert all(result.table() == results[0].table() and result.levels == results[0].levels for result in results)
    data = merged.to_bytes()
    assert len(data) == 27 + 8 * 10_000
    assert PEMCollector.from_bytes(mechanism, data).to_bytes() == data
    assert len(first) == 5000


def test_pem_bytes_are_read_strictly() -> None:
    mechanism = PrefixExtendingMethod(domain=Whole(16), epsilon=4)
    data = PEMCollector(mechanism).add(mechanism.randomize(5)).to_bytes()
    cases: list[tuple[bytes, type[Exception]]] = [
        (b"", Malformed),
        (b"xx" + data[2:], Malformed),
        (data[:-1], Malformed),
        (data + b"\0", Malformed),
        (data[:-8] + b"\xff" * 8, Malformed),
        (data[:2] + b"\2" + data[3:], UnknownVersion),
        (data[:3] + bytes(16) + data[19:], WrongRecipe),
    ]
    for wrong, error in cases:
        with pytest.raises(error):
            PEMCollector.from_bytes(mechanism, wrong)
    with pytest.raises(WrongRecipe):
        PEMCollector(mechanism).merge(PEMCollector(PrefixExtendingMethod(domain=Whole(16), epsilon=3)))
    with pytest.raises(WrongRecipe):
        PEMCollector(mechanism).add(PrefixExtendingMethod(domain=Whole(16), epsilon=3).randomize(5))


def test_tree_hist_sums_merge_travel_and_have_one_size() -> None:
    mechanism = TreeHist(domain=Whole(16), epsilon=4, width_bits=8)
    values = people({1: 0.5, 60_000: 0.3}, 10_000, 16)
    halves = [randomize_many(mechanism, part, FixedKeystream(i)) for i, part in enumerate(np.array_split(values, 2))]
    parts = [accumulator_for(mechanism).add(half) for half in halves]
    whole = accumulator_for(mechanism).add(halves[0]).add(halves[1])
    assert parts[0] + parts[1] == parts[1] + parts[0] == whole
    assert accumulator_from_bytes(mechanism, whole.to_bytes()) == whole
    assert len(whole.sums) == len(parts[0].sums) == 3 * 8 * 256 * 2
    assert heavy_hitters(whole).table() == heavy_hitters(parts[0].merge(parts[1])).table()


# --- the pieces


def test_counting_by_vectors_agrees_with_the_sets() -> None:
    channel = PrefixExtendingMethod(domain=Whole(64), epsilon=2).part(6)
    coins = FixedCoins(1)
    outputs = [coins.below(channel.outputs) for _ in range(300)]
    prefixes = sorted({coins.below(1 << 56) for _ in range(40)} | {(7 << 32) + low for low in range(50)} | {0, 1 << 31})
    slow = [sum(channel.sets.contains(prefix << 8, output) for output in outputs) for prefix in prefixes]
    assert supported(channel, np.array(outputs, np.uint64), np.array(prefixes, np.uint64)).tolist() == slow
    assert sum(slow) > 0


def test_a_sketch_reads_what_the_definition_says() -> None:
    """The share of a prefix in a row: sum of bit * sign * Hadamard[coordinate, cell] over its reports, divided by c * n."""
    mechanism = TreeHist(domain=Whole(10), epsilon=1, step_bits=5, row_bits=1, width_bits=3)
    values = [(i * 37) % 1024 for i in range(2000)]
    reports = randomize_many(mechanism, values, FixedKeystream(4))
    sketch = sketch_of(accumulator_for(mechanism).add(reports), 1)
    parts = [mechanism.channel.part_of(output) for output in reports.ints()]
    outputs = [output for group, output in parts if group == 1]
    prefixes = [0, 1, 513, 1023]
    for prefix, row_values in zip(prefixes, sketch.rows(np.array(prefixes, np.uint64)), strict=True):
        for row in range(2):
            mine = [output for output in outputs if output >> 4 == row]
            signs = [1 if sketch.sets.contains(prefix, output) else -1 for output in mine]
            assert row_values[row] == pytest.approx(sum(signs) / len(mine) / sketch.kept_mean)


def test_collisions_between_the_words_found_are_solved_exactly() -> None:
    """Without noise (every output as often as its weight), solving gives back the shares of colliding words."""
    mechanism = TreeHist(domain=Whole(10), epsilon=4, step_bits=10, row_bits=2, width_bits=2)
    channel = mechanism.part(0)
    shares = {3: 5, 200: 3, 801: 2, 1000: 1}
    sums = [sum(times * channel.weight(word, y) for word, times in shares.items()) for y in range(channel.outputs)]
    sketch = CountSketch(channel, np.array([total >> 10 for total in sums], np.int64))
    words = np.array(list(shares), np.uint64)
    cells = {sketch.sets.place(row, word)[0] for row in range(4) for word in shares}
    assert len(cells) < 16  # they do collide
    value, _ = sketch.solved(words)
    assert value == pytest.approx(np.array(list(shares.values())) / 11, abs=1e-6)
    assert np.abs(sketch.rows(words).mean(axis=1) - value).max() > 0.01


# --- privacy


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("epsilon", [0.01, 1, 4, 10])
def test_certificates_hold_and_spend_nearly_all_of_epsilon(kind: Any, epsilon: float) -> None:
    certificate = kind(domain=Text(6), epsilon=epsilon).certificate()
    assert certificate.holds
    assert epsilon * 0.9999 < certificate.epsilon_exact <= epsilon


@pytest.mark.parametrize("kind", BOTH)
def test_the_group_does_not_depend_on_the_word(kind: Any) -> None:
    """With equal coins for the group, different words give the same group; shares of groups as stated."""
    mechanism = kind(domain=Text(6), epsilon=4)
    for run in range(50):
        groups = {mechanism.decode(mechanism.randomize(word, FixedCoins(run)).output)[0] for word in ("", "aaaaaa", "zz")}
        assert len(groups) == 1
    n = 100_000
    reports = randomize_many(mechanism, np.full(n, "word"), FixedKeystream(3))
    starts, shares = mechanism.channel.starts, mechanism.channel.shares
    sizes = np.histogram(reports.outputs, [*starts, mechanism.channel.outputs])[0]
    for size, share in zip(sizes.tolist(), shares, strict=True):
        assert binomial_tail(size, n, share / sum(shares)) > 1e-9


@pytest.mark.parametrize("kind", BOTH)
def test_a_refused_text_is_not_shown(kind: Any) -> None:
    for values in (["good", "unmentionable"], np.array(["good", "unmentionable"])):
        with pytest.raises(OutOfDomain) as caught:
            randomize_many(kind(domain=Text(6), epsilon=4), values)
        assert "unmentionable" not in str(caught.value)


# --- parameters


def test_bad_parameters_are_refused() -> None:
    mechanism = TreeHist(domain=Whole(8), epsilon=4)
    reports = randomize_many(mechanism, np.arange(10))
    for wrong in ({"share": 1}, {"share": -0.1}, {"false_positives": 0}, {"most": 0}, {"most": 1.5}, {"target": "all"}):
        with pytest.raises(InvalidParameter, match=next(iter(wrong))):
            heavy_hitters(reports, **wrong)
    for empty in (accumulator_for(mechanism), PEMCollector(PrefixExtendingMethod(domain=Whole(8), epsilon=4))):
        with pytest.raises(InvalidParameter, match="no reports"):
            heavy_hitters(empty)
    coin = make_mechanism("k-rr", domain=Categories(3), epsilon=1)
    with pytest.raises(NotSupported):
        heavy_hitters(coin.randomize_many([1, 2]))
    with pytest.raises(InvalidParameter):
        PEMCollector(coin)
    for build in (
        lambda: TreeHist(epsilon=1, step_bits=17),
        lambda: TreeHist(epsilon=1, row_bits=7),
        lambda: TreeHist(epsilon=1, salt=1 << 32),
        lambda: PrefixExtendingMethod(epsilon=12),
        lambda: PrefixExtendingMethod(domain=Categories(5), epsilon=1),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidParameter):
            build()
