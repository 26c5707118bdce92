"""The mean of a number, from unbiased reports."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators.estimate import Estimate
from deniable.estimators.outputs import values_of
from deniable.mechanisms.base import Mechanism


def mean(mechanism: Mechanism, reports: Any) -> Estimate:
    """The mean of the population the users were drawn from.

    Only for mechanisms whose decoded outputs are unbiased. The standard error is that of the reports, so
    it holds noise and sampling together; for the mean of these very users it is on the safe side.
    """
    if not getattr(mechanism, "unbiased", False):
        raise NotSupported(f"the reports of {mechanism.name} are biased, so their mean is no estimate; use hm, pm or duchi")
    values = values_of(mechanism, reports)
    if len(values) < 2:
        raise InvalidParameter("reports: a mean with its error needs at least two of them")
    error = values.std(ddof=1) / np.sqrt(len(values))
    return Estimate(np.asarray(values.mean()), np.asarray(error), len(values), "population", f"mean of {mechanism.name}")
