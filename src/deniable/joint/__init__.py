"""Joint randomized response: two users lie together, so that their errors cancel. Honest about collusion.

bounded_pair, published_pair   a table from a privacy level; the default asks what a colluding partner may learn
optimum                        the best table for known colluders and a guess of the ones
account                        all privacy numbers of a table, always together
variance_joint, estimate_ones  Theorem 4, the unbiased estimator and its interval
answer_in_pairs, simulate      correlated answers in bulk; measured errors
KaryPair, UnaryPair, HashedPair, Group    more than bits, more than two
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from deniable.channels.pair import Pair

if TYPE_CHECKING:
    from deniable.joint.accounting import Accounting, account
    from deniable.joint.estimate import estimate_ones
    from deniable.joint.groups import Group, least_correlation
    from deniable.joint.hashing import HashedPair
    from deniable.joint.k_ary import KaryPair, feasible_rho
    from deniable.joint.optimal import Optimum, optimum
    from deniable.joint.parameters import bounded_correlation, bounded_pair, published_pair
    from deniable.joint.sampling import answer_in_pairs, draw_indicators, random_pairing
    from deniable.joint.simulation import PUBLISHED_COUNTS, Simulation, simulate
    from deniable.joint.unary import UnaryPair
    from deniable.joint.variance import variance_independent, variance_joint, variance_randomized_response

__all__ = [
    "PUBLISHED_COUNTS",
    "Accounting",
    "Group",
    "HashedPair",
    "KaryPair",
    "Optimum",
    "Pair",
    "Simulation",
    "UnaryPair",
    "account",
    "answer_in_pairs",
    "bounded_correlation",
    "bounded_pair",
    "draw_indicators",
    "estimate_ones",
    "feasible_rho",
    "least_correlation",
    "optimum",
    "published_pair",
    "random_pairing",
    "simulate",
    "variance_independent",
    "variance_joint",
    "variance_randomized_response",
]

_HOMES = {
    "accounting": (
        "Accounting",
        "account",
    ),
    "estimate": ("estimate_ones",),
    "groups": (
        "Group",
        "least_correlation",
    ),
    "hashing": ("HashedPair",),
    "k_ary": (
        "KaryPair",
        "feasible_rho",
    ),
    "optimal": (
        "Optimum",
        "optimum",
    ),
    "parameters": (
        "bounded_correlation",
        "bounded_pair",
        "published_pair",
    ),
    "sampling": (
        "answer_in_pairs",
        "draw_indicators",
        "random_pairing",
    ),
    "simulation": (
        "PUBLISHED_COUNTS",
        "Simulation",
        "simulate",
    ),
    "unary": ("UnaryPair",),
    "variance": (
        "variance_independent",
        "variance_joint",
        "variance_randomized_response",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    # A user who only asks what an answer costs must not wait for estimators and compiled kernels.
    if name not in _HOME_OF:
        raise AttributeError(f"module 'deniable.joint' has no attribute {name!r}")
    found = getattr(importlib.import_module(f"deniable.joint.{_HOME_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
