"""A kept answer with fresh noise around it, in a survey: two layers whose product is exactly the survey's own channel."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from deniable.core import Epsilon, Mechanism, Singleton, TwoLevel
from deniable.errors import InvalidParameter

_KEPT = re.compile(r"kept:([1-9][0-9]{0,8}(?:/[1-9][0-9]{0,8})?)", re.ASCII)
UNIT = 1 << 30


def permanent_of(repeat: str) -> Fraction | None:
    """The level of the kept answer, as in `kept:2`; None for other ways of repeating.

    >>> permanent_of("kept:5/2"), permanent_of("each-window")
    (Fraction(5, 2), None)
    """
    if not isinstance(repeat, str) or not repeat.startswith("kept:"):
        return None
    found = _KEPT.fullmatch(repeat)
    level = Fraction(found[1]) if found else None
    if found is None or level is None or str(level) != found[1]:
        raise InvalidParameter("repeat must name the kept answer's level as a whole number or a ratio in lowest terms: 'kept:2'")
    return level


def layers(mechanism: Mechanism, permanent: Fraction) -> tuple[TwoLevel, TwoLevel]:
    """What is drawn once for every value, and what is drawn around it in every window.

    With F the first layer's ratio and R the channel's, on k values, the second has (R (F + k - 2) - (k - 1)) / (F - R): a ratio of
    integers, so one report has exactly the survey's law, and all reports of one value together stay below F.
    """
    channel: Any = mechanism.channel
    if not isinstance(channel, TwoLevel) or not isinstance(channel.sets, Singleton):
        raise InvalidParameter("repeat = 'kept:…' needs a mechanism that reports one of the values: k-rr or randomized-response")
    size, whole = channel.inputs, Epsilon(permanent)
    first, single = Fraction(whole.floor(UNIT), UNIT), Fraction(channel.high, channel.low)
    if first <= single:
        raise InvalidParameter("the level of the kept answer must be above the survey's epsilon, which is that of one report")
    around = (single * (first + size - 2) - (size - 1)) / (first - single)
    if around <= 1:
        raise InvalidParameter("the survey's epsilon is too small for a kept answer of this level")
    return (
        TwoLevel(Singleton(size), first.denominator, first.numerator),
        TwoLevel(Singleton(size), around.denominator, around.numerator),
    )


def noise_in_common(mechanism: Mechanism, permanent: Fraction) -> Fraction:
    """How much of the noise of one report two reports around the same kept answer share, at most, whatever is estimated from them.

    >>> from deniable.core import RandomizedResponse
    >>> print(f"{float(noise_in_common(RandomizedResponse(epsilon=1), Fraction(2))):.3f}")
    0.197
    """
    first, second = layers(mechanism, permanent)
    kept, around = ((Fraction(one.high, one.total), Fraction(one.low, one.total)) for one in (first, second))
    gap = around[0] - around[1]
    own, other = (around[1] + gap * chance for chance in kept)
    # Given the value, the kept answer moves its count, and the counts of any two others against one another.
    shared = [kept[0] * (1 - kept[0]) / (own * (1 - own))]
    return gap**2 * max(shared if mechanism.domain.size == 2 else [*shared, kept[1] / other])
