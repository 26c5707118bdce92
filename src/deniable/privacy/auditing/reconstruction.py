"""How soon repeated reports give one user's value away: the best guess from the exact law, simulated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.batch import Floats, Keystream, SystemKeystream, draw_many, uniform_below
from deniable.core import Bits, Channel, Mechanism, Subsets
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import clopper_pearson, dense
from deniable.privacy.auditing.own_mechanisms import own_support, spread

REPEATS = (1, 2, 4, 8, 16, 32, 64)
MOST_INPUTS, MOST_WEIGHTS, MOST_SETS = 1 << 12, 1 << 22, 1 << 7
ERROR = 0.05


@dataclass(frozen=True)
class Guess:
    """After so many reports, the share of users whose value is guessed right, its 95 % interval, and what none can exceed."""

    reports: int
    right: float
    interval: tuple[float, float]
    bound: float


@dataclass(frozen=True)
class Reconstruction:
    """The success of the best guesser, who knows the mechanism and thinks every value equally likely."""

    epsilon: float
    inputs: int
    users: int
    guesses: tuple[Guess, ...]

    def reports_until(self, share: float) -> int | None:
        """The first tried number of reports with at least this share right (an estimate); None when none was enough."""
        return next((guess.reports for guess in self.guesses if guess.right >= share), None)

    def fewest_reports(self, share: float) -> int:
        """No guesser reaches this share with fewer, whatever the mechanism of this epsilon."""
        if not 0 < share < 1:
            raise InvalidParameter("share must lie between 0 and 1, both excluded")
        odds = math.log(share / (1 - share)) + math.log(max(self.inputs - 1, 1))
        return max(0, math.ceil(odds / self.epsilon))


def reconstruct(
    mechanism: Mechanism,
    *,
    repeats: Sequence[int] = REPEATS,
    users: int = 2000,
    keystream: Keystream | None = None,
) -> Reconstruction:
    """Let users with random values report again and again with fresh randomness, and guess each value.

    This is what happens without a memo or a ledger. The bound is e**(r epsilon) / (e**(r epsilon) + k - 1) for
    r reports and k values.

    >>> from deniable.core import make_mechanism
    >>> attack = reconstruct(make_mechanism("randomized-response", epsilon=1), repeats=(1, 25), users=500)
    >>> attack.guesses[1].right > attack.guesses[0].right
    True
    """
    channel = mechanism.channel
    if not 2 <= channel.inputs <= MOST_INPUTS:
        raise NotSupported(f"reconstruction tries every value; {mechanism.name} has {channel.inputs}, the most is {MOST_INPUTS}")
    chosen = sorted(set(repeats))
    if users < 100 or not chosen or chosen[0] < 1:
        raise InvalidParameter("users must be at least 100 and repeats positive numbers")
    stream = SystemKeystream() if keystream is None else keystream
    truth = uniform_below(channel.inputs, users, stream)
    likelihood = _likelihood(channel)
    evidence, guesses, done = np.zeros((users, channel.inputs)), [], 0
    ties = uniform_below(1 << 30, users * channel.inputs, stream).reshape(users, -1) / 2.0**60
    for count in chosen:
        for _ in range(count - done):
            evidence += likelihood(draw_many(channel, truth, stream))
        done = count
        hits = int((np.argmax(evidence + ties, axis=1) == truth).sum())
        low, high = clopper_pearson(np.array(hits), users, ERROR / 2)
        interval = float(low), float(high)
        guesses.append(Guess(count, hits / users, interval, _bound(count * float(mechanism.privacy), channel.inputs)))
    return Reconstruction(float(mechanism.privacy), channel.inputs, users, tuple(guesses))


def _bound(epsilon: float, inputs: int) -> float:
    return 1 / (1 + (inputs - 1) * math.exp(-epsilon))


def _log_weights(channel: Channel, outputs: Any) -> Floats:
    """By the exact weights, once for each different row of bytes."""
    different, where = np.unique(outputs, axis=0, return_inverse=True)
    numbers = [int.from_bytes(row.tobytes(), "little") for row in different]
    logs = [[math.log(channel.weight(index, number)) for index in range(channel.inputs)] for number in numbers]
    return np.array(logs)[where.reshape(-1)]


def _likelihood(channel: Channel) -> Any:
    """Outputs of many users -> log likelihoods of every input, up to a constant per output."""
    if isinstance(channel, Bits) or isinstance(channel.set_system, Subsets):
        return lambda outputs: spread(channel, outputs).astype(np.float64)  # a bit for every value, each worth the same
    if channel.unary:
        if channel.inputs > MOST_SETS:
            raise NotSupported(f"reconstruction from sets tries at most {MOST_SETS} of them, and there are {channel.inputs:,}")
        return lambda outputs: _log_weights(channel, outputs)
    support = own_support(channel)
    if support is not None:
        values = range(channel.inputs)
        return lambda outputs: np.column_stack([support(outputs, value) for value in values]).astype(np.float64)
    if channel.inputs * channel.outputs > MOST_WEIGHTS:
        raise NotSupported("reconstruction needs a channel whose weights can be written out; use fewer cells")
    with np.errstate(divide="ignore"):
        logs = np.log(dense(channel, np.arange(channel.inputs)))
    return lambda outputs: logs[:, np.asarray(outputs, np.int64)].T
