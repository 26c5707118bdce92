"""C(v): how many reports support each value, from the sums of an accumulator.

A report supports the value v when its output lies in S_v; for unary reports, when bit v is 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Accumulator
from deniable.core import Bits, Channel, Hadamard, Hashing, Projective, Singleton, Subsets, TwoLevel
from deniable.errors import NotSupported
from deniable.estimators.law.field_characters import masks, values_favouring
from deniable.estimators.projective_decoder import hyperplane_sums
from deniable.estimators.walsh_hadamard import Number, walsh_hadamard


def support_counts(sums: Accumulator) -> NDArray[np.int64]:
    """How many of the reports support each value: never more than a transform of what was counted.

    >>> from deniable.batch import accumulator_for
    >>> from deniable.core import make_mechanism
    >>> coin = make_mechanism("randomized-response", epsilon=1)
    >>> int(support_counts(accumulator_for(coin).add(coin.randomize_many([0, 1, 1]))).sum())
    3
    """
    channel = sums.mechanism.channel
    # Bits and hashes are counted per value already.
    if isinstance(channel, Bits) or (isinstance(channel, TwoLevel) and isinstance(channel.sets, Subsets | Hashing)):
        return sums.sums
    if isinstance(channel, TwoLevel) and isinstance(channel.sets, Singleton | Hadamard | Projective):
        return sums_over_sets(channel, sums.sums)
    raise NotSupported(f"{sums.mechanism.name} has no values that a report supports; counts are for categorical mechanisms")


def sums_over_sets(channel: TwoLevel, outputs: NDArray[Number]) -> NDArray[Number]:
    """For every value v, the sum of outputs[y] over the y in S_v."""
    sets = channel.sets
    if isinstance(sets, Hadamard):
        signed = walsh_hadamard(outputs)
        # All signs of an output that supports are 1, and they add up to 0 for the others: so // is exact for counts.
        every, elements = signed[0] + signed[masks(sets)].sum(axis=1), 1 << sets.checks
        return np.asarray(every // elements if outputs.dtype.kind == "i" else every / elements, outputs.dtype)
    if isinstance(sets, Projective):
        return hyperplane_sums(sets, outputs, sets.size)
    return outputs


def sums_over_values(channel: TwoLevel, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """For every output y, the sum of values[v] over the v with y in S_v: the transpose of the other."""
    sets = channel.sets
    if isinstance(sets, Hadamard):
        return values_favouring(sets, values)
    if isinstance(sets, Projective):
        # x lies on the hyperplane of y exactly when y lies on that of x.
        points = np.zeros(sets.outputs)
        points[: sets.size] = values
        return hyperplane_sums(sets, points, sets.outputs)
    return values


def counts_outputs(channel: Channel) -> bool:
    """Does the accumulator keep how often each single output occurred, and is a transform known for it?"""
    return isinstance(channel, TwoLevel) and isinstance(channel.sets, Singleton | Hadamard | Projective)
