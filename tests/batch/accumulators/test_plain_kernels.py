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


@pytest.mark.parametrize("kind", [np.uint8, np.uint32, np.uint64], ids=["bytes", "words", "long words"])
def test_an_output_out_of_range_is_noticed_and_not_counted(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for folds in (kernels, plain_kernels):
        found = np.zeros(7, np.int64)
        assert folds.count_outputs(np.array([0, 6, 6], kind), found)
        assert not folds.count_outputs(np.array([3, 7, np.iinfo(kind).max], kind), found)
        assert found.tolist() == [1, 0, 0, 1, 0, 0, 2]
    monkeypatch.setattr(counts, "KERNELS", plain_kernels)
    mechanism = make_mechanism("k-rr", domain=Categories(100), epsilon=1)
    with pytest.raises(Malformed):
        accumulator_for(mechanism).add(Reports(mechanism, np.array([100], np.uint8)))


@pytest.mark.parametrize("rows", [0, 1, 7, 4095, 4097])
def test_bits_beyond_the_last_value_are_not_counted(rows: int) -> None:
    words = RANDOM.integers(0, 1 << 64, (rows, 2), np.uint64)
    sums = np.zeros((2, 70), np.int64)
    kernels.count_bits(words, sums[0])
    plain_kernels.count_bits(words, sums[1])
    assert sums[0].tolist() == sums[1].tolist()


@pytest.mark.parametrize(("reports", "values"), [(0, 10), (3, 1), (40, 1 << 15), (70, 1000)])
def test_hashes_wrap_alike(reports: int, values: int) -> None:
    seeds, lows, widths = RANDOM.integers(0, 1 << 32, (3, reports), np.uint32)
    spread = (np.arange(values, dtype=np.uint64) * np.uint64(plain_kernels.GOLDEN)).astype(np.uint32)
    sums = np.zeros((2, values), np.uint32)
    kernels.count_support(seeds, lows, widths, spread, sums[0])
    plain_kernels.count_support(seeds, lows, widths, spread, sums[1])
    assert sums[0].tolist() == sums[1].tolist()
