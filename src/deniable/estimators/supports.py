"""C(v): how many reports support each value, from the sums of an accumulator.

A report supports the value v when its output lies in S_v; for unary reports, when bit v is 1.
"""

from __future__ import annotations

from functools import lru_cache, singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Accumulator, LastFew
from deniable.core import Channel, Hadamard, Projective, SetSystem, Singleton
from deniable.errors import NotSupported
from deniable.estimators.law.field_characters import masks, values_favouring
from deniable.estimators.projective_decoder import hyperplane_sums
from deniable.estimators.walsh_hadamard import Number, walsh_hadamard

MOST_WRITTEN = 1 << 22
"""Members of sets that are listed where no transform is known."""


def support_counts(sums: Accumulator) -> NDArray[np.int64]:
    """How many of the reports support each value: never more than a transform of what was counted.

    >>> from deniable.batch import accumulator_for
    >>> from deniable.core import make_mechanism
    >>> coin = make_mechanism("randomized-response", epsilon=1)
    >>> int(support_counts(accumulator_for(coin).add(coin.randomize_many([0, 1, 1]))).sum())
    3
    """
    channel = sums.mechanism.channel
    if channel.sums in ("bits", "values"):  # counted per value already
        return sums.sums
    if channel.set_system is not None and counts_outputs(channel):
        return sums_over_sets(channel.set_system, sums.sums)
    raise NotSupported(f"{sums.mechanism.name} has no values that a report supports; counts are for categorical mechanisms")


@singledispatch
def sums_over_sets(sets: SetSystem, outputs: NDArray[Number]) -> NDArray[Number]:
    """For every value v, the sum of outputs[y] over the y in S_v."""
    return _members(sets) @ outputs


@singledispatch
def sums_over_values(sets: SetSystem, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """For every output y, the sum of values[v] over the v with y in S_v: the transpose of the other."""
    return values @ _members(sets)


@lru_cache(maxsize=4)
def _members(sets: SetSystem) -> NDArray[np.int64]:
    """Which outputs every set holds, written out."""
    if sets.inputs * sets.outputs > MOST_WRITTEN:
        raise NotSupported("these sets have no known transform, and are too many to be written out")
    return np.array([[sets.contains(value, output) for output in range(sets.outputs)] for value in range(sets.inputs)], np.int64)


@sums_over_sets.register
@sums_over_values.register
def _(sets: Singleton, numbers: NDArray[Any]) -> NDArray[Any]:
    return numbers


@sums_over_sets.register
def _(sets: Hadamard, outputs: NDArray[Any]) -> NDArray[Any]:
    signed = walsh_hadamard(outputs)
    # All signs of an output that supports are 1, and they add up to 0 for the others: so // is exact for counts.
    every, elements = signed[0] + signed[masks(sets)].sum(axis=1), 1 << sets.checks
    return np.asarray(every // elements if outputs.dtype.kind == "i" else every / elements, outputs.dtype)


@sums_over_values.register
def _(sets: Hadamard, values: NDArray[Any]) -> NDArray[Any]:
    return values_favouring(sets, values)


@sums_over_sets.register
def _(sets: Projective, outputs: NDArray[Any]) -> NDArray[Any]:
    return hyperplane_sums(sets, outputs, sets.size)


@sums_over_values.register
def _(sets: Projective, values: NDArray[Any]) -> NDArray[Any]:
    # x lies on the hyperplane of y exactly when y lies on that of x.
    points = np.zeros(sets.outputs)
    points[: sets.size] = values
    return hyperplane_sums(sets, points, sets.outputs)


def counts_outputs(channel: Channel) -> bool:
    """Does the accumulator keep how often each single output occurred, and do outputs support values?"""
    return _COUNTS_OUTPUTS(channel)


_COUNTS_OUTPUTS: LastFew[Channel, bool] = LastFew(lambda channel: channel.sums == "outputs" and channel.support() is not None)
