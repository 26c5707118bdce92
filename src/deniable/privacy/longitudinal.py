"""The same question again and again: what a memo saves."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from deniable.core import Number, as_fraction
from deniable.errors import InvalidParameter


@dataclass(frozen=True)
class Repeated:
    """What `reports` reports cost, drawn afresh each time or from a memo."""

    reports: int
    values: int
    afresh: Fraction
    """A fresh draw every time: reports * epsilon."""
    memo: Fraction
    """The same report for the same value: values * epsilon, however often it is sent."""
    two_layers: Fraction | None
    """A permanent layer and fresh noise on it: the smaller of the permanent level and of the single ones, per value."""


def repeated(epsilon: Number, reports: int, *, values: int = 1, permanent: Number | None = None) -> Repeated:
    """The price of `reports` reports of a person who had `values` different values in that time.

    A memo does not hide *when* a value changed. For more than one value its price is therefore that between two people who
    change at the same times; `deniable.core.KeptAnswer` works out what is lost between others.

    `permanent` is the level of the permanent layer of a two-layer mechanism (`rappor`); `epsilon` is one report's.

    >>> repeated(1, 52, permanent=3).two_layers, repeated(1, 52).afresh
    (Fraction(3, 1), Fraction(52, 1))
    """
    level = as_fraction(epsilon)
    kept = None if permanent is None else as_fraction(permanent)
    if level is None or level <= 0:
        raise InvalidParameter("epsilon must be a positive number")
    if not 1 <= values <= reports:
        raise InvalidParameter("values must be at least 1, and reports at least values")
    if permanent is not None and (kept is None or kept < level):
        raise InvalidParameter("permanent must be a number that is at least epsilon: one report shows part of the permanent layer")
    layered = None if kept is None else min(values * kept, reports * level)
    return Repeated(reports, values, reports * level, values * level, layered)
