"""Quantiles: the values below which given shares of the users lie."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable.batch import Floats
from deniable.core import Circle
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators.estimate import Estimate, Target
from deniable.estimators.recent_shapes import shape
from deniable.estimators.shape_fit import Method
from deniable.estimators.source import Source, accumulated


def quantiles(
    source: Source,
    levels: float | Sequence[float] = (0.25, 0.5, 0.75),
    *,
    method: Method = "penalized",
    target: Target = "these users",
    multiples_of: float | None = None,
    narrowest_peak: float | None = None,
) -> Estimate:
    """The values below which these shares of the users lie, from the estimated distribution.

    An interval ends where the share below a value is surely smaller, or surely as large: it holds for every distribution.

    >>> from deniable.core import make_mechanism
    >>> import numpy as np
    >>> median = quantiles(make_mechanism("sw", epsilon=4).randomize_many(np.linspace(0, 1, 10_001)), 0.5)
    >>> abs(float(median.value[0]) - 0.5) < 0.05
    True
    """
    wanted = checked_levels(levels)
    sums = accumulated(source)
    if isinstance(sums.mechanism.domain, Circle):
        raise NotSupported(
            "directions have no order, so they have no quantiles; use direction(source) or range_share(source, low, high)"
        )
    return shape(sums, method=method, target=target, multiples_of=multiples_of, narrowest_peak=narrowest_peak).quantiles(
        wanted.tolist()
    )


def checked_levels(levels: float | Sequence[float]) -> Floats:
    """Levels between 0 and 1 as an array."""
    wanted = np.atleast_1d(np.asarray(levels, np.float64))
    if wanted.ndim != 1 or not wanted.size or not bool(np.all((wanted > 0) & (wanted < 1))):
        raise InvalidParameter("levels must be numbers between 0 and 1, both excluded, for example (0.25, 0.5, 0.75)")
    return wanted
