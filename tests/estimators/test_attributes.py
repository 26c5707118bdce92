"""Several attributes: unbiased shares whatever the strategy, honest variances, and the promised error."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.batch import PairCounts, Reports, accumulator_for, randomize_many
from deniable.core import (
    Binary,
    Categories,
    Interval,
    Mechanism,
    ProductMechanism,
    RandomSamplingPlusFakeData,
    Record,
    SampleOne,
    make_mechanism,
)
from deniable.errors import InvalidParameter, Malformed, NotSupported, WrongRecipe
from deniable.estimators import Estimate, Target, attribute_shares, choose_strategy, predicted_errors, support, two_way
from deniable.privacy import FixedKeystream

RECORD = Record({"smokes": Binary(), "city": Categories(3), "job": Categories(5)})
STRATEGIES: list[Mechanism] = [
    ProductMechanism.split(RECORD, 3, mechanism={"job": "oue"}),
    SampleOne.of(RECORD, 1.5, mechanism={"job": "olh"}),
    RandomSamplingPlusFakeData(domain=RECORD, epsilon=2),
]
LAWS = {"smokes": [0.7, 0.3], "city": [0.5, 0.3, 0.2], "job": [0.4, 0.3, 0.2, 0.1, 0.0]}
PAIR = ProductMechanism.split(Record({"a": Categories(2), "b": Categories(3)}), 3, mechanism={"b": "oue"})
JOINT = np.array([[0.4, 0.1, 0.1], [0.0, 0.1, 0.3]])


def people(n: int) -> dict[str, NDArray[np.int64]]:
    """n people with exactly the shares of LAWS, unrelated fields."""
    draws = np.random.default_rng(n)
    columns = {}
    for name, law in LAWS.items():
        column = np.repeat(np.arange(len(law)), np.round(np.array(law) * n).astype(int))
        columns[name] = draws.permutation(column)
    return columns


@pytest.mark.parametrize("mechanism", STRATEGIES, ids=lambda mechanism: mechanism.name)
def test_shares_are_near_the_truth(mechanism: Mechanism) -> None:
    # 10 values, 6 standard errors each: false alarms below 2e-8.
    estimate = attribute_shares(randomize_many(mechanism, people(60_000), FixedKeystream(mechanism.name)))
    assert list(estimate) == list(RECORD.fields)
    for name, law in LAWS.items():
        off = (estimate[name].value - np.array(law)) / estimate[name].standard_error
        assert np.abs(off).max() < 6
        assert estimate[name].standard_error.max() < 0.05
        assert estimate[name].projected().parent is estimate[name]


@pytest.mark.slow
@pytest.mark.parametrize("target", ["these users", "population"])
@pytest.mark.parametrize("mechanism", STRATEGIES, ids=lambda mechanism: mechanism.name)
def test_variances_are_those_of_many_repetitions(mechanism: Mechanism, target: Target) -> None:
    """The claimed variances against 500 repetitions.

    A sample variance of 500 near-normal values is off by 0.063 of itself (one deviation), an average over values by
    no more. The bounds are 5.5 deviations below and 7 above: tails below 1e-7 for each of 3 fields, and 6 deviations
    for each of 10 means. False alarms below 1e-6.
    """
    stream, draws = FixedKeystream(f"{mechanism.name} {target}"), np.random.default_rng(7)
    rounds, n = 500, 600
    fixed = people(n)
    values: dict[str, list[NDArray[np.float64]]] = {name: [] for name in LAWS}
    claimed: dict[str, list[NDArray[np.float64]]] = {name: [] for name in LAWS}
    for _ in range(rounds):
        drawn = {name: draws.choice(len(law), size=n, p=law) for name, law in LAWS.items()}
        asked = drawn if target == "population" else fixed
        for name, found in attribute_shares(randomize_many(mechanism, asked, stream), target=target).items():
            values[name].append(found.value)
            claimed[name].append(found.variance)
    for name in LAWS:
        seen = np.var(values[name], axis=0, ddof=1)
        said = np.mean(claimed[name], axis=0)
        assert 0.65 < seen.mean() / said.mean() < 1.45
        # And unbiased: 6 standard errors of the mean.
        off = np.mean(values[name], axis=0) - LAWS[name]
        assert np.abs(off / np.sqrt(seen / rounds)).max() < 6


def test_the_sampling_of_a_field_is_in_the_variance_of_everyone() -> None:
    # At a large epsilon there is almost no noise: what is left is who was picked.
    mechanism = SampleOne(domain=Record({"a": Binary(), "b": Binary()}), epsilon=15)
    columns = {"a": np.repeat([0, 1], 500), "b": np.repeat([0, 1], 500)}
    sums = accumulator_for(mechanism).add(randomize_many(mechanism, columns, FixedKeystream(1)))
    found = attribute_shares(sums)["a"]
    expected = 0.25 * (1000 - found.n) / 999 / found.n
    assert found.variance[0] == pytest.approx(expected, rel=0.02)
    assert found.covariance is not None
    assert found.covariance[0, 1] == pytest.approx(-expected, rel=0.02)
    assert attribute_shares(sums, target="population")["a"].variance[0] > 1.8 * expected


@pytest.mark.parametrize("mechanism", STRATEGIES, ids=lambda mechanism: mechanism.name)
def test_the_predicted_error_is_the_one_that_is_claimed(mechanism: Mechanism) -> None:
    # Deterministic up to the true shares: averaged over a field's values the claimed noise hardly depends on the reports.
    n = 30_000
    uniform = {name: np.arange(n) % len(law) for name, law in LAWS.items()}
    estimate = attribute_shares(randomize_many(mechanism, uniform, FixedKeystream(2)))
    for name, error in predicted_errors(mechanism, n).items():
        assert estimate[name].variance.mean() == pytest.approx(error, rel=0.05)


def test_one_small_epsilon_is_better_spent_on_one_field_and_a_large_one_on_all() -> None:
    fields = Record({f"f{j}": Categories(10) for j in range(4)})
    small, large = choose_strategy(fields, 1, 10_000), choose_strategy(fields, 18, 10_000)
    assert small.best.name == "sample-one"
    assert large.best.name == "product"
    assert [strategy.mean for strategy in small.strategies] == sorted(strategy.mean for strategy in small.strategies)
    assert all(strategy.mechanism.certificate().holds for strategy in small.strategies)
    for name in ("product", "sample-one", "rs-fd"):
        assert name in small.explanation
    worst = choose_strategy(Record({"a": Binary(), "b": Categories(50)}), 2, 1000, by="worst")
    assert worst.best.worst == max(worst.best.errors.values())


def test_the_choice_is_the_one_that_wins_when_tried() -> None:
    # Squared errors of 12 runs each; the best strategy's promise is less than half of the next one's.
    fields = Record({f"f{j}": Categories(4) for j in range(3)})
    designed = choose_strategy(fields, 1, 20_000)
    columns = {name: np.arange(20_000) % 4 for name in fields.fields}
    truth = np.full(4, 0.25)
    tried = {}
    for strategy in designed.strategies:
        runs = [
            attribute_shares(randomize_many(strategy.mechanism, columns, FixedKeystream(f"{strategy.name} {run}")))
            for run in range(12)
        ]
        tried[strategy.name] = float(np.mean([np.mean((one[name].value - truth) ** 2) for one in runs for name in fields.fields]))
    assert min(tried, key=lambda name: tried[name]) == designed.best.name
    for strategy in designed.strategies:
        # 12 * 3 * 3 squared errors: a relative deviation of 0.14; 5 of them.
        assert tried[strategy.name] == pytest.approx(strategy.mean, rel=0.7)


def test_fakes_never_beat_an_open_answer() -> None:
    for d, k, epsilon in itertools.product((2, 3, 8), (2, 5, 40), (0.1, 1, 4)):
        record = Record({f"f{j}": Categories(k) for j in range(d)})
        inner = dict.fromkeys(record.fields, "k-rr")
        hidden = predicted_errors(RandomSamplingPlusFakeData(domain=record, epsilon=epsilon), 1000)["f0"]
        assert hidden > predicted_errors(SampleOne.of(record, epsilon, mechanism=inner), 1000)["f0"]


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(NotSupported, match="age"):
        choose_strategy(Record({"age": Interval()}), 1, 100)
    with pytest.raises(InvalidParameter, match="by"):
        choose_strategy(RECORD, 1, 100, by="median")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="n must"):
        choose_strategy(RECORD, 1, 0)
    with pytest.raises(InvalidParameter, match="Record"):
        choose_strategy(Binary(), 1, 10)  # type: ignore[arg-type]
    coin = make_mechanism("randomized-response", epsilon=1)
    with pytest.raises(NotSupported, match="no fields"):
        attribute_shares(coin.randomize_many([1]))
    with pytest.raises(InvalidParameter, match="no reports"):
        attribute_shares(accumulator_for(STRATEGIES[0]))
    with pytest.raises(InvalidParameter, match="nobody answered"):
        attribute_shares(accumulator_for(STRATEGIES[1]).add(STRATEGIES[1].randomize({"smokes": 1, "city": 1, "job": 1})))


# --- two fields together


def couples(n: int) -> dict[str, NDArray[np.int64]]:
    cells = np.repeat(np.arange(6), np.round(JOINT.ravel() * n).astype(int))
    return {"a": cells // 3, "b": cells % 3}


def table(reports: Reports, target: Target = "these users") -> Estimate:
    return two_way(reports, "a", "b", target=target)


@pytest.mark.parametrize("inner", ["k-rr", "oue", "olh", "hadamard", "subset"])
def test_two_way_tables_are_near_the_truth(inner: str) -> None:
    # 6 cells, 6 standard errors: false alarms below 2e-8.
    mechanism = ProductMechanism.split(PAIR.domain, 3, mechanism={"b": inner})
    found = table(randomize_many(mechanism, couples(20_000), FixedKeystream(inner)))
    assert np.abs((found.value - JOINT.ravel()) / found.standard_error).max() < 6
    assert found.labels == list(itertools.product(range(2), range(3)))
    possible = found.projected()
    assert possible.parent is found
    assert possible.value.min() >= 0
    assert possible.value.sum() == pytest.approx(1)


def test_the_table_is_the_kronecker_inverse_of_the_pair_counts() -> None:
    both = ProductMechanism.split(Record({"a": Categories(3), "b": Categories(4)}), 2)
    reports = randomize_many(both, {"a": np.arange(900) % 3, "b": np.arange(900) % 4}, FixedKeystream(3))
    inverses = []
    for part in both.parts.values():
        channel = part.channel
        law = np.array([[channel.weight(x, y) / channel.total for y in range(channel.outputs)] for x in range(channel.inputs)])
        inverses.append(np.linalg.inv(law.T))
    seen = np.bincount(reports.ints(), minlength=12)
    assert np.allclose(two_way(reports, "a", "b").value, np.kron(*inverses) @ seen / 900, atol=1e-9)


@pytest.mark.parametrize("target", ["these users", "population"])
def test_variances_of_a_table_are_those_of_many_repetitions(target: Target) -> None:
    """600 repetitions: a ratio of variances is off by 0.058 (one deviation) in every cell; the bounds are 5.8 of them."""
    stream, draws, n = FixedKeystream(f"pairs {target}"), np.random.default_rng(3), 500
    values, claimed = [], []
    for _ in range(600):
        cells = draws.choice(6, size=n, p=JOINT.ravel())
        asked = couples(n) if target == "these users" else {"a": cells // 3, "b": cells % 3}
        found = table(randomize_many(PAIR, asked, stream), target)
        values.append(found.value)
        claimed.append(found.variance)
    ratio = np.var(values, axis=0, ddof=1) / np.mean(claimed, axis=0)
    assert ratio.min() > 0.66
    assert ratio.max() < 1.4
    off = np.mean(values, axis=0) - JOINT.ravel()
    assert np.abs(off / (np.std(values, axis=0) / np.sqrt(600))).max() < 6


def test_the_noise_of_a_cell_is_the_written_sum_over_people() -> None:
    # One cell by hand: everyone has (0, 0), so a report's product has known moments.
    laws = [support(part) for part in PAIR.parts.values()]
    found = table(randomize_many(PAIR, {"a": np.zeros(4000, int), "b": np.zeros(4000, int)}, FixedKeystream(5)))
    product = 1.0
    for law in laws:
        p, q = float(law.p), float(law.q)
        product *= (p * (1 - q) ** 2 + (1 - p) * q**2) / (p - q) ** 2
    assert found.variance[0] == pytest.approx((product - 1) / 4000, rel=0.1)


def test_pair_counts_merge_and_survive_bytes() -> None:
    reports = randomize_many(PAIR, couples(200), FixedKeystream(8))
    whole = PairCounts(PAIR, "a", "b").add(reports)
    ints = [PAIR.split_output(y) for y in reports.ints()]
    slow = [[sum(y["a"] == u and y["b"] >> v & 1 for y in ints) for v in range(3)] for u in range(2)]
    assert whole.pairs.tolist() == slow
    halves = [PairCounts(PAIR, "a", "b").add([reports[i] for i in part]) for part in (range(90), range(90, 200))]
    assert halves[0].merge(halves[1]) == whole
    data = whole.to_bytes()
    assert PairCounts.from_bytes(PAIR, data) == whole
    assert two_way(whole).value.tolist() == table(reports).value.tolist()
    assert PairCounts.from_bytes(PAIR, PairCounts(PAIR, "b", "a").add(reports).to_bytes()).fields == ("b", "a")
    more = bytearray(data)
    more[32] = 0xFF  # the first pair is counted more often than either of its values
    for broken in (data[:-1], data + b"\0", data[:28], bytes(more)):
        with pytest.raises(Malformed):
            PairCounts.from_bytes(PAIR, broken)
    with pytest.raises(WrongRecipe):
        whole.merge(PairCounts(PAIR, "b", "a"))


def test_one_report_gives_a_wide_interval() -> None:
    one = randomize_many(PAIR, {"a": [0], "b": [0]}, FixedKeystream(1))
    for target in ("these users", "population"):
        low, high = table(one, target).interval()
        assert (high - low).min() > 0.99  # all that is possible


def test_tables_that_do_not_exist_are_refused() -> None:
    with pytest.raises(NotSupported, match="sample-one"):
        two_way(STRATEGIES[1].randomize_many(people(100)), "smokes", "city")
    with pytest.raises(NotSupported, match="rs-fd"):
        two_way(STRATEGIES[2].randomize_many(people(100)), "smokes", "city")
    reports = randomize_many(PAIR, couples(10), FixedKeystream(1))
    for first, second in (("a", "a"), ("a", "c"), ("", "")):
        with pytest.raises(InvalidParameter, match="two different fields"):
            two_way(reports, first, second)
    with pytest.raises(InvalidParameter, match="no reports"):
        two_way(PairCounts(PAIR, "a", "b"))
    with pytest.raises(InvalidParameter, match="are of the fields"):
        two_way(PairCounts(PAIR, "a", "b"), "b", "a")
