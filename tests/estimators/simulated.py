"""Many independent surveys at once: the support counts of every run, straight from the reports and the set systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Accumulator, accumulator_for, randomize_many
from deniable.batch.parallel import WORTH_A_THREAD
from deniable.core import Binary, Categories, Mechanism, make_mechanism
from deniable.privacy import FixedKeystream

CATEGORICAL = ["k-rr", "sue", "oue", "sign-bits", "hadamard", "subset", "blh", "olh", "projective"]
ALL = ["randomized-response", "exponential", *CATEGORICAL]


def mechanism_of(name: str, size: int, epsilon: float) -> Mechanism:
    """The mechanism on so many categories, or on a bit."""
    domain = Binary() if name == "randomized-response" else Categories(size)
    made: Mechanism = make_mechanism(name, domain=domain, epsilon=epsilon)
    return made


def outputs_of_runs(mechanism: Mechanism, people: NDArray[np.int64], name: str) -> NDArray[Any]:
    """One report for each person of people[run]; in pieces so small that they are the same on any machine."""
    stream, flat = FixedKeystream(name), people.reshape(-1)
    pieces = [
        randomize_many(mechanism, flat[start : start + WORTH_A_THREAD - 1], stream).outputs
        for start in range(0, len(flat), WORTH_A_THREAD - 1)
    ]
    joined = np.concatenate(pieces)
    return joined.reshape(*people.shape, *joined.shape[1:])


def sums_of_runs(mechanism: Mechanism, outputs: NDArray[Any]) -> NDArray[np.int64]:
    """What each run's accumulator would hold, one row per run."""
    runs = len(outputs)
    empty = accumulator_for(mechanism)
    if outputs.ndim == 3:
        bits = np.unpackbits(outputs, axis=2, count=len(empty.sums), bitorder="little")
        return np.asarray(bits.sum(axis=1, dtype=np.int64))
    if type(empty).__name__ == "SupportCounts":
        sets = mechanism.channel.sets  # type: ignore[attr-defined]
        seeds, buckets = np.divmod(outputs.astype(np.uint64), np.uint64(sets.buckets))
        return np.stack([(sets.bucket(seeds, v) == buckets).sum(axis=1) for v in range(sets.size)], axis=1)
    width = len(empty.sums)
    labelled = outputs.astype(np.int64) + width * np.arange(runs)[:, None]
    return np.bincount(labelled.reshape(-1), minlength=runs * width).reshape(runs, width)


def accumulators(mechanism: Mechanism, sums: NDArray[np.int64], n: int) -> Iterator[Accumulator]:
    """Every row as an accumulator of n reports."""
    for row in sums:
        one = accumulator_for(mechanism)
        one.n, one.sums = n, row
        yield one
