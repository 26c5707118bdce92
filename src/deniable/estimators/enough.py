"""Are there enough reports to tell anything, and if not, how many would do?"""

from __future__ import annotations

import math

import numpy as np

from deniable.estimators.estimate import Estimate, half_width

TOO_WIDE, WISHED = 0.25, 0.1
"""Half of a typical 95 % interval, as a part of what the value can span: from where on it tells nothing, and what would do."""


def reports_needed(estimate: Estimate, span: float = 1.0) -> int | None:
    """About how many reports would bring a typical 95 % interval to ± a tenth of the span; None when there are enough.

    Few are those whose typical interval reaches a quarter of the span to either side: then it covers most of what is possible.

    >>> from deniable.core import Categories, make_mechanism
    >>> from deniable.estimators import shares
    >>> mechanism = make_mechanism("k-rr", domain=Categories(3), epsilon=1)
    >>> two, many = (shares(mechanism.randomize_many([0] * n)) for n in (2, 2000))
    >>> 100 < reports_needed(two) < 2000, reports_needed(many)
    (True, None)
    """
    if estimate.n == 0 or not estimate.value.size or span <= 0:
        return None
    typical = half_width(0.95) * float(np.median(estimate.unbiased.standard_error)) / span
    if not math.isfinite(typical) or typical <= TOO_WIDE:
        return None
    needed = math.ceil(estimate.n * (typical / WISHED) ** 2)
    unit: int = 10 ** max(len(str(needed)) - 2, 0)
    return -(-needed // unit) * unit


def too_few_words(n: int, needed: int) -> str:
    """The warning, in one sentence."""
    reports = "1 report is" if n == 1 else f"{n:,} reports are"
    return f"{reports} too few: the noise covers most of what is possible. About {needed:,} would be enough."
