"""What no kernel draws is drawn one by one, by the same law and into the same arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import pytest

from deniable.batch import Reports, accumulator_for, draw_many, output_ints, randomize_many, sampler_for
from deniable.batch.composed import ScalarSampler
from deniable.core import (
    Bits,
    Categories,
    Channel,
    FakeData,
    Hadamard,
    Identity,
    Interpolated,
    Mechanism,
    Mixture,
    Nested,
    Product,
    Projective,
    Reference,
    Singleton,
    Subsets,
    TwoLevel,
    slid_window,
)
from deniable.estimators import shares
from deniable.privacy import FixedKeystream, goodness_of_fit

COIN = TwoLevel(Singleton(2), 1, 3)
SLOW: dict[str, Channel] = {
    "bits of a hundred": Bits(4, own=50, other=20, scale=100),
    "subsets": TwoLevel(Subsets(4, 2), 4 << 64, 11 << 64),
    "a total of 64 bits": TwoLevel(slid_window(9, 3), 1 << 58, 7 << 59),
    "a low weight that is no power of two": TwoLevel(Hadamard(6), 3, 11),
    "a reference": Reference(
        low=[2 << 62, 1 << 62, 1 << 62, 2 << 62],
        high=[4 << 62, 2 << 62, 2 << 62, 4 << 62],
        output_at=[0, 1, 3, 4],
        input_at=[1, 3],
        total=9 << 62,
    ),
    "a reference with far higher weights": Reference(
        low=[2, 1, 1, 2], high=[1 << 62] * 4, output_at=[0, 1, 3, 4], input_at=[1, 3], total=9
    ),
    "windows in windows": Nested(9, widths=[1, 5], weights=[9 << 64, 3 << 64, 1 << 64]),
    "a mixture of products": Mixture([Product([COIN, COIN]), Product([Identity(2), COIN])], [1, 2]),
    "a mixture with wide shares": Mixture([TwoLevel(Singleton(3), 4, 11), Identity(3)], [3 << 62, 2 << 62]),
}


@pytest.mark.parametrize("name", SLOW)
def test_draws_follow_the_weights(name: str) -> None:
    """Fixed keystream; a true law would fail with probability below 1e-6 for each input."""
    channel = SLOW[name]
    for index in (0, channel.inputs - 1):
        outputs = output_ints(channel, draw_many(channel, np.full(5_000, index), FixedKeystream(name)))
        counts = np.bincount(np.array(outputs, np.int64), minlength=channel.outputs)
        assert goodness_of_fit(counts.tolist(), list(channel.row(index))) > 1e-6


@pytest.mark.parametrize("name", [name for name in SLOW if name != "a mixture of products"])
def test_no_kernel_takes_them(name: str) -> None:
    assert isinstance(sampler_for(SLOW[name]), ScalarSampler)


@pytest.mark.parametrize(
    "channel",
    [
        Interpolated(TwoLevel(Singleton(3), 4, 11), 1 << 62),
        TwoLevel(Projective(3, (1 << 31) - 1, 2), 4, 11),
        FakeData([TwoLevel(Singleton(1 << 16), 4, 11)] * 5),
        TwoLevel(Hadamard(1 << 63), 4, 11),
    ],
    ids=["interpolated", "projective", "fake data", "hadamard"],
)
def test_inputs_and_outputs_too_wide_for_the_kernels_are_possible_ones(channel: Channel) -> None:
    assert isinstance(sampler_for(channel), ScalarSampler)
    outputs = output_ints(channel, draw_many(channel, np.array([0, 1, 2] * 20), FixedKeystream(1)))
    assert all(channel.weight(index, output) > 0 for index, output in zip([0, 1, 2] * 20, outputs, strict=True))
    assert len(set(outputs)) > 1


@dataclass(frozen=True, kw_only=True, repr=False)
class Percent(Mechanism):
    """Bits whose chances are whole percents."""

    domain: Categories = Categories(11)
    name: ClassVar[str] = "percent"

    def build(self) -> Channel:
        return Bits(self.domain.size, own=50, other=20, scale=100)

    def decode(self, output: int) -> int:
        return output

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(epsilon=2)


def test_bits_drawn_one_by_one_are_packed_and_counted_like_all_others() -> None:
    mechanism = Percent(epsilon=2)
    reports = randomize_many(mechanism, np.arange(2_200) % 11, FixedKeystream("percent"))
    assert reports.outputs.shape == (2_200, 2)
    again = Reports.from_bytes(mechanism, reports.to_bytes())
    assert (again.outputs == reports.outputs).all()
    one_by_one = accumulator_for(mechanism).add([reports[i] for i in range(len(reports))])
    assert accumulator_for(mechanism).add(reports) == one_by_one
    estimate = shares(reports)
    # Five standard errors: a false alarm in fewer than one of 10**6 runs for each value; the coins are fixed.
    assert (np.abs(estimate.value - 1 / 11) < 5 * estimate.standard_error).all()
