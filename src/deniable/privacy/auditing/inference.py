"""What one report says about another attribute that goes with the value. Exact, from the weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core import Mechanism
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import dense
from deniable.privacy.auditing.reconstruction import MOST_WEIGHTS


@dataclass(frozen=True)
class Inference:
    """How often the best guess of an attribute is right: without a report, with one, with the value itself."""

    without: float
    with_report: float
    with_value: float
    epsilon: float

    @property
    def bound(self) -> float:
        """No report of this epsilon lets anyone guess better: the odds of every attribute grow by e**epsilon at most."""
        grown = self.without * math.exp(self.epsilon)
        return min(grown / (grown + 1 - self.without), self.with_value)

    @property
    def words(self) -> str:
        """The finding in a sentence."""
        shares = [f"{100 * share:.1f} %" for share in (self.without, self.with_report, self.with_value, self.bound)]
        return (
            f"the best guess is right for {shares[0]} of people without a report, {shares[1]} with one, {shares[2]} with the "
            f"value itself; no report of epsilon {self.epsilon:g} allows more than {shares[3]}"
        )


def attribute_inference(mechanism: Mechanism, joint: Any) -> Inference:
    """The best guess of an attribute from one report.

    `joint[a][x]` is how common attribute a together with channel input x is in the population (any positive scale).

    >>> from deniable.core import Categories
    >>> from deniable.core import make_mechanism
    >>> odds = attribute_inference(make_mechanism("k-rr", domain=Categories(2), epsilon=1), [[40, 10], [10, 40]])
    >>> round(odds.without, 3), round(odds.with_report, 3), round(odds.with_value, 3)
    (0.5, 0.639, 0.8)
    """
    channel = mechanism.channel
    table = np.asarray(joint, np.float64)
    if table.ndim != 2 or table.shape[1] != channel.inputs or not (table >= 0).all() or table.sum() <= 0:
        raise InvalidParameter(f"joint must have one row per attribute and {channel.inputs} columns, none of it negative")
    if channel.inputs * channel.outputs > MOST_WEIGHTS:
        raise NotSupported("attribute inference needs a channel whose weights can be written out; use fewer cells")
    table = table / table.sum()
    reports = table @ dense(channel, np.arange(channel.inputs))
    return Inference(
        without=float(table.sum(axis=1).max()),
        with_report=float(reports.max(axis=0).sum()),
        with_value=float(table.max(axis=0).sum()),
        epsilon=float(mechanism.privacy),
    )
