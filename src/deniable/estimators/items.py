"""How many people have each item, and how many items people have, from reports about sets.

A report names places: items and, behind them, dummies that fill every set up to `at_most`. A place that a person holds is
named with probability p, any other with q, so with C(i) reports that name item i out of n the share (C(i)/n - q) / (p - q) is
unbiased. A set of j items holds the first at_most - j dummies: the share of the t-th dummy is how many have few items.
Reports that list whole sets are read the same way, by the sets that hold the item or have the size.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import stats

from deniable.batch import Accumulator, Floats
from deniable.core import Channel, ItemSet, Mechanism, Padding, count_up_to
from deniable.errors import NotSupported
from deniable.estimators.estimate import Estimate, Target, check_target
from deniable.estimators.frequency import OWN
from deniable.estimators.intervals import SupportInterval
from deniable.estimators.projections import simplex
from deniable.estimators.score_intervals import ScoreIntervals, ScoreQuestion, averaged
from deniable.estimators.source import Source, accumulated


def item_shares(source: Source, *, target: Target = "these users") -> Estimate:
    """The share of people who have each item, unbiased, in the order of the items; people have several, so they add up to no total.

    >>> from deniable.core import ItemSet, make_mechanism
    >>> travel = make_mechanism("padding-sampling", domain=ItemSet(["bus", "car", "bike"], at_most=2), epsilon=2)
    >>> estimate = item_shares(travel.randomize_many([["bus", "bike"], [], ["bus"]] * 500))
    >>> low, high = estimate.interval(0.9999)
    >>> bool(low[0] <= 2 / 3 <= high[0])
    True
    """
    sums, domain = _sets(source, target)
    channel, n = sums.mechanism.channel, sums.n
    if channel.padded is None:
        holds = np.array([[item in domain.members(index) for index in range(domain.size)] for item in range(domain.items.size)])
        return _listed(sums, holds, target, "items", domain.labels, total=None)
    p, q = _chances(channel)
    named = sums.sums[: domain.items.size]
    share = (named / n - q) / (p - q)
    exact = SupportInterval(named, n, p, q, 1 / n, target == "these users")
    near = SupportInterval(named, n, p, q, 1 / n, target == "these users", OWN)
    return Estimate(
        value=share,
        variance=_spread(np.clip(share, 0, 1), p, q, n, target),
        n=n,
        target=target,
        method=f"unbiased shares of the items of {sums.mechanism.name}",
        labels=domain.labels,
        bounds=(0.0, 1.0),
        small_sample=exact,
        sure=near,
    )


def size_shares(source: Source, *, target: Target = "these users") -> Estimate:
    """The share of people with 0, 1, … `at_most` items, unbiased."""
    sums, domain = _sets(source, target)
    mechanism, n, most = sums.mechanism, sums.n, domain.at_most
    padded = mechanism.channel.padded
    if padded is None:
        sizes = np.array([len(domain.members(index)) for index in range(domain.size)])
        return _listed(sums, sizes == np.arange(most + 1)[:, None], target, "sizes", range(most + 1), total=1.0)
    p, q = _chances(mechanism.channel)
    # The share of people with at most t items, for t = 0 … at_most: the last dummy is held by empty sets only.
    few = np.append((sums.sums[padded.items : padded.places][::-1] / n - q) / (p - q), 1.0)
    value = np.diff(few, prepend=0.0)
    questions, variance = [], np.empty(most + 1)
    likely = simplex(value, 1.0)
    for size in range(most + 1):
        moments = averaged(*_size_law(mechanism.channel, padded, size, p, q), n, float(target == "population"))
        counts = np.zeros(most + 1)
        counts[size] = 1.0
        # Between the ends it is a difference of two counts, whose lattice is no guide to its tails: three times the step holds.
        step = (3 if 0 < size < most else 1) / (n * (p - q))
        questions.append(ScoreQuestion(float(value[size]), counts, likely, moments, n, step))
        variance[size] = moments(likely)[0]
    return Estimate(
        value=value,
        variance=variance,
        n=n,
        target=target,
        method=f"unbiased shares of the sizes of {mechanism.name}",
        labels=range(most + 1),
        total=1.0,
        bounds=(0.0, 1.0),
        sure=ScoreIntervals(tuple(questions)),
    )


def item_noise(mechanism: Mechanism, share: float = 0.0) -> float:
    """The variance that the noise of one report adds to an item's share, for an item of which this share of people have one.

    >>> from deniable.core import ItemSet, make_mechanism
    >>> apps = ItemSet(50, at_most=3)
    >>> single, several = (make_mechanism(name, domain=apps, epsilon=1) for name in ("padding-sampling", "priv-set"))
    >>> item_noise(several) < item_noise(single)
    True
    """
    channel, domain = mechanism.channel, mechanism.domain
    if not isinstance(domain, ItemSet):
        raise NotSupported(f"{mechanism.name} does not report sets of items")
    if channel.padded is not None:
        p, q = _chances(channel)
        return (q * (1 - q) * (1 - share) + p * (1 - p) * share) / (p - q) ** 2
    chances, chosen = channel.support(), channel.ones
    if chances is None or chosen is None:
        raise NotSupported(f"reports of {mechanism.name} do not list sets")
    p, q = map(float, chances)
    holding = count_up_to(domain.items.size - 1, domain.at_most - 1)
    inside, outside = (_listed_moments(domain.size, holding, chosen, p, own)[0] for own in (True, False))
    return (share * inside + (1 - share) * outside) / (p - q) ** 2


def _sets(source: Source, target: Target) -> tuple[Accumulator, ItemSet]:
    check_target(target)
    sums = accumulated(source)
    domain = sums.mechanism.domain
    if not isinstance(domain, ItemSet):
        raise NotSupported(f"{sums.mechanism.name} does not report sets of items; shares of items are for the domain ItemSet")
    return sums, domain


def _chances(channel: Channel) -> tuple[float, float]:
    """How likely a report names a place that is held, and one that is not."""
    held, other = channel.naming(1, 1), channel.naming(0, 1)
    assert held is not None
    assert other is not None
    return float(held), float(other)


def _spread(share: Floats, p: float, q: float, n: int, target: Target) -> Floats:
    """The variance of unbiased shares: of the noise, and for a population of who was asked."""
    noise = (q * (1 - q) * (1 - share) + p * (1 - p) * share) / (p - q) ** 2
    return np.asarray(noise / n if target == "these users" else (noise + share * (1 - share)) / max(n - 1, 1))


def _size_law(channel: Channel, padded: Padding, size: int, p: float, q: float) -> tuple[Floats, Floats, Floats]:
    """Mean, variance and third central moment of what one report adds to the share of a size, by the person's own size.

    It adds (1 if the dummy for "at most this size" is named, less 1 if that for "fewer" is) / (p - q).
    """
    most, gap = padded.at_most, p - q
    moments = np.empty((3, most + 1))
    for own in range(most + 1):
        upper, lower = own <= size, own <= size - 1
        up = p if upper else q
        down = p if lower else q
        both = float(channel.naming(int(upper) + int(lower), 2) or 0)
        # At either end one of the two is certain, and only the other dummy is asked about.
        if size == 0:
            law, values = np.array([up, 1 - up]), np.array([1 - q, -q]) / gap
        elif size == most:
            law, values = np.array([down, 1 - down]), 1 - np.array([1 - q, -q]) / gap
        else:
            law, values = np.array([up - both, down - both, 1 - up - down + 2 * both]), np.array([1.0, -1.0, 0.0]) / gap
        mean = law @ values
        moments[:, own] = mean, law @ (values - mean) ** 2, law @ (values - mean) ** 3
    return moments[0], moments[1], moments[2]


def _listed(sums: Accumulator, holds: Any, target: Target, what: str, labels: Sequence[Any], total: float | None) -> Estimate:
    """Shares from reports that list whole sets: of the sets in each row of `holds`."""
    channel, n = sums.mechanism.channel, sums.n
    chances, chosen = channel.support(), channel.ones
    if chances is None or chosen is None:
        raise NotSupported(f"reports of {sums.mechanism.name} do not list sets")
    p, q = map(float, chances)
    value = (holds @ sums.sums / n - holds.sum(axis=1) * q) / (p - q)
    own = np.array([1.0, 0.0])
    questions, variance = [], np.empty(len(holds))
    for row, share in enumerate(value.tolist()):
        noise = np.array([_listed_moments(len(sums.sums), int(holds[row].sum()), chosen, p, inside) for inside in (True, False)])
        moments = averaged(own, noise[:, 0] / (p - q) ** 2, noise[:, 1] / (p - q) ** 3, n, float(target == "population"))
        likely = np.array([min(max(share, 0.0), 1.0), 1 - min(max(share, 0.0), 1.0)])
        questions.append(ScoreQuestion(share, own, likely, moments, n, 1 / (n * (p - q))))
        variance[row] = moments(likely)[0]
    return Estimate(
        value=value,
        variance=variance,
        n=n,
        target=target,
        method=f"unbiased shares of the {what} of {sums.mechanism.name}",
        labels=labels,
        total=total,
        bounds=(0.0, 1.0),
        sure=ScoreIntervals(tuple(questions)),
    )


@lru_cache(maxsize=256)
def _listed_moments(sets: int, counted: int, chosen: int, p: float, inside: bool) -> tuple[float, float]:
    """Variance and third central moment of how many of the `counted` sets a report lists, for a person with one of them or not."""
    listed = np.arange(chosen + 1)
    law = np.zeros(chosen + 1)
    others = counted - inside
    for chance, drawn, own in ((p, chosen - 1, inside), (1 - p, chosen, False)):
        # The person's own set is on the list with the chance p; the rest of the list is even among the other sets.
        law += chance * stats.hypergeom.pmf(listed - own, sets - 1, others, drawn)
    off = listed - law @ listed
    return float(law @ off**2), float(law @ off**3)
