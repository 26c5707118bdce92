"""How far m fake users can push an estimate: they send the worst reports the format allows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from deniable.batch import Floats, positions
from deniable.core import Mechanism, NumericMechanism, SetSystem
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import debiasing, support

MOST_OUTPUTS = 1 << 16
MOST_TRIED = 256


@dataclass(frozen=True)
class Gain:
    """The most that fakes add, in expectation, to what is estimated; `exact` says whether some report reaches it."""

    what: str
    gain: float
    per_fake: float
    exact: bool

    @property
    def words(self) -> str:
        """The finding in a sentence."""
        return f"{'at most ' if not self.exact else ''}{self.gain:+.6g} on {self.what}"


def _check(users: int, fakes: int) -> None:
    if users < 1 or fakes < 0:
        raise InvalidParameter("users must be at least 1 and fakes must not be negative")


def count_gain(mechanism: Mechanism, *, users: int, fakes: int, targets: Sequence[int] = (0,), share: float = 0.0) -> Gain:
    """The largest growth of the targets' estimated share of everyone, when they truly have `share` of the `users`.

    A fake report that supports t targets adds (t - r q) / (p - q) to their r estimated counts. The most t is: 1 for
    k-rr, the subset's size for subset selection, r for unary reports and for a hash function (or Hadamard row,
    or hyperplane) that favours all of them.

    >>> from deniable.core import Categories
    >>> from deniable.core import make_mechanism
    >>> gain = count_gain(make_mechanism("k-rr", domain=Categories(100), epsilon=1), users=95, fakes=5)
    >>> abs(gain.gain - 0.05 * (1 + 99 / (math.e - 1))) < 1e-9
    True
    """
    _check(users, fakes)
    chosen = sorted(set(targets))
    inputs = mechanism.channel.inputs
    if not chosen or not 0 <= chosen[0] <= chosen[-1] < inputs:
        raise InvalidParameter(f"targets must be channel inputs from 0 to {inputs - 1}")
    if not 0 <= share <= 1:
        raise InvalidParameter("share must lie between 0 and 1")
    law = support(mechanism)
    most, exact = _most_supported(mechanism, chosen)
    p, q, r = float(law.p), float(law.q), len(chosen)
    each = (most - r * q) / (p - q)
    part = fakes / (users + fakes)
    return Gain(f"the share of {r} target{'s' if r > 1 else ''}", part * (each - share), each, exact)


def _most_supported(mechanism: Mechanism, targets: list[int]) -> tuple[int, bool]:
    """The most targets one report can support, and whether that is known to be reached."""
    channel = mechanism.channel
    sets = channel.set_system
    if channel.free_bits:
        return len(targets), True
    if channel.ones is not None:
        return min(len(targets), channel.ones), True
    if sets is not None and sets.members == 1:
        return 1, True
    if channel.outputs <= MOST_OUTPUTS:
        return max(sum(channel.supports(target, output) for target in targets) for output in range(channel.outputs)), True
    return len(targets), len(targets) == 1 or (sets is not None and _supported_together(sets, targets))


def _supported_together(sets: SetSystem, targets: list[int], tried: int = 20_000) -> bool:
    """Does one of the first outputs that support one target (for hashes: one of the first seeds) support all the others too?"""
    first, *rest = targets
    candidates = (sets.inside(first, j) for j in range(min(tried, sets.members)))
    return any(all(sets.contains(target, output) for target in rest) for output in candidates)


def mean_gain(mechanism: Mechanism, *, users: int, fakes: int, mean: float | None = None) -> Gain:
    """The largest growth of the estimated mean, in the domain's units; `mean` is the true one (its worst when not given)."""
    _check(users, fakes)
    if not isinstance(mechanism, NumericMechanism):
        raise NotSupported(f"{mechanism.name} does not report numbers on an interval")
    rule = debiasing(mechanism)
    if rule is None:
        raise NotSupported(f"{mechanism.name} has no unbiased mean; its distribution can be searched by worst_report")
    outputs = mechanism.channel.outputs
    looked = np.arange(outputs) if outputs <= 1 << 22 else np.array([0, outputs - 3, outputs - 2, outputs - 1])
    unbiased = (positions(rule.reading, looked) - rule.alpha) / rule.beta
    low, width = float(mechanism.domain.low), float(mechanism.domain.width)
    truth = low if mean is None else mean
    if not low <= truth <= low + width:
        raise InvalidParameter("mean must lie in the domain")
    each = low + width * float(unbiased.max()) - truth
    return Gain("the mean", fakes / (users + fakes) * each, each, True)


def worst_report(
    histogram: Sequence[float], estimate: Callable[[Floats], float], *, fakes: int, candidates: Sequence[int] | None = None
) -> tuple[int, Gain]:
    """Try fakes that all send one report, for any estimator of one number from a histogram of reports.

    A search, not a proof: `exact` is False, and mixtures of reports could do better for estimators that are not linear.
    Without candidates, up to 256 outputs spread over the histogram are tried.
    """
    counts = np.asarray(histogram, np.float64)
    _check(int(counts.sum()), fakes)
    tried = np.unique(np.linspace(0, len(counts) - 1, MOST_TRIED).round().astype(int)) if candidates is None else candidates
    before, best = estimate(counts), (-math.inf, 0)
    for output in tried:
        poisoned = counts.copy()
        poisoned[output] += fakes
        best = max(best, (estimate(poisoned) - before, int(output)))
    gain = Gain("the estimate", best[0], best[0] / fakes if fakes else 0.0, False)
    return best[1], gain
