"""How many people have each value, from categorical reports.

A report *supports* a value v when its output lies in S_v (for unary reports: when bit v is 1). A person
with value v is supported with probability p, anyone else with probability q, so with C(v) supporting
reports out of n the count (C(v) - n q) / (p - q) is unbiased.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.channels import Bits, Singleton, TwoLevel
from deniable.channels.hadamard import Hadamard
from deniable.channels.subsets import Subsets
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators.estimate import Estimate, Target, check_target
from deniable.estimators.outputs import outputs_of
from deniable.mechanisms.base import Mechanism
from deniable.utility import support

MOST_LOOKUPS = 1 << 24
"""Set systems without a faster way are asked report by report and value by value, up to so many times."""
_CHUNK = 1 << 14


def counts(mechanism: Mechanism, reports: Any, *, target: Target = "these users") -> Estimate:
    """The number of people with each value, unbiased, in the order of the domain's values.

    >>> from deniable.domains import Categories
    >>> from deniable.mechanisms.categorical.k_rr import KaryRandomizedResponse
    >>> mechanism = KaryRandomizedResponse(domain=Categories(3), epsilon=1)
    >>> found = counts(mechanism, [mechanism.randomize(2) for _ in range(100)])
    >>> abs(float(found.value.sum()) - 100) < 1e-9      # unbiased counts of k-rr add up to everyone
    True
    """
    check_target(target)
    supported = support_counts(mechanism, reports)
    law = support(mechanism)
    p, q, n = float(law.p), float(law.q), supported.n
    value = (supported.counts - n * q) / (p - q)
    if target == "population":
        seen = np.clip(supported.counts / n, 0, 1)
        variance = n * seen * (1 - seen) / (p - q) ** 2
    else:
        variance = n * q * (1 - q) / (p - q) ** 2 + np.clip(value, 0, n) * (1 - p - q) / (p - q)
    return Estimate(value, np.sqrt(np.maximum(variance, 0)), n, target, f"unbiased counts of {mechanism.name}")


def shares(mechanism: Mechanism, reports: Any, *, target: Target = "these users") -> Estimate:
    """The share of people with each value: counts divided by the number of reports."""
    found = counts(mechanism, reports, target=target)
    return Estimate(found.value / found.n, found.standard_error / found.n, found.n, target, f"unbiased shares of {mechanism.name}")


class Supported:
    """C(v) for every value, and the number of reports."""

    __slots__ = ("counts", "n")

    def __init__(self, found: NDArray[np.int64], n: int) -> None:
        self.counts = found.astype(np.float64)
        self.n = n


def support_counts(mechanism: Mechanism, reports: Any) -> Supported:
    """How many reports support each value."""
    channel = mechanism.channel
    outputs = outputs_of(mechanism, reports)
    n = len(outputs)
    if n == 0:
        raise InvalidParameter("reports must not be empty")
    if isinstance(channel, Bits) or (isinstance(channel, TwoLevel) and isinstance(channel.sets, Subsets)):
        return Supported(_bit_sums(outputs, channel.inputs), n)
    if not isinstance(channel, TwoLevel):
        raise NotSupported(f"{mechanism.name} has no values that a report supports; counts are for categorical mechanisms")
    if isinstance(channel.sets, Singleton):
        return Supported(np.bincount(outputs.astype(np.int64), minlength=channel.inputs), n)
    if isinstance(channel.sets, Hadamard):
        seen = np.bincount(outputs.astype(np.int64), minlength=channel.outputs)
        # Sum over y of (-1)**parity(x & y) = supporting minus other reports.
        return Supported((n + walsh_hadamard(seen)[1 : channel.inputs + 1]) // 2, n)
    return Supported(_look_up(channel, outputs), n)


def walsh_hadamard(column: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sums over y of (-1)**parity(x & y) * column[y], for every x; the length is a power of two.

    >>> walsh_hadamard(np.array([1, 2, 3, 4])).tolist()
    [10, -2, -4, 0]
    """
    found = column.astype(np.int64)
    step = 1
    while step < len(found):
        pairs = found.reshape(-1, 2, step)
        found = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        step *= 2
    return found


def _bit_sums(rows: NDArray[np.uint8], size: int) -> NDArray[np.int64]:
    """How often each bit is 1, in rows of bytes with bit v in byte v // 8."""
    found = np.zeros(size, np.int64)
    for begin in range(0, len(rows), _CHUNK):
        found += np.unpackbits(rows[begin : begin + _CHUNK], axis=1, count=size, bitorder="little").sum(axis=0, dtype=np.int64)
    return found


def _look_up(channel: TwoLevel, outputs: NDArray[Any]) -> NDArray[np.int64]:
    """By asking the set system about every different output."""
    different, times = np.unique(outputs, return_counts=True)
    if len(different) * channel.inputs > MOST_LOOKUPS:
        raise NotSupported(f"this mechanism needs {len(different) * channel.inputs} look-ups; the most done here is {MOST_LOOKUPS}")
    found = np.zeros(channel.inputs, np.int64)
    for output, count in zip(different.tolist(), times.tolist(), strict=True):
        for value in range(channel.inputs):
            if channel.sets.contains(value, output):
                found[value] += count
    return found
