"""Published formulas in floats, for the continuous mechanisms: what the weights must agree with.

Errors, variances and values are in the domain's own units, counts in people. The formulas describe the
continuous limit; a lattice of n cells differs from them by about e**(epsilon/2) / n.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from deniable.core import Circle, Interval, Mechanism
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators.law import _circular_forms, _count_forms, _noise_forms, _unbiased_forms, _window_forms

# How a quantity on a domain of width 1 grows with the width: by this power of it (None: with the loss exponent).
SCALES: dict[str, int | None] = {
    "absolute_error": 1,
    "squared_error": 2,
    "error": None,
    "variance": 2,
    "worst_absolute_error": 1,
    "worst_squared_error": 2,
    "worst_error": None,
    "worst_variance": 2,
    "average_squared_error": 2,
    "count_variance": 0,
    "information_bound": 0,
    "row_divergence_bound": 0,
}

Form = Callable[..., float]

FORMS: dict[str, dict[str, Form]] = {
    **_window_forms.FORMS,
    **_unbiased_forms.FORMS,
    **_noise_forms.FORMS,
    **_circular_forms.FORMS,
    **_count_forms.FORMS,
}


def closed_forms(name: str) -> list[str]:
    """The quantities that have a formula for the mechanism of this wire name.

    >>> closed_forms("duchi")
    ['variance', 'worst_variance', 'information_bound', 'row_divergence_bound']
    """
    return [*FORMS.get(name, {}), *_count_forms.BOUNDS]


def closed_form(mechanism: Mechanism, quantity: str, **inputs: Any) -> float:
    """A published formula's value for this mechanism.

    `value` is where an error or variance is taken, `exponent` the k of |y - x|**k, `n` and `n_v` are the
    people and those who have the category.

    >>> from deniable.core import OGPM
    >>> round(closed_form(OGPM(epsilon=1), "worst_absolute_error"), 9)
    0.377540669
    """
    forms = {**FORMS.get(mechanism.name, {}), **_count_forms.BOUNDS}
    if quantity not in forms:
        raise NotSupported(f"{mechanism.name} has no closed form called {quantity!r}; it has {', '.join(forms)}")
    domain = mechanism.domain
    width = float(domain.width) if isinstance(domain, Interval | Circle) else 1.0
    if "value" in inputs and isinstance(domain, Interval | Circle):
        inputs["value"] = float(domain.position(inputs["value"]))
    scale = SCALES[quantity]
    power = float(inputs["exponent"]) if scale is None and "exponent" in inputs else float(scale or 0)
    try:
        return float(forms[quantity](mechanism, **inputs) * width**power)
    except TypeError:
        raise InvalidParameter(
            f"{quantity} of {mechanism.name} takes other inputs: `value` for errors at a value, `exponent` for |y - x|**k, "
            "`n` and `n_v` for counts"
        ) from None
