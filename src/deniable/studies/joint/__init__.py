"""Joint randomized response: two users lie together, so that their errors cancel. Honest about collusion.

bounded_pair, published_pair   a table from a privacy level; the default asks what a colluding partner may learn
optimum                        the best table for known colluders and a guess of the ones
account                        all privacy numbers of a table, always together
variance_joint, estimate_ones  Theorem 4, the unbiased estimator and its interval
answer_in_pairs, simulate      correlated answers in bulk; measured errors
KaryPair, UnaryPair, HashedPair, Group    more than bits, more than two
"""
