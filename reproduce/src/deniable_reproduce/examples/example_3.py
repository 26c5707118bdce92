"""Example 3: two users who lie together, and the table they use (Table 4.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from deniable.core import Pair
from deniable.studies import account, variance_independent, variance_joint
from deniable_reproduce.artifact import Artifact, Claim, Published, Result, Run

P, RHO, USERS, ONES = "4/5", "-1/4", 2, 2
PAIR = Pair.exactly(P, RHO)


def cells() -> dict[str, float]:
    """The four probabilities of the pair table."""
    total = PAIR.total
    return {
        "T1 = 1, T2 = 1": PAIR.both / total,
        "T1 = 1, T2 = 0": PAIR.one / total,
        "T1 = 0, T2 = 1": PAIR.one / total,
        "T1 = 0, T2 = 0": PAIR.neither / total,
    }


def compute(run: Run) -> Result:
    """Exact, from the integer table."""
    probabilities = cells()
    privacy = account(PAIR, USERS, 1)
    numbers = {
        **probabilities,
        "probability of the truth": float(PAIR.truth),
        "covariance": probabilities["T1 = 1, T2 = 1"] - float(PAIR.truth) ** 2,
        "variance of the count": float(variance_joint(PAIR, USERS, ONES)),
        "variance, each alone": float(variance_independent(PAIR, USERS)),
        "ln(p/q)": privacy.epsilon_marginal,
        "epsilon against the partner": privacy.epsilon_known_pairing,
    }
    return {"numbers": numbers}


def table(result: Result) -> Sequence[Mapping[str, Any]]:
    """Every number of it."""
    return [{"what": name, "ours": float(value)} for name, value in result["numbers"].items()]


ARTIFACT = Artifact(
    name="example-3",
    title="Two users with joint randomized response",
    source="Dissertation, Example 3",
    compute=compute,
    table=table,
    published=(
        Published("covariance", -0.04, 1e-9, "Example 3"),
        Published("variance of the count", 0.67, 0.005, "Example 3"),
        Published("ln(p/q)", math.log(4), 1e-9, "Example 3, ln 4, each user seen alone"),
    ),
    claims=(
        Claim(
            "lying together has the lower variance",
            "Example 3",
            lambda result: result["numbers"]["variance of the count"] < result["numbers"]["variance, each alone"],
        ),
    ),
    note="ln 4 holds against someone who knows nothing of the partner. The partner, who knows their own indicator, learns "
    "this user's answer for sure whenever they lied themselves: that epsilon is infinite.",
)
