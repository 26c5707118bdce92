"""The one door to both searches."""

from __future__ import annotations

from deniable.batch import Accumulator, PEMCollector, Reports
from deniable.core import PrefixExtendingMethod, TreeHist
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators.estimate import Target, check_target
from deniable.estimators.frequent_words import pem, treehist
from deniable.estimators.frequent_words.result import HeavyHitters
from deniable.estimators.source import accumulated


def heavy_hitters(
    source: PEMCollector | Accumulator | Reports,
    *,
    share: float = 0.0,
    false_positives: float = 0.01,
    most: int = 256,
    target: Target = "these users",
) -> HeavyHitters:
    """The words many people have, and their shares.

    With the default `share` every word that stands out of the noise is reported. A `share` of 0.02 asks for
    words of 2 % and more: what is estimated below 1.5 % is left out, so that with enough users all of the
    former are found and none below 1 %. `false_positives` bounds the probability that any word reported
    is nobody's. At most `most` prefixes are followed at each step.

    >>> from deniable.core import Whole
    >>> mechanism = PrefixExtendingMethod(domain=Whole(16), epsilon=4)
    >>> reports = mechanism.randomize_many([2025] * 3000 + [7] * 2000 + list(range(10_000, 15_000)))
    >>> heavy_hitters(reports, false_positives=1e-9).words
    (2025, 7)
    """
    check_target(target)
    if not 0 <= share < 1:
        raise InvalidParameter("share must be at least 0 and below 1, for example 0.02")
    if not 0 < false_positives < 1:
        raise InvalidParameter("false_positives must lie between 0 and 1, for example 0.01")
    if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= 4096:
        raise InvalidParameter("most must be a whole number from 1 to 4096")
    if isinstance(source, Reports) and isinstance(source.mechanism, PrefixExtendingMethod):
        source = PEMCollector(source.mechanism).add(source)
    if isinstance(source, PEMCollector):
        if source.n == 0:
            raise InvalidParameter("there are no reports to estimate from")
        return pem.find(source, share, false_positives, most, target)
    if not isinstance(getattr(source, "mechanism", None), TreeHist):
        raise NotSupported("heavy hitters are found in reports of PrefixExtendingMethod or TreeHist")
    return treehist.find(accumulated(source), share, false_positives, most, target)
