"""What no mechanism of an epsilon can do better, for the errors that the planner predicts.

All of these bound unbiased estimates of people drawn independently (Cramér–Rao), minus what drawing them adds; for
quantiles and distributions they hold for large n, by the delta method. A report of an epsilon-LDP mechanism tells no more
than a mixture of reports whose likelihoods take the values 1 and E = e**epsilon, because the information is convex and
homogeneous in each report's likelihood.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from deniable.design import design, extremal_design
from deniable.domains import Binary, Interval, Rectangle
from deniable.errors import DeniableError
from deniable.exact import Epsilon
from deniable.planning.question import Question
from deniable.planning.way import NORMAL


@dataclass(frozen=True)
class Bound:
    """The least error there can be, and why."""

    error: float
    half_width: float | None
    why: str


def share_bound(size: int, epsilon: float, n: int) -> float:
    """The least root of a share's variance, averaged over `size` values, for people spread evenly.

    The trace of the information about the shares is at most max_d k d (k - d) (E - 1)**2 / (d E + k - d)**2 per report,
    so the variances add up to at least (k - 1)**2 over n times that. Subset selection reaches it.

    >>> round(share_bound(2, 1.0, 1) ** 2, 6)      # E / (E - 1)**2: randomized response is the best for a bit
    0.920674
    """
    e = math.exp(epsilon)
    ideal = size / (e + 1)
    tried = {min(max(int(ideal) + step, 1), size - 1) for step in (-1, 0, 1, 2)}
    least = min((d * e + size - d) ** 2 / (d * (size - d) * (e - 1) ** 2) for d in tried)
    drawn = (1 - 1 / size) / size
    return math.sqrt(max((size - 1) ** 2 / size**2 * least - drawn, 0.0) / n)


def bit_bound(epsilon: float, n: int) -> float:
    """The least root of the variance of a share or a mean, at the worst data: that of a bit, E / (E - 1)**2 / n."""
    e = math.exp(epsilon)
    return math.sqrt(e / n) / (e - 1)


def lower_bound(question: Question, epsilon: Epsilon, n: int) -> Bound | None:
    """A bound on the error of every mechanism and estimate, where one is known."""
    eps = float(question.each(epsilon))
    if question.record is not None:
        return None
    if question.task == "frequency":
        size = 2 if isinstance(question.domain, Binary) or question.data == "worst" else question.domain.size
        found = share_bound(size, eps, n)
        return Bound(found, NORMAL * found, "Cramér–Rao, unbiased shares; for every mechanism with this epsilon")
    if question.task == "mean":
        if question.data == "even":
            return None
        assert isinstance(question.domain, Interval)
        found = float(question.domain.width) * bit_bound(eps, n)
        return Bound(found, NORMAL * found, "Cramér–Rao for people at the two ends of the domain; unbiased means")
    if question.task in ("quantile", "distribution") and isinstance(question.domain, Interval):
        return _shape_bound(question, eps, n)
    if question.task == "location" and isinstance(question.domain, Rectangle):
        return _place_bound(question.domain, epsilon)
    if question.task == "test":
        return _test_bound(question, epsilon, n)
    return None


def _shape_bound(question: Question, eps: float, n: int) -> Bound:
    width = float(question.domain.width)  # type: ignore[attr-defined]
    if question.task == "quantile":
        found = width * bit_bound(eps, n)
        return Bound(found, NORMAL * found, "the share below a value is a bit: Cramér–Rao, for large n")
    inner = (question.bins - 1) / question.bins
    found = width * math.sqrt(2 / math.pi) * inner * bit_bound(eps, n)
    share = share_bound(question.bins, eps, n)
    return Bound(found, NORMAL * share, "the cdf at every edge is a bit: Cramér–Rao, for large n")


def _place_bound(domain: Rectangle, epsilon: Epsilon) -> Bound | None:
    """Proved by the multipliers of a linear program; it takes some seconds."""
    try:
        answer = design(domain, "absolute", epsilon, "uniform")
    except DeniableError:
        return None
    return Bound(answer.lower_bound, None, f"proved by a linear program; {answer.mechanism.name} reaches {answer.worst_case:.6g}")


def _test_bound(question: Question, epsilon: Epsilon, n: int) -> Bound:
    """If both errors were below x, n times the divergence would be above that of coins of x and 1 - x."""
    assert question.hypotheses is not None
    most = n * extremal_design(*question.hypotheses, question.each(epsilon), "kl").upper_bound
    low, high = 1e-300, 0.5
    for _ in range(200):
        middle = math.sqrt(low * high)
        if (1 - 2 * middle) * math.log((1 - middle) / middle) > most:
            low = middle
        else:
            high = middle
    # The average of both errors is at least half of the larger one.
    return Bound(high / 2, None, "from the largest divergence there is at this epsilon (data processing)")
