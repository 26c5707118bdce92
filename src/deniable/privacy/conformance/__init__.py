"""For authors of mechanisms: the conformance suite, repeatable coins, and exact laws. Never for real reports.

check_mechanism, assert_conforms      the whole suite on one mechanism
CHECKS, run_check                     its checks one by one; Finding and Skip are what they say
exact_law                             a sampler's law by trying every answer of its coins
ReplayCoins, ScriptedCoins            coins from given bytes, or with given answers
FixedCoins, FixedKeystream            the same randomness on every run
CountingCoins                         coins that remember what was asked
proof_page                            the proof of a mechanism whose law is known already
binomial_tail, goodness_of_fit        counts against exact weights
"""
