"""For authors of mechanisms: the conformance suite, repeatable coins, and exact laws. Never for real reports.

check_mechanism, assert_conforms      the whole suite on one mechanism
CHECKS, run_check                     its checks one by one; Finding and Skip are what they say
exact_law                             a sampler's law by trying every answer of its coins
ReplayCoins, ScriptedCoins            coins from given bytes, or with given answers
FixedCoins, FixedKeystream            the same randomness on every run
CountingCoins                         coins that remember what was asked
binomial_tail, goodness_of_fit        counts against exact weights
"""

from deniable.testing.coins import CountingCoins, FixedCoins, ReplayCoins, ScriptedCoins
from deniable.testing.conformance import CHECKS, Check, assert_conforms, check_mechanism, run_check
from deniable.testing.exhaustive import exact_law
from deniable.testing.keystream import FixedKeystream
from deniable.testing.outcome import ConformanceFailure, Finding, Skip
from deniable.testing.statistics import binomial_tail, goodness_of_fit

__all__ = [
    "CHECKS",
    "Check",
    "ConformanceFailure",
    "CountingCoins",
    "Finding",
    "FixedCoins",
    "FixedKeystream",
    "ReplayCoins",
    "ScriptedCoins",
    "Skip",
    "assert_conforms",
    "binomial_tail",
    "check_mechanism",
    "exact_law",
    "goodness_of_fit",
    "run_check",
]
