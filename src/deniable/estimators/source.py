"""What estimators read: the sums of reports, or reports that are summed first."""

from __future__ import annotations

from deniable.batch import Accumulator, Reports, accumulator_for
from deniable.errors import InvalidParameter

Source = Accumulator | Reports


def accumulated(source: Source) -> Accumulator:
    """The sums behind an estimate; a batch of reports is folded into them.

    >>> from deniable.core import make_mechanism
    >>> coin = make_mechanism("randomized-response", epsilon=1)
    >>> accumulated(coin.randomize_many([0, 1, 1])).n
    3
    """
    if isinstance(source, Reports):
        source = accumulator_for(source.mechanism).add(source)
    if not isinstance(source, Accumulator):
        raise InvalidParameter(f"the source of an estimate is an Accumulator or Reports, got {type(source).__name__}")
    if source.n == 0:
        raise InvalidParameter("there are no reports to estimate from")
    return source
