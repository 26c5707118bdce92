"""Counts from any table of weights, by inverting it."""

from __future__ import annotations

import numpy as np

from deniable.batch import Floats
from deniable.core import Mechanism
from deniable.errors import NotSupported

MOST_WEIGHTS = 1 << 22
MOST_CONDITION = 1e9
"""Beyond this condition number, inverting loses what the reports hold to rounding."""


class TableDecoder:
    """counts = inverse @ (how often each output occurred): unbiased, because inverse @ law.T is the identity."""

    def __init__(self, mechanism: Mechanism) -> None:
        channel = mechanism.channel
        if channel.sums != "outputs":
            raise NotSupported(f"the sums of {mechanism.name} are not how often each output occurred, so they give no counts")
        if channel.inputs * channel.outputs > MOST_WEIGHTS:
            raise NotSupported(f"the table of {mechanism.name} is too large to be inverted; use fewer values")
        self.law = np.array([[weight / channel.total for weight in channel.row(index)] for index in range(channel.inputs)])
        if channel.outputs < channel.inputs or np.linalg.cond(self.law) > MOST_CONDITION:
            raise NotSupported(
                f"the table of {mechanism.name} cannot be inverted: different answers of the users give the same reports; "
                "use a mechanism with more outputs"
            )
        # With more outputs than inputs there are many inverses. Outputs are weighed by the inverse of how
        # often a uniform population gives them: near the least variance, and still unbiased for everyone.
        weighed = self.law / self.law.mean(axis=0)
        self.inverse: Floats = np.linalg.solve(weighed @ self.law.T, weighed)

    def count_noise(self, people: Floats, full: bool) -> Floats:
        """The covariance of the unbiased counts when people[x] have the value x, or its diagonal."""
        if not full:
            expected = people @ self.law
            return np.asarray(self.inverse**2 @ expected - (self.inverse @ self.law.T) ** 2 @ people)
        spread = np.diag(people @ self.law) - (self.law.T * people) @ self.law
        return np.asarray(self.inverse @ spread @ self.inverse.T)
