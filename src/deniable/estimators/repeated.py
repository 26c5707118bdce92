"""Shares from repeated questions: many reports of one person share the bits that person keeps.

More reports remove the noise of the second layer, never that of the first: with m reports each the variance
falls to that of `sue` at the permanent level, not to 0. For one report each, `shares(source)` is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from deniable.batch import Floats, Reports, unframed
from deniable.core import LAYER, Mechanism, Rappor
from deniable.errors import InvalidParameter, NotSupported, WrongRecipe
from deniable.estimators.estimate import Estimate, Target, check_target
from deniable.estimators.projections import simplex
from deniable.estimators.score_intervals import ScoreIntervals, ScoreQuestion, averaged
from deniable.estimators.source import Source, accumulated

CHUNK_CELLS = 1 << 22


def shares_over_rounds(rounds: Sequence[Source], *, target: Target = "these users") -> Estimate:
    """Shares from several rounds in which the same people reported the same value, one report each.

    Every round is an accumulator or a batch of one `rappor` recipe. Where values changed in between, it is the
    average over the rounds, and the variance is on the safe side: changed values have bits of their own.
    """
    check_target(target)
    if not rounds:
        raise InvalidParameter("rounds must hold at least one round of reports")
    sums = [accumulated(one) for one in rounds]
    mechanism = _rappor(sums[0].mechanism)
    if any(one.mechanism.fingerprint != mechanism.fingerprint for one in sums):
        raise WrongRecipe("all rounds must be of one recipe")
    if len({one.n for one in sums}) > 1:
        raise InvalidParameter("rounds must have one report of everyone each; for uneven numbers use shares_per_user")
    ones = np.sum([one.sums for one in sums], axis=0) / len(sums)
    method = f"unbiased shares of {mechanism.name}, {len(sums)} rounds"
    return _estimate(mechanism, ones, sums[0].n, np.array([float(len(sums))]), target, method)


def shares_per_user(reports: Reports, users: Any, *, target: Target = "these users") -> Estimate:
    """Shares from reports of known users, any number of each; every user counts once.

    `users` says who sent each report: an array of names or numbers, as long as the batch.

    >>> from deniable.core import Categories
    >>> weekly = Rappor(domain=Categories(3), epsilon=1, permanent=3)
    >>> shares_per_user(weekly.randomize_many([2, 2, 0]), ["ann", "ann", "bob"]).n
    2
    """
    check_target(target)
    if not isinstance(reports, Reports):
        raise InvalidParameter(f"reports must be a batch (Reports), got {type(reports).__name__}")
    mechanism = _rappor(reports.mechanism)
    names, who, sent = np.unique(np.asarray(unframed(users)), return_inverse=True, return_counts=True)
    if len(who) != len(reports):
        raise InvalidParameter("users must name the sender of every report, in the order of the reports")
    if len(names) == 0:
        raise InvalidParameter("there are no reports to estimate from")
    weights = 1 / sent[who]
    ones = np.zeros(mechanism.domain.size)
    step = max(1, CHUNK_CELLS // mechanism.domain.size)
    for start in range(0, len(reports), step):
        rows = np.unpackbits(reports.outputs[start : start + step], axis=1, count=mechanism.domain.size, bitorder="little")
        ones += weights[start : start + step] @ rows
    method = f"unbiased shares of {mechanism.name}, {len(reports)} reports of {len(names)} users"
    return _estimate(mechanism, ones, len(names), sent.astype(np.float64), target, method)


def _rappor(mechanism: Mechanism) -> Rappor:
    if not isinstance(mechanism, Rappor):
        raise NotSupported(f"{mechanism.name} keeps no bits between reports; only rappor is for repeated questions")
    return mechanism


def _estimate(mechanism: Rappor, ones: Floats, n: int, sent: Floats, target: Target, method: str) -> Estimate:
    """From how often each bit was 1 (averages of users, added up), n users, and how many reports they sent."""
    own, other = float(mechanism.channel.own), float(mechanism.channel.other)  # type: ignore[attr-defined]
    scale = float(LAYER * LAYER)
    gap = (own - other) / scale
    value = (ones / n - other / scale) / gap
    people = simplex(value, 1.0)
    kept = mechanism.kept / LAYER
    noise = (people * _spread(mechanism, kept, sent) + (1 - people) * _spread(mechanism, 1 - kept, sent)) / gap**2
    if target == "population":
        # One user says nothing about how much users differ: take the most that is possible.
        noise = (noise + people * (1 - people)) * (n / (n - 1)) if n > 1 else np.full_like(value, 1 / (4 * gap**2))
    domain = mechanism.domain
    return Estimate(
        value=value,
        variance=noise / n,
        n=n,
        target=target,
        method=method,
        labels=domain.labels or range(domain.size),
        total=1.0,
        bounds=(0.0, 1.0),
        sure=_intervals(mechanism, value, gap, n, sent, float(target == "population")),
    )


def _intervals(mechanism: Rappor, value: Floats, gap: float, n: int, sent: Floats, sampled: float) -> ScoreIntervals:
    """From the law of a user's average bit, with the value and without it, averaged over how often users reported."""
    kept, own = mechanism.kept / LAYER, np.array([1.0, 0.0])
    moments = np.zeros((2, 2))
    for times, users in zip(*np.unique(sent, return_counts=True), strict=True):
        ones = np.arange(int(times) + 1)
        laws = [stats.binom.pmf(ones, int(times), layer / LAYER) for layer in (mechanism.ones, mechanism.zeros)]
        for kind, chance in enumerate((kept, 1 - kept)):
            law = chance * laws[0] + (1 - chance) * laws[1]
            off = ones / times - law @ (ones / times)
            moments[kind] += users / len(sent) * np.array([law @ off**2, law @ off**3])
    law_of_average = averaged(own, moments[:, 0] / gap**2, moments[:, 1] / gap**3, n, sampled)
    likely = np.clip(value, 0.0, 1.0)
    return ScoreIntervals(
        tuple(
            ScoreQuestion(float(share), own, np.array([one, 1 - one]), law_of_average, n)
            for share, one in zip(value, likely, strict=True)
        )
    )


def _spread(mechanism: Rappor, kept_one: float, sent: Floats) -> float:
    """The variance of a user's average bit whose kept bit is 1 with this chance; averaged over the users.

    The second layer's noise is divided by the number of reports, the first layer's is not.
    """
    one, zero = mechanism.ones / LAYER, mechanism.zeros / LAYER
    fresh = kept_one * one * (1 - one) + (1 - kept_one) * zero * (1 - zero)
    return float(np.mean(fresh / sent) + (one - zero) ** 2 * kept_one * (1 - kept_one))
