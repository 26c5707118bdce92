"""Many independent surveys of numbers at once, each as an accumulator of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Accumulator, accumulator_for, randomize_many
from deniable.batch.parallel import WORTH_A_THREAD
from deniable.core import Mechanism
from deniable.privacy import FixedKeystream


def surveys(mechanism: Mechanism, values: NDArray[Any], name: str) -> Iterator[Accumulator]:
    """The accumulator of every row of values; in pieces so small that they are the same on any machine."""
    stream, flat = FixedKeystream(name), values.reshape(-1)
    pieces = [
        randomize_many(mechanism, flat[start : start + WORTH_A_THREAD - 1], stream).outputs
        for start in range(0, len(flat), WORTH_A_THREAD - 1)
    ]
    for row in np.concatenate(pieces).reshape(values.shape):
        one = accumulator_for(mechanism)
        one.n, one.sums = len(row), np.bincount(row.astype(np.int64), minlength=len(one.sums))
        yield one


def people_of(law: Any, shape: tuple[int, int], target: str, seed: int) -> NDArray[Any]:
    """Runs times users: of a population new draws from the law in every run, else the same users, spread as the law says."""
    runs, size = shape
    if target == "population":
        return np.asarray(law.rvs(size=shape, random_state=np.random.default_rng(seed)))
    return np.tile(law.ppf((np.arange(size) + 0.5) / size), (runs, 1))


def expected(mechanism: Mechanism, *inputs: int) -> Accumulator:
    """Exactly what is expected of users with these inputs: every output as often as its integer weight says."""
    one = accumulator_for(mechanism)
    for index in inputs:
        one.sums += np.array(list(mechanism.channel.row(index)), np.int64)
    one.n = len(inputs) * mechanism.channel.total
    return one
