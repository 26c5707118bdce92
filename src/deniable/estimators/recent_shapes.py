"""The last fits that were asked for: several questions about the same reports share their work, and so agree."""

from __future__ import annotations

import hashlib
import math
import threading
from typing import Any

import numpy as np

from deniable.errors import InvalidParameter
from deniable.estimators.bins import checked_bins
from deniable.estimators.distribution_grid import FINE
from deniable.estimators.estimate import Target, check_target
from deniable.estimators.shape_fit import MOST_ITERATIONS, RULES, STOP, Method, Shape
from deniable.estimators.source import Source, accumulated

RECENT = 2
_RECENT: dict[tuple[Any, ...], Shape] = {}
_LOCK = threading.Lock()


def shape_of(asked: Shape) -> Shape:
    """The same as one of the last that were asked for, when it is: several questions about the same reports share their work."""
    counts = asked.sums.astype(np.min_scalar_type(int(asked.sums.max(initial=0))))  # a million counts below 256 are a megabyte
    digest = hashlib.blake2b(counts.data).digest()
    options = (asked.n, asked.method, asked.tolerance, asked.most_iterations, asked.multiples_of, asked.narrowest_peak)
    reports = (asked.mechanism, digest, *options)
    with _LOCK:
        known = _RECENT.pop((*reports, asked.target), asked)
        if known is asked:
            for other in [shape for key, shape in _RECENT.items() if key[:-1] == reports]:
                asked.share_work(other)
        _RECENT[*reports, asked.target] = known
        while len(_RECENT) > RECENT:
            _RECENT.pop(next(iter(_RECENT)))
    return known


def shape(
    source: Source,
    *,
    method: Method = "penalized",
    target: Target = "these users",
    tolerance: float | None = None,
    most_iterations: int | None = None,
    multiples_of: float | None = None,
    narrowest_peak: float | None = None,
) -> Shape:
    """Fit the reports once; bins, ranges, quantiles and the mean then come from the same distribution and agree.

    Intervals hold for every distribution, unless an assumption makes them shorter: `multiples_of` says that values are multiples
    of a number, `narrowest_peak` that the density changes no faster than in one triangular peak, so wide, that holds everybody.

    >>> from deniable.core import make_mechanism
    >>> import numpy as np
    >>> fitted = shape(make_mechanism("sw", epsilon=4).randomize_many(np.linspace(0, 1, 1001)))
    >>> halves, median = fitted.bins(2), fitted.quantiles([0.5])
    >>> bool(abs(fitted.below(median.value)[0] - 0.5) < 1e-9), round(float(halves.value.sum()), 9)
    (True, 1.0)
    """
    check_target(target)
    if method not in RULES:
        raise InvalidParameter(f"method must be one of {', '.join(RULES)}")
    if method == "penalized" and (tolerance is not None or most_iterations is not None):
        raise InvalidParameter("tolerance and most_iterations are for the methods ems and em; penalized chooses its own")
    most_iterations = MOST_ITERATIONS if most_iterations is None else most_iterations
    if isinstance(most_iterations, bool) or not isinstance(most_iterations, int) or most_iterations < 1:
        raise InvalidParameter("most_iterations must be a positive whole number")
    sums = accumulated(source)
    mechanism = sums.mechanism
    checked_bins(mechanism, None, FINE[0])
    if tolerance is None:
        tolerance = STOP if method == "ems" else STOP * math.exp(min(float(mechanism.privacy), 50.0))
    if not tolerance >= 0:
        raise InvalidParameter("tolerance must not be negative")
    if multiples_of is not None and not (math.isfinite(multiples_of) and multiples_of > 0):
        raise InvalidParameter("multiples_of must be a positive number, the step between possible values")
    if narrowest_peak is not None and not (math.isfinite(narrowest_peak) and narrowest_peak > 0):
        raise InvalidParameter("narrowest_peak must be a positive number, a width in the units of the values")
    if narrowest_peak is not None and multiples_of is not None:
        raise InvalidParameter("multiples_of and narrowest_peak exclude one another: values that are multiples have no density")
    asked = Shape(mechanism, sums.sums, sums.n, target, method, tolerance, most_iterations, multiples_of, narrowest_peak)
    return shape_of(asked)
