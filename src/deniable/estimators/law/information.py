"""How much a report tells about the value, in nats."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from deniable.batch import Floats
from deniable.core import Channel, Hadamard, Mechanism, SetSystem, TwoLevel
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators.law.field_characters import values_favouring
from deniable.estimators.law.rows import MOST_OUTPUTS, dense


def mutual_information(mechanism: Mechanism, prior: Sequence[float] | Floats | None = None) -> float:
    """I(input; output) in nats, for a prior over the channel's inputs (uniform when None).

    Small channels: the whole matrix. Windows and Hadamard sets: from how many inputs favour each output.
    Subsets and unary bits: closed forms for the uniform prior.

    >>> from deniable.core import RandomizedResponse
    >>> round(mutual_information(RandomizedResponse(epsilon=1)), 6)
    0.110944
    """
    channel = mechanism.channel
    weights = _prior(channel, prior)
    if channel.inputs * channel.outputs <= MOST_OUTPUTS:
        return _matrix(dense(channel, np.arange(channel.inputs)), weights)
    levels = channel.two_level
    if levels is not None:
        few = channel.inputs <= MOST_OUTPUTS and channel.outputs <= MOST_OUTPUTS
        share = _favoured_share(levels.sets, weights) if few else None
        if share is not None:
            marginal = (levels.low + (levels.high - levels.low) * share) / levels.total
            return max(0.0, _entropy(marginal) - _row_entropy(levels))
        if prior is None and channel.ones is not None:
            # Every subset is as likely as any other.
            return max(0.0, math.log(channel.occurring) - _row_entropy(levels))
    support = channel.support()
    if prior is None and channel.free_bits and support is not None:
        return _unary(channel.inputs, float(support[0]), float(support[1]))
    raise NotSupported(
        f"the mutual information of {type(mechanism).__name__} with {channel.inputs} inputs has no short form here; "
        "closed_form(mechanism, 'information_bound') bounds it for every prior"
    )


def _prior(channel: Channel, prior: Sequence[float] | Floats | None) -> Floats | None:
    if prior is None:
        return None
    shares = np.asarray(prior, dtype=np.float64)
    if shares.shape != (channel.inputs,) or not np.all(shares >= 0) or not abs(shares.sum() - 1) < 1e-9:
        raise InvalidParameter(f"prior must be {channel.inputs} probabilities that sum to 1")
    return np.asarray(shares / shares.sum())


def _matrix(rows: Floats, prior: Floats | None) -> float:
    share = np.full(len(rows), 1 / len(rows)) if prior is None else prior
    marginal = share @ rows
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(rows > 0, rows * np.log(rows / marginal), 0.0)
    return max(0.0, float(share @ logs.sum(axis=1)))


def _entropy(chances: Floats) -> float:
    used = chances[chances > 0]
    return float(-(used * np.log(used)).sum())


def _row_entropy(channel: TwoLevel) -> float:
    """The same for every input, since all favoured sets are equally large."""
    inside = channel.favoured / channel.total
    # Logs of the integers themselves: the counts of subsets are far beyond a double.
    return math.log(channel.total) - inside * math.log(channel.high) - (1 - inside) * math.log(channel.low)


def _favoured_share(sets: SetSystem, prior: Floats | None) -> Floats | None:
    """For every output, the prior weight of the inputs that favour it."""
    weights = np.full(sets.inputs, 1 / sets.inputs) if prior is None else prior
    window = sets.window
    if window is not None:
        start = np.clip(window.offset + np.arange(window.inputs), window.first, window.last) % window.outputs
        begins = np.bincount(start, weights, minlength=window.outputs)
        # Running sums over two turns count windows that wrap around as well.
        sums = np.concatenate([[0.0], np.cumsum(np.tile(begins, 2))])
        y = np.arange(window.outputs) + window.outputs + 1
        return np.asarray(sums[y] - sums[y - window.members])
    if isinstance(sets, Hadamard):
        return values_favouring(sets, weights)
    return None


def _unary(k: int, own: float, other: float) -> float:
    """By symmetry the probability of a bit string depends only on how many ones it has."""
    ones = np.arange(k + 1, dtype=np.float64)
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, k + 1)))])
    strings = log_factorial[k] - log_factorial - log_factorial[::-1]
    plain = ones * math.log(other) + (k - ones) * math.log(1 - other)
    tilt = ones / k * own / other + (k - ones) / k * (1 - own) / (1 - other)
    chances = np.exp(strings + plain) * tilt
    # I = E ln(P(y|x) / P(y)); against independent `other` bits both ratios are short.
    joint_one = own * math.log(own / other) + (1 - own) * math.log((1 - own) / (1 - other))
    return max(0.0, joint_one - float((chances * np.log(tilt)).sum()))
