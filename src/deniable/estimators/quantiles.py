"""Quantiles: the values below which given shares of the users lie."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable.domains import Circle
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators.bins import Floats
from deniable.estimators.distribution import Distribution, Method, distribution
from deniable.estimators.estimate import Estimate, Target
from deniable.estimators.source import Source, accumulated


def quantiles(
    source: Source,
    levels: float | Sequence[float] = (0.25, 0.5, 0.75),
    *,
    bins: int | None = None,
    method: Method = "ems",
    target: Target = "these users",
) -> Estimate:
    """The values below which these shares of the users lie, from the estimated distribution.

    The standard error is how far the quantile moves when the share below it moves by its own standard
    error: half the distance between the quantiles at level plus and minus that.

    >>> from deniable.mechanisms import make_mechanism
    >>> import numpy as np
    >>> found = quantiles(make_mechanism("sw", epsilon=4).randomize_many(np.linspace(0, 1, 10_001)), 0.5)
    >>> abs(float(found.value[0]) - 0.5) < 0.05
    True
    """
    wanted = checked_levels(levels)
    sums = accumulated(source)
    if isinstance(sums.mechanism.domain, Circle):
        raise NotSupported(
            "directions have no order, so they have no quantiles; use direction(source) or range_share(source, low, high)"
        )
    found = distribution(sums, bins=bins, method=method, target=target)
    value = np.interp(wanted, *_rising(found))
    return Estimate(
        value=value,
        variance=_slack(found, wanted, value) ** 2,
        n=found.n,
        target=target,
        method=f"quantiles of {found.method}",
        labels=tuple(wanted.tolist()),
        bounds=(float(found.edges[0]), float(found.edges[-1])),
    )


def checked_levels(levels: float | Sequence[float]) -> Floats:
    """Levels between 0 and 1 as an array."""
    wanted = np.atleast_1d(np.asarray(levels, np.float64))
    if wanted.ndim != 1 or not wanted.size or not bool(np.all((wanted > 0) & (wanted < 1))):
        raise InvalidParameter("levels must be numbers between 0 and 1, both excluded, for example (0.25, 0.5, 0.75)")
    return wanted


def _rising(found: Distribution) -> tuple[Floats, Floats]:
    """Shares and edges for interpolation; empty bins are lifted by nothing that matters."""
    return found.cumulative + 1e-15 * np.arange(len(found.edges)), found.edges


def _slack(found: Distribution, levels: Floats, value: Floats) -> Floats:
    """How far each quantile moves when the share below it moves by one standard error."""
    widths = np.diff(found.edges)
    below = np.clip((value[:, None] - found.edges[:-1]) / widths, 0.0, 1.0)
    error = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", below, found.covariance, below), 0.0))
    cumulative, edges = _rising(found)
    return np.asarray((np.interp(levels + error, cumulative, edges) - np.interp(levels - error, cumulative, edges)) / 2)
