"""From many private reports to a number with its uncertainty.

counts, shares      how many people have each value, unbiased, from the exact p and q of the channel
mean                of a mechanism whose decoded outputs are unbiased
direction           the mean direction on a circle, and how concentrated the directions are
"""

from deniable.estimators.direction import Direction, direction
from deniable.estimators.estimate import Estimate
from deniable.estimators.frequency import counts, shares
from deniable.estimators.mean import mean

__all__ = ["Direction", "Estimate", "counts", "direction", "mean", "shares"]
