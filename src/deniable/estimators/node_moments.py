"""The law of what one report adds to a weighted sum of a level's nodes."""

from __future__ import annotations

from deniable.batch import Floats
from deniable.core import Channel
from deniable.estimators.supports import sums_over_sets, sums_over_values


def node_moments(channel: Channel, pull: Floats, p: float, q: float) -> tuple[Floats, Floats, Floats]:
    """Mean, variance and third central moment of what a report adds to a sum of pulled nodes, for a person in each node."""
    gap = p - q
    if channel.free_bits:
        # Independent bits: their moments add up, and only the own one has another chance.
        own2, other2 = p * (1 - p), q * (1 - q)
        second = other2 * float(pull @ pull) + (own2 - other2) * pull**2
        return pull, second / gap**2, independent_third(pull, p, q) / gap**3
    levels = channel.two_level
    assert levels is not None
    read = sums_over_values(levels.sets, pull) / gap
    raw = [
        (levels.low * float((read**k).sum()) + (levels.high - levels.low) * sums_over_sets(levels.sets, read**k)[: len(pull)])
        / levels.total
        for k in (1, 2, 3)
    ]
    second = raw[1] - raw[0] ** 2
    # A constant more or less in what is read changes no central moment.
    return raw[0] - float(raw[0].mean()) + float(pull.mean()), second, raw[2] - 3 * raw[0] * second - raw[0] ** 3


def independent_third(pull: Floats, p: float, q: float) -> Floats:
    """The third central moment of a sum of pulled bits that are independent, of which the person's own has the chance p."""
    own, other = (chance * (1 - chance) * (1 - 2 * chance) for chance in (p, q))
    return other * float(pull @ pull**2) + (own - other) * pull**3
