"""What no mechanism of an epsilon can do better, for the errors that the planner predicts.

Most of these bound unbiased estimates of people drawn independently (Cramér–Rao), minus what drawing them adds; for
quantiles and distributions they hold for large n, by the delta method. A report of an epsilon-LDP mechanism tells no more
than a mixture of reports whose likelihoods take the values 1 and E = e**epsilon, because the information is convex and
homogeneous in each report's likelihood. Where no bound is known, the answer says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from deniable.core import Ball, Binary, Circle, Disc, Domain, Epsilon, Interval, Record, Rectangle, Text, Whole
from deniable.errors import DeniableError
from deniable.planning.designs.choose import design
from deniable.planning.designs.extremal import extremal_design
from deniable.planning.question import Question
from deniable.planning.shown import shown_half
from deniable.planning.vectors import unit_vector_bound
from deniable.planning.way import NORMAL
from deniable.planning.workloads.ways import least_error

PRINTABLE = 95
FOUND = 0.95
"""How often a frequent word must be found."""


@dataclass(frozen=True)
class Bound:
    """The least error there can be, and why."""

    error: float
    half_width: float | None
    why: str

    @property
    def words(self) -> str:
        """The bound in a sentence."""
        return f"The lower bound for every mechanism is {self.error:.4g} ({self.why})."


@dataclass(frozen=True)
class NoBound:
    """There may be better mechanisms than the candidates: nothing is known here that excludes them."""

    what: str

    @property
    def words(self) -> str:
        """What is not known, in a sentence."""
        return f"No lower bound is known for {self.what}."


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


def even_mean_bound(epsilon: float, n: int) -> float:
    """The least root of a mean's variance for people spread evenly, in widths of the domain.

    Let shares move along a signed measure g of mass 0 away from the even law. A report's information about the move is at
    most the largest (∫ S g / ∫ S)**2 over likelihoods S in {1, E}. The g with a weight of 1/(E - 1) at the upper end, density
    1 on the upper half, and the mirror image of both below keeps that at 1 and moves the mean by 1/(E - 1) + 1/4.
    Above epsilon = 3.29 this is no more than what drawing the people adds, and says nothing: 0.

    >>> round(even_mean_bound(1.0, 1), 4)
    0.7803
    """
    moved = 1 / math.expm1(epsilon) + 1 / 4
    return math.sqrt(max(moved**2 - 1 / 12, 0.0) / n)


def word_bound(choices: float, words: int, epsilon: float, n: int) -> float:
    """The least share at which one of e**choices words can be in a list of so many with probability 95 %.

    By Fano's inequality for lists: n reports carry at most n share**2 (E - 1)**2 / (4 E) nats about a word that is equally
    likely to be any, when everyone else's word is drawn evenly.

    >>> round(word_bound(32 * math.log(2), 10, 1.0, 10_000), 4)
    0.0818
    """
    e = math.exp(epsilon)
    needed = FOUND * (choices - math.log(words)) - math.log(2)
    return min(1.0, math.sqrt(max(needed, 0.0) * 4 * e / n) / (e - 1))


def lower_bound(question: Question, epsilon: Epsilon, n: int) -> Bound | NoBound:
    """A bound on the error of every mechanism and estimate, or that none is known."""
    eps = float(question.each(epsilon))
    if question.task == "workload":
        return _workload_bound(question, epsilon, n)
    if question.record is not None:
        return _record_bound(question, question.record, epsilon, n)
    if question.task == "frequency":
        size = 2 if isinstance(question.domain, Binary) or question.data == "worst" else question.domain.size
        deviation = share_bound(size, eps, n)
        return Bound(deviation, NORMAL * deviation, "Cramér–Rao, for unbiased shares")
    if question.task == "mean":
        return _mean_bound(question, eps, n)
    if question.task in ("quantile", "distribution"):
        return _shape_bound(question, eps, n)
    if question.task == "heavy-hitters":
        assert isinstance(question.domain, Text | Whole)
        least = word_bound(_choices(question.domain), question.words, eps, n)
        return Bound(least, None, f"Fano's inequality, for lists of at most {question.words} words among evenly drawn ones")
    if question.task == "vector":
        assert isinstance(question.domain, Ball)
        if question.domain.norm != 2:
            return NoBound("vectors of a cube")
        least = float(question.domain.radius) * math.sqrt(unit_vector_bound(question.domain.dimension, eps) / n)
        return Bound(least, None, "the best PrivUnit, for unbiased readings of vectors of full length")
    if question.task == "location":
        return _place_bound(question.domain, epsilon)
    if question.task in ("items", "key-values", "key-distributions"):
        return NoBound("items of sets" if question.task == "items" else "keys with values")
    if question.task == "trend":
        return NoBound("shares over many periods")
    return _test_bound(question, epsilon, n)


def _choices(domain: Text | Whole) -> float:
    """The logarithm of how many words there are; of texts, those of printable ASCII characters."""
    return domain.bits * math.log(2) if isinstance(domain, Whole) else domain.bits / 8 * math.log(PRINTABLE)


def _mean_bound(question: Question, eps: float, n: int) -> Bound | NoBound:
    assert isinstance(question.domain, Interval)
    even = question.data == "even"
    deviation = float(question.domain.width) * (even_mean_bound(eps, n) if even else bit_bound(eps, n))
    if deviation == 0:
        return NoBound("means of evenly spread values at so large an epsilon (beyond 3.29)")
    where = "spread evenly" if even else "at the two ends of the domain"
    return Bound(deviation, NORMAL * deviation, f"Cramér–Rao for people {where}; unbiased means")


def _record_bound(question: Question, record: Record, epsilon: Epsilon, n: int) -> Bound | NoBound:
    """No attribute can be known better than if it had been asked for alone, with all of epsilon."""
    alone = [replace(question, domain=field, attributes=1) for field in record.fields.values()]
    squares = []
    for one in alone:
        bound = lower_bound(one, epsilon, n)
        if isinstance(bound, NoBound):
            return NoBound(f"several attributes: {bound.what}")
        width = float(one.domain.width) if isinstance(one.domain, Interval) else 1.0
        squares.append((bound.error / width) ** 2)
    deviation = math.sqrt(sum(squares) / len(squares))
    return Bound(deviation, NORMAL * deviation, "as if every attribute had been asked for alone with all of epsilon: loose")


def _shape_bound(question: Question, eps: float, n: int) -> Bound | NoBound:
    assert isinstance(question.domain, Interval | Circle)
    if question.task == "distribution" and question.metric == "half-width":
        least = share_bound(question.bins, eps, n)
        if NORMAL * least > 1 / question.bins:
            # Intervals that end at 0 may be shorter than those of unbiased shares.
            return NoBound("intervals of that few reports")
        half = float(shown_half(1 / question.bins, np.array([least]))[0])
        return Bound(half, half, "Cramér–Rao, unbiased shares of the bins")
    width = float(question.domain.width)
    if question.task == "quantile":
        deviation = width * bit_bound(eps, n)
        return Bound(deviation, NORMAL * deviation, "the share below a value is a bit: Cramér–Rao, for large n")
    inner = (question.bins - 1) / question.bins
    deviation = width * math.sqrt(2 / math.pi) * inner * bit_bound(eps, n)
    share = share_bound(question.bins, eps, n)
    return Bound(deviation, NORMAL * share, "the cdf at every edge is a bit: Cramér–Rao, for large n")


def _place_bound(domain: Domain, epsilon: Epsilon) -> Bound | NoBound:
    """Proved by the multipliers of a linear program; it takes some seconds."""
    if not isinstance(domain, Rectangle):
        return NoBound(f"places {'in a disc' if isinstance(domain, Disc) else 'of a list'}")
    try:
        answer = design(domain, "absolute", epsilon, "uniform")
    except DeniableError:
        return NoBound("this rectangle: the linear program that proves one was not solved")
    return Bound(answer.lower_bound, None, f"proved by a linear program; {answer.mechanism.name} reaches {answer.worst_case:.6g}")


def _workload_bound(question: Question, epsilon: Epsilon, n: int) -> Bound | NoBound:
    least = least_error(question, question.each(epsilon), n)
    if least is None:
        return NoBound("a workload of that many values")
    return Bound(least, NORMAL * least, "convex duality over all extremal rows, checked in integers; unbiased answers")


def _test_bound(question: Question, epsilon: Epsilon, n: int) -> Bound:
    """If both errors were below x, n times the divergence would be above that of coins of x and 1 - x."""
    assert question.hypotheses is not None
    most = n * extremal_design(*question.hypotheses, question.each(epsilon), "kl").upper_bound
    low, high = math.log(2), most + 2  # x = e**-t: errors of many users are too small for a number of their own
    for _ in range(200):
        middle = (low + high) / 2
        if (1 - 2 * math.exp(-middle)) * (middle + math.log1p(-math.exp(-middle))) > most:
            high = middle
        else:
            low = middle
    # The average of both errors is at least half of the larger one.
    return Bound(math.exp(-high) / 2, None, "from the largest divergence there is at this epsilon (data processing)")
