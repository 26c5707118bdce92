"""Tables of several fields: those of brute force, unbiased, with intervals that hold, possible together once made consistent."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np
import pytest

from deniable.batch import Floats, randomize_many
from deniable.core import Binary, Categories, Marginals, Record, make_mechanism
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import attribute_shares, contrast_noise, interaction, marginal_sums, shares, subsets
from deniable.privacy import FixedKeystream

PERSON = Record({"a": Binary(), "b": Categories(["x", "y", "z"]), "c": Categories(4), "d": Binary()})
SETS = [["a", "b"], ["b", "c", "d"], ["c"], ["a", "c", "d"], ["a", "d"]]
MIXED = Marginals(
    domain=PERSON,
    epsilon=2,
    marginals=SETS,
    shares=[2, 3, 1, 2, 1],
    oracles=["k-rr", "projective", "subset", "hadamard", "k-rr"],
)


def people(n: int) -> dict[str, np.ndarray]:
    """Fields that depend on each other, with cells that nobody is in."""
    place = np.arange(n)
    a, c = place % 10 < 3, np.where(place % 10 < 3, place % 2, 0)
    return {"a": a.astype(int), "b": np.array(["x", "y", "z"])[(a + place % 5 // 4) % 3], "c": c, "d": (c > 0).astype(int)}


def table(who: dict[str, np.ndarray], names: tuple[str, ...]) -> Floats:
    """The true shares of the cells."""
    domains = [PERSON.fields[name] for name in names]
    numbers = [[domain.encode(value) for value in who[name].tolist()] for name, domain in zip(names, domains, strict=True)]
    cells = np.ravel_multi_index(numbers, [domain.size for domain in domains])
    return np.bincount(cells, minlength=prod(domain.size for domain in domains)) / len(cells)


def test_a_table_is_the_least_squares_solution_of_all_marginals() -> None:
    """Brute force: all 48 shares, every marginal's own cells weighed by its information, people adding up to 1."""
    sums = MIXED.accumulator().add(randomize_many(MIXED, people(3000), FixedKeystream("brute")))
    names = list(PERSON.fields)
    rows, seen, weights = [np.ones((1, PERSON.size))], [np.ones(1)], [np.array([1e5])]
    records = [PERSON.decode(index) for index in range(PERSON.size)]
    for fields, part in zip(SETS, sums.parts.values(), strict=True):
        cells = {tuple(record[name] for name in fields): None for record in records}
        rows.append(np.array([[float(tuple(r[name] for name in fields) == cell) for r in records] for cell in cells]))
        own = shares(part).value
        # Only what a marginal says beyond its own sum counts.
        seen.append(own + (1 - own.sum()) / len(own))
        weights.append(np.full(len(own), np.sqrt(part.n / contrast_noise(part.mechanism))))
    weight = np.concatenate(weights)
    solved = np.linalg.lstsq(np.concatenate(rows) * weight[:, None], np.concatenate(seen) * weight, rcond=None)[0]
    for asked in (["a", "d"], ["b", "d"], ["a", "c", "d"], ["c"], ["d"]):
        expected = solved.reshape(2, 3, 4, 2).sum(axis=tuple(place for place, name in enumerate(names) if name not in asked))
        assert marginal_sums(sums).marginal(asked).value == pytest.approx(expected.reshape(-1), abs=1e-9)


def test_tables_are_unbiased_and_as_noisy_as_they_say() -> None:
    """250 surveys: no mean is further off than 5.5 of its standard errors (16 values: false alarms below 1e-6)."""
    who, runs = people(800), 250
    stream = FixedKeystream("tables")
    estimates = [marginal_sums(randomize_many(MIXED, who, stream)).marginal(["a", "c"]) for _ in range(runs)]
    values = np.array([one.value for one in estimates])
    said = np.mean([one.variance for one in estimates], axis=0)
    assert (np.abs(values.mean(axis=0) - table(who, ("a", "c"))) < 5.5 * np.sqrt(said / runs)).all()
    assert values.var(axis=0) == pytest.approx(said, rel=0.4)
    assert values.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("epsilon", [0.5, 1, 4])
@pytest.mark.parametrize(("n", "runs"), [(50, 120), (200, 90), (10_000, 60)])
@pytest.mark.parametrize("target", ["these users", "population"])
def test_intervals_hold(n: int, runs: int, epsilon: float, target: str) -> None:
    """Coverage of 95 % intervals, over all cells of a table that several marginals tell, on fixed coins."""
    mechanism = Marginals(domain=PERSON, epsilon=epsilon, marginals=[["a", "c", "d"], ["a", "c"], ["b", "c"]])
    who, truth, inside = people(n), table(people(10), ("a", "c")), []
    draw = np.random.default_rng(n)
    for run in range(runs):
        drawn = np.arange(n) if target == "these users" else draw.integers(0, n, n)
        chosen = {name: column[drawn] for name, column in who.items()}
        reports = randomize_many(mechanism, chosen, FixedKeystream(f"{n} {epsilon} {run}"))
        low, high = marginal_sums(reports).marginal(["a", "c"], target=target).interval()  # type: ignore[arg-type]
        inside.append((low <= truth) & (truth <= high))
    assert np.mean(inside) > 0.935


def test_a_marginal_that_few_people_were_asked_about_does_not_widen_intervals() -> None:
    sets = Marginals(domain=PERSON, epsilon=1, marginals=[["a", "c"], ["b", "c"], ["a", "b", "c"]], shares=[1000, 1000, 3])
    sums = marginal_sums(randomize_many(sets, people(3000), FixedKeystream("few")))
    assert 0 < min(one.n for one in sums.heard) < 10
    estimated = sums.marginal(["a", "c"])
    low, high = estimated.interval()
    assert (high - low < 2 * 2.1 * estimated.standard_error).all()


def test_consistent_tables_are_possible_and_agree() -> None:
    sums = marginal_sums(randomize_many(MIXED, people(150), FixedKeystream("few")))
    unbiased = sums.marginal(["a", "c"]).value
    assert unbiased.min() < 0  # otherwise nothing is shown
    pairs = [("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d")]
    tables = sums.consistent_marginals(2)
    assert list(tables) == pairs
    shaped = {names: one.value.reshape([PERSON.fields[name].size for name in names]) for names, one in tables.items()}
    for names, one in tables.items():
        assert (one.value >= 0).all()
        assert one.value.sum() == pytest.approx(1)
        assert one.parent is not None
        assert one.parent.value == pytest.approx(sums.marginal(names).value)
        assert np.asarray(one.interval()).tolist() == np.asarray(one.parent.interval()).tolist()
    for first, second in combinations(pairs, 2):
        for name in set(first) & set(second):
            one, other = (shaped[names].sum(axis=1 - names.index(name)) for names in (first, second))
            assert one == pytest.approx(other, abs=1e-9)


def test_tables_that_are_possible_already_stay_what_they_are() -> None:
    even = {name: np.arange(48_000) // step % size for name, step, size in (("a", 24, 2), ("b", 8, 3), ("c", 2, 4), ("d", 1, 2))}
    even["b"] = np.array(["x", "y", "z"])[even["b"]]
    sums = marginal_sums(randomize_many(MIXED, even, FixedKeystream("even")))
    for names, one in sums.consistent_marginals(2).items():
        assert one.value == pytest.approx(sums.marginal(names).value, abs=1e-7)


def test_interactions_add_up_to_the_table() -> None:
    given = np.arange(24.0).reshape(2, 3, 4) ** 2 / 100
    whole = np.full(given.shape, given.mean())
    for wanted in subsets((0, 1, 2)):
        part = interaction(given, (0, 1, 2), wanted)
        for axis in range(part.ndim):
            assert part.sum(axis=axis) == pytest.approx(0)
        shape = [size if place in wanted else 1 for place, size in enumerate(given.shape)]
        whole = whole + part.reshape(shape) / prod(size for place, size in enumerate(given.shape) if place not in wanted)
    assert whole == pytest.approx(given)


def test_one_field_by_itself_has_its_own_labels() -> None:
    reports = randomize_many(MIXED, people(2000), FixedKeystream("labels"))
    sums = marginal_sums(reports)
    assert list(sums.marginal(["b"]).labels or ()) == ["x", "y", "z"]
    assert list(sums.marginal(["a", "b"]).labels or ())[1] == (0, "y")
    alone = attribute_shares(reports)
    assert list(alone) == list(PERSON.fields)
    assert alone["b"].value == pytest.approx(sums.marginal(["b"]).value)


@pytest.mark.parametrize("names", [[], "a", ["a", "a"], ["b", "a"], ["e"]])
def test_tables_of_other_fields_are_refused(names: list[str]) -> None:
    sums = marginal_sums(randomize_many(MIXED, people(500), FixedKeystream("names")))
    with pytest.raises(InvalidParameter):
        sums.marginal(names)


def test_what_was_never_asked_is_not_estimated() -> None:
    pair = Marginals(domain=PERSON, epsilon=1, marginals=[["a", "b"], ["c", "d"]], shares=[1 << 30, 1])
    sums = marginal_sums(randomize_many(pair, people(100), FixedKeystream("unheard")))
    with pytest.raises(InvalidParameter, match="nobody has been asked about c yet"):
        sums.marginal(["c"])
    with pytest.raises(NotSupported, match="no marginal of this mechanism has a, c"):
        sums.marginal(["a", "c"])
    with pytest.raises(InvalidParameter, match="ways must be"):
        sums.marginals(5)
    with pytest.raises(NotSupported, match="has no tables of several fields"):
        marginal_sums(make_mechanism("k-rr", domain=Categories(3), epsilon=1).randomize_many([0, 1]))
