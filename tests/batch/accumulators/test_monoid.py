"""Accumulators are a commutative monoid, for every mechanism there is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.batch import Accumulator, Reports, accumulator_for, accumulator_from_bytes, output_ints
from deniable.batch.packing import outputs_from_ints
from deniable.core import Categories, Mechanism, Report, all_mechanisms, make_mechanism
from deniable.errors import InvalidParameter, Malformed, NotSupported, UnknownVersion, WireError, WrongRecipe
from deniable.privacy import FixedCoins

SEARCHED = ("pem",)  # its reports are kept, not summed: deniable.estimators.PEMCollector has its own tests
MECHANISMS = [next(cls.examples()) for cls in all_mechanisms() if cls.name not in SEARCHED]
every_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: m.name)


def some_reports(mechanism: Mechanism, count: int, seed: int) -> list[Report]:
    coins, inputs = FixedCoins(seed), mechanism.channel.inputs
    return [Report(mechanism.fingerprint, mechanism.channel.draw(i * 7919 % inputs, coins)) for i in range(count)]


@every_mechanism
@settings(max_examples=8, deadline=None)
@given(sizes=st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 6)), seed=st.integers(0, 1000))
def test_folding_parts_and_merging_is_folding_everything(mechanism: Mechanism, sizes: tuple[int, int, int], seed: int) -> None:
    reports = some_reports(mechanism, sum(sizes), seed)
    a, b, c = reports[: sizes[0]], reports[sizes[0] : sizes[0] + sizes[1]], reports[sizes[0] + sizes[1] :]
    whole = accumulator_for(mechanism).add(reports)
    parts = [accumulator_for(mechanism).add(part) for part in (a, b, c)]
    assert parts[0].merge(parts[1]).merge(parts[2]) == whole
    assert parts[2] + (parts[1] + parts[0]) == whole
    assert whole.merge(accumulator_for(mechanism)) == whole
    assert len(whole) == sum(sizes)


@every_mechanism
def test_sums_survive_the_way_through_bytes(mechanism: Mechanism) -> None:
    for count in (0, 1, 40):
        folded = accumulator_for(mechanism).add(some_reports(mechanism, count, 1))
        data = folded.to_bytes()
        assert accumulator_from_bytes(mechanism, data) == folded
        assert accumulator_from_bytes(mechanism, data).to_bytes() == data


@every_mechanism
def test_damaged_or_foreign_sums_are_refused(mechanism: Mechanism) -> None:
    data = accumulator_for(mechanism).add(some_reports(mechanism, 9, 2)).to_bytes()
    other = make_mechanism("k-rr", domain=Categories(321), epsilon=1)
    with pytest.raises(WrongRecipe):
        accumulator_from_bytes(other, data)
    with pytest.raises(UnknownVersion):
        accumulator_from_bytes(mechanism, data[:2] + b"\x63" + data[3:])
    for damaged in (b"", data[:20], data[:-1], data + b"\0", b"xx" + data[2:]):
        with pytest.raises(WireError):
            accumulator_from_bytes(mechanism, damaged)


@every_mechanism
def test_a_batch_and_its_single_reports_give_the_same_sums(mechanism: Mechanism) -> None:
    reports = some_reports(mechanism, 30, 3)
    batch = Reports(mechanism, outputs_from_ints(mechanism.channel, [report.output for report in reports]))
    assert output_ints(mechanism.channel, batch.outputs) == [report.output for report in reports]
    assert accumulator_for(mechanism).add(batch) == accumulator_for(mechanism).add(reports)


def test_a_mechanism_gives_its_own_empty_accumulator() -> None:
    mechanism = make_mechanism("oue", domain=Categories(5), epsilon=1)
    assert mechanism.accumulator() == accumulator_for(mechanism)


def test_reports_that_are_searched_are_not_summed() -> None:
    with pytest.raises(NotSupported, match="PEMCollector"):
        accumulator_for(make_mechanism("pem", epsilon=1))


def test_sums_of_another_recipe_are_not_merged() -> None:
    one, two = (accumulator_for(make_mechanism("k-rr", domain=Categories(5), epsilon=e)) for e in (1, 2))
    with pytest.raises(WrongRecipe):
        one.merge(two)
    with pytest.raises(WrongRecipe):
        one.add(some_reports(two.mechanism, 1, 0))
    with pytest.raises(InvalidParameter):
        one.add(["not a report"])


def test_impossible_outputs_are_refused_when_folding() -> None:
    for name in ("k-rr", "olh"):
        mechanism = make_mechanism(name, domain=Categories(5), epsilon=1)
        outputs = np.array([mechanism.channel.outputs], np.uint64)
        with pytest.raises(Malformed):
            accumulator_for(mechanism).fold(outputs)


def test_counts_that_do_not_add_up_are_refused() -> None:
    mechanism = make_mechanism("k-rr", domain=Categories(5), epsilon=1)
    data = accumulator_for(mechanism).add(some_reports(mechanism, 9, 2)).to_bytes()
    with pytest.raises(Malformed, match="add up"):
        accumulator_from_bytes(mechanism, data[:26] + b"\x0a" + data[27:])


def slow_support(accumulator: Accumulator, reports: list[Report]) -> list[int]:
    sets: Any = accumulator.mechanism.channel
    return [sum(sets.sets.contains(v, report.output) for report in reports) for v in range(sets.inputs)]


@pytest.mark.parametrize("name", ["olh", "blh"])
@pytest.mark.parametrize("size", [2, 9, 300])
def test_hash_support_equals_asking_every_value(name: str, size: int) -> None:
    mechanism = make_mechanism(name, domain=Categories(size), epsilon=3)
    reports = some_reports(mechanism, 60, 5)
    folded = accumulator_for(mechanism).add(reports)
    assert folded.sums.tolist() == slow_support(folded, reports)


@pytest.mark.parametrize("rows", [0, 1, 7, 8, 9, 40])
@pytest.mark.parametrize("size", [2, 63, 64, 65, 130])
def test_bit_counts_equal_adding_up_bits(rows: int, size: int) -> None:
    mechanism = make_mechanism("oue", domain=Categories(size), epsilon=1)
    reports = some_reports(mechanism, rows, 6)
    folded = accumulator_for(mechanism).add(reports)
    assert folded.sums.tolist() == [sum(report.output >> v & 1 for report in reports) for v in range(size)]


def test_large_batches_on_two_threads_count_every_report() -> None:
    mechanism = make_mechanism("k-rr", domain=Categories(100), epsilon=1)
    outputs = (np.arange(1 << 18) % 100).astype(np.uint8)
    folded = accumulator_for(mechanism).add(Reports(mechanism, outputs))
    assert folded.sums.tolist() == np.bincount(outputs, minlength=100).tolist()
    assert folded.n == 1 << 18
