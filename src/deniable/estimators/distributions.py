"""The whole distribution of a number or a direction, as shares of equal bins."""

from __future__ import annotations

from deniable.estimators.bins import checked_bins
from deniable.estimators.distribution_estimate import Distribution
from deniable.estimators.estimate import Target
from deniable.estimators.recent_shapes import shape
from deniable.estimators.shape_fit import Method
from deniable.estimators.source import Source, accumulated

DEFAULT_BINS = 32


def distribution(
    source: Source,
    *,
    bins: int | None = None,
    method: Method = "penalized",
    target: Target = "these users",
    tolerance: float | None = None,
    most_iterations: int | None = None,
    multiples_of: float | None = None,
    narrowest_peak: float | None = None,
) -> Distribution:
    """The shares of equal bins of the domain (32 of them when left out), by maximum likelihood on the counts.

    The fit has up to 1,024 cells whatever number of bins is asked for, so fewer bins are sums of more. "penalized" is the most
    likely distribution whose logarithm is smooth, as smooth as the reports ask for (`penalized`); it is nearest to the truth
    in nearly all of docs/point-estimates.md. "em" is the most likely distribution, "ems" smooths it by (1, 2, 1)/4 after every
    step (around the circle, on circles). Their iterations stop when the log-likelihood changes by less than `tolerance`:
    0.001 for "ems", 0.001 e**epsilon for "em" (Li et al., 2020).
    Intervals hold for every distribution of the values, smooth or not; they do not rest on the fit (`plausible`). Where
    reports cannot tell neighbouring bins apart they are wide. `multiples_of` and `narrowest_peak` assume something about the
    values (`shape`).
    Cost: O(cells) per iteration for window mechanisms, O(cells * outputs) for others; some milliseconds per interval.

    >>> from deniable.core import make_mechanism
    >>> shares = distribution(make_mechanism("sw", epsilon=4).randomize_many([0.2] * 1000), bins=16)
    >>> round(float(shares.value.sum()), 9), int(shares.value.argmax())
    (1.0, 3)
    """
    sums = accumulated(source)
    count = checked_bins(sums.mechanism, bins, DEFAULT_BINS)
    fitted = shape(
        sums,
        method=method,
        target=target,
        tolerance=tolerance,
        most_iterations=most_iterations,
        multiples_of=multiples_of,
        narrowest_peak=narrowest_peak,
    )
    return fitted.bins(count)
