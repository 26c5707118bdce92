"""Without numba the folds are NumPy's, and every sum is the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deniable.batch import Reports, accumulator_for
from deniable.batch.accumulators import counts, kernels, plain_kernels
from deniable.core import Categories, Mechanism, make_mechanism
from deniable.errors import Malformed

RANDOM = np.random.default_rng(20)
MECHANISMS = [("k-rr", 100), ("oue", 70), ("oue", 64), ("olh", 1000), ("olh", 5), ("subset", 30), ("hadamard", 100)]


def outputs_of(mechanism: Mechanism, count: int) -> Any:
    return mechanism.randomize_many([i % mechanism.domain.size for i in range(count)]).outputs


@pytest.mark.parametrize(("name", "size"), MECHANISMS, ids=str)
def test_both_folds_give_the_same_sums(name: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = make_mechanism(name, domain=Categories(size), epsilon=1)
    reports = Reports(mechanism, outputs_of(mechanism, 5000))
    sums = []
    for folds in (kernels, plain_kernels):
        monkeypatch.setattr(counts, "KERNELS", folds)
        accumulator = accumulator_for(mechanism)
        accumulator.add(reports)
        sums.append(accumulator.to_bytes())
    assert sums[0] == sums[1]


@pytest.mark.parametrize("folds", [kernels, plain_kernels], ids=["numba", "numpy"])
@pytest.mark.parametrize("outputs", [[3, 100], [3, 255], [3, -1]], ids=["next", "far", "negative"])
def test_an_output_out_of_range_is_noticed_and_nothing_is_counted(
    folds: Any, outputs: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "KERNELS", folds)
    mechanism = make_mechanism("k-rr", domain=Categories(100), epsilon=1)
    accumulator = accumulator_for(mechanism)
    for kind in (np.int64, np.uint8) if min(outputs) >= 0 else (np.int64,):
        with pytest.raises(Malformed):
            accumulator.add(Reports(mechanism, np.array(outputs, kind)))
    assert not accumulator.sums.any()
    assert accumulator.n == 0


@pytest.mark.parametrize("kind", [np.uint8, np.uint32, np.uint64, np.int64], ids=lambda kind: kind.__name__)
def test_counters_of_one_byte_lose_nothing_when_they_are_full(kind: Any) -> None:
    outputs = np.repeat(np.arange(7), [0, 1, 255, 256, 257, 512, 1000]).astype(kind)
    for folds in (kernels, plain_kernels):
        sums = np.full(7, 3, np.int64)
        folds.count_outputs(RANDOM.permutation(outputs), sums)
        assert sums.tolist() == [3, 4, 258, 259, 260, 515, 1003]


@pytest.mark.parametrize("rows", [0, 1, 7, 4095, 4097])
def test_bits_beyond_the_last_value_are_not_counted(rows: int) -> None:
    octets = RANDOM.integers(0, 256, (rows, 9), np.uint8)
    sums = np.zeros((2, 70), np.int64)
    kernels.count_bits(octets, sums[0])
    plain_kernels.count_bits(octets, sums[1])
    assert sums[0].tolist() == sums[1].tolist()


@pytest.mark.parametrize(("reports", "values"), [(0, 10), (3, 1), (40, 1 << 15), (70, 1000)])
def test_hashes_wrap_alike(reports: int, values: int) -> None:
    seeds, lows, widths = RANDOM.integers(0, 1 << 32, (3, reports), np.uint32)
    spread = (np.arange(values, dtype=np.uint64) * np.uint64(plain_kernels.GOLDEN)).astype(np.uint32)
    sums = np.zeros((2, values), np.uint32)
    kernels.count_support(seeds, lows, widths, spread, sums[0])
    plain_kernels.count_support(seeds, lows, widths, spread, sums[1])
    assert sums[0].tolist() == sums[1].tolist()
