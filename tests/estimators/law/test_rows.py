"""Rows as arrays agree with the channels' own integers, output by output."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.core import (
    Chain,
    Channel,
    Interpolated,
    Mechanism,
    Mixture,
    Nested,
    Product,
    Profile,
    Singleton,
    Steps,
    Table,
    TwoLevel,
    all_mechanisms,
    linear_window,
    slid_window,
    wrapped_window,
)
from deniable.errors import NotSupported
from deniable.estimators import dense, runs

SMALL: list[Channel] = [
    TwoLevel(slid_window(9, 3), 2, 5),
    TwoLevel(wrapped_window(9, 3), 2, 5),
    TwoLevel(linear_window(6, 4, margin=1), 2, 5),
    TwoLevel(Singleton(4), 1, 3),
    Nested(11, widths=[1, 5], weights=[9, 2, 4]),
    Interpolated(TwoLevel(slid_window(5, 3), 1, 4), 3),
    Interpolated(Table([[3, 1, 1], [2, 2, 1], [1, 1, 3]]), 4),
    Mixture([TwoLevel(slid_window(5, 3), 1, 4), TwoLevel(Singleton(5), 1, 2)], [1, 3]),
    Mixture([Table([[3, 1], [2, 2]]), TwoLevel(Singleton(2), 1, 2)], [2, 3]),
    Profile([1, 2, 4, 8, 4, 2, 1], first=-3, inputs=3, margin=1),
    Profile([8, 4, 2, 4], first=0, inputs=4, wrap=True),
    Chain(TwoLevel(Singleton(3), 1, 2), Table([[3, 1], [2, 2], [1, 3]])),
    Product([TwoLevel(Singleton(3), 1, 2), Table([[3, 1], [2, 2]])]),
]

EXAMPLES = [example for kind in all_mechanisms() for example in kind.examples()]


@pytest.mark.parametrize("channel", SMALL, ids=lambda channel: type(channel).__name__)
def test_every_row_is_the_channels_own(channel: Channel) -> None:
    found = dense(channel, np.arange(channel.inputs))
    exact = [[weight / channel.total for weight in channel.row(index)] for index in range(channel.inputs)]
    np.testing.assert_allclose(found, exact, rtol=1e-14, atol=1e-16)


@pytest.mark.parametrize("example", EXAMPLES, ids=repr)
def test_rows_of_every_example_follow_the_weights(example: Mechanism) -> None:
    channel = example.channel
    # Walks have no array form: each of their weights is computed by itself.
    if channel.outputs > (1 << 16 if isinstance(channel, Steps) else 1 << 22):
        stretches = runs(channel, np.array([0]))
        assert stretches is None or float(((stretches.stops - stretches.starts) * stretches.chances).sum()) == pytest.approx(1)
        return
    for index in {0, channel.inputs // 3, channel.inputs - 1}:
        row = dense(channel, np.array([index]))[0]
        assert row.shape == (channel.outputs,)
        assert float(row.sum()) == pytest.approx(1, abs=1e-9)
        step = max(1, channel.outputs // 97)
        for output in {*range(0, channel.outputs, step), channel.outputs - 1}:
            assert row[output] == pytest.approx(channel.weight(index, output) / channel.total, rel=1e-12, abs=1e-300)


def test_rows_that_are_too_long_are_refused() -> None:
    with pytest.raises(NotSupported, match="too long"):
        dense(TwoLevel(slid_window(1 << 23, 3), 1, 2), np.array([0]))
