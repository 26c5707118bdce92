"""From many private reports to a number with its uncertainty.

counts, shares      how many people have each value, unbiased, from the exact p and q of the channel
likely_shares       the most likely shares, never negative (EM; biased)
mean, variance      of the values behind numeric reports, unbiased where the mechanism allows it
distribution        the shares of bins, smoothed (EMS) or most likely (EM)
histogram           the shares of few bins by linear inversion, for values spread evenly within bins
quantiles           the values below which given shares of the users lie
range_share         the share of users between two values
shape               one fit for all of these, so that they agree
direction           the mean direction on a circle, and how concentrated the directions are
attribute_shares    the shares of every field of a record; choose_strategy says how best to ask for them
two_way             the joint shares of two fields
shares_over_rounds, shares_per_user     shares from repeated questions
heavy_hitters       the frequent words of a domain too large to list
HierarchicalHistogram    a protocol of its own for ranges and quantiles
"""

from deniable.estimators.attributes import attribute_shares, choose_strategy
from deniable.estimators.bayesian_update import likely_shares
from deniable.estimators.direction import Direction, direction
from deniable.estimators.distribution import distribution
from deniable.estimators.distribution_estimate import Distribution
from deniable.estimators.estimate import Estimate
from deniable.estimators.frequency import counts, shares
from deniable.estimators.heavy_hitters import HeavyHitters, PEMCollector, heavy_hitters
from deniable.estimators.hierarchy import HierarchicalHistogram
from deniable.estimators.histogram import histogram
from deniable.estimators.mean import mean
from deniable.estimators.moments import variance
from deniable.estimators.quantiles import quantiles
from deniable.estimators.ranges import range_share
from deniable.estimators.repeated import shares_over_rounds, shares_per_user
from deniable.estimators.shape import Shape, shape
from deniable.estimators.two_way import two_way

__all__ = [
    "Direction",
    "Distribution",
    "Estimate",
    "HeavyHitters",
    "HierarchicalHistogram",
    "PEMCollector",
    "Shape",
    "attribute_shares",
    "choose_strategy",
    "counts",
    "direction",
    "distribution",
    "heavy_hitters",
    "histogram",
    "likely_shares",
    "mean",
    "quantiles",
    "range_share",
    "shape",
    "shares",
    "shares_over_rounds",
    "shares_per_user",
    "two_way",
    "variance",
]
