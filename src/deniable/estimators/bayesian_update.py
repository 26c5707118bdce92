"""The most likely shares, by iterative Bayesian update: EM with the channel as the law of each report.

Every step gives each report's unit of mass to the values by their posterior under the current shares, and the
new shares are the means of that. The likelihood is concave, and for shares s with

    g(x) = mean over reports y of Pr[y | x] / Pr[y under s]

the best log-likelihood is at most n * (max g - 1) above that of s: the stopping rule is a certificate.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from deniable.batch import Floats
from deniable.core import Channel
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators.estimate import Estimate, Target
from deniable.estimators.frequency import shares
from deniable.estimators.law.rows import dense
from deniable.estimators.source import Source, accumulated
from deniable.estimators.supports import sums_over_sets, sums_over_values

Map = Callable[[Floats], Floats]


def likely_shares(source: Source, *, target: Target = "these users", gap: float = 0.01, steps: int = 10_000) -> Estimate:
    """The maximum-likelihood shares of the values; they are possible shares, and biased.

    Stops when the log-likelihood is within `gap` of the best possible, or after so many steps; `method`
    says which. The unbiased shares are the result's `parent`, and its intervals are theirs, cut to [0, 1].
    Needs how often every single output occurred, which unary, subset and hashed reports do not keep.

    >>> from deniable.core import make_mechanism
    >>> coin = make_mechanism("randomized-response", epsilon=1)
    >>> likely = likely_shares(coin.randomize_many([1] * 1000))
    >>> bool(likely.value.min() >= 0), round(float(likely.value.sum()), 6)
    (True, 1.0)
    """
    if not gap > 0 or steps < 1:
        raise InvalidParameter("gap must be positive and steps at least 1")
    sums = accumulated(source)
    mechanism, n = sums.mechanism, sums.n
    forward, back = likelihood_maps(mechanism.channel, mechanism.name)
    unbiased = shares(sums, target=target)
    seen = sums.sums / n
    now = np.full(len(unbiased.value), 1 / len(unbiased.value))
    left = np.inf
    for _ in range(steps):
        # An output that nobody reported has no say, however unlikely it is.
        ratio = np.divide(seen, forward(now), out=np.zeros_like(seen), where=seen > 0)
        gain = back(ratio)
        left = n * (float(gain.max()) - 1)
        if left <= gap:
            break
        now = now * gain
        now /= now.sum()
    reached = f"within {gap:g} of the best log-likelihood" if left <= gap else f"stopped {left:.2g} below the best log-likelihood"
    return Estimate(
        value=now,
        variance=unbiased.variance,
        covariance=partial(getattr, unbiased, "covariance"),  # type: ignore[arg-type]
        n=n,
        target=target,
        method=f"most likely shares of {mechanism.name}, {reached} (intervals are those of the unbiased shares)",
        labels=unbiased.labels,
        total=unbiased.total,
        bounds=unbiased.bounds,
        small_sample=unbiased.small_sample,
        parent=unbiased,
    )


def likelihood_maps(channel: Channel, name: str) -> tuple[Map, Map]:
    """Shares of values -> chances of outputs, and its transpose; by fast transforms where there are any."""
    if channel.sums != "outputs":
        raise NotSupported(
            f"the sums of {name} are not how often each output occurred, so they do not give the likelihood of its reports; "
            "use shares(...).projected('simplex')"
        )
    levels = channel.two_level
    if levels is None:
        law = dense(channel, np.arange(channel.inputs))
        return (lambda values: values @ law), (lambda outputs: law @ outputs)
    low = levels.low / levels.total
    step = (levels.high - levels.low) / levels.total
    return (
        lambda values: low * values.sum() + step * sums_over_values(levels.sets, values),
        lambda outputs: low * outputs.sum() + step * sums_over_sets(levels.sets, outputs),
    )
