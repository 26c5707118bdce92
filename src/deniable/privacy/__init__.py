"""What was promised, and is it true? Accounts of several answers, audits, and the suite for new mechanisms.

basic, composed_epsilon, composed_delta, composed_exactly, parallel, group      several answers
Odometer                                                                        a running account
repeated                                                                        the same question again and again
shuffled_epsilon, shuffled_delta, shuffled_rounds, shuffling_conditions         reports without their senders
shuffled_promise                                                                the same from a survey's own document
attained_epsilon, attained_delta                                                what no bound can be below
gaussian_delta, gaussian_epsilon, gaussian_sigma, loss_exceeds                  Gaussian noise
indicator                                                                       raw values, published now and then
central                                                                         what all people's reports promise together
posterior, guess_right, bits_learned, in_words                                  what a level means

Audits:

verify                  a compiled channel against its claim, by a verifier that shares nothing with the samplers
audit                   any function, command or service: a lower bound of its epsilon, from draws
Vectorised, Scalar, Command, HttpClient    what can be audited
audit_mechanism         the same for this package's own samplers
independence_test       reused noise, reused seeds, serial correlation
coordinate_test         every coordinate of a vector report, the last one too
float_support_test      outputs that only one input can give
memo_test               "permanent" answers that are not
timing_test             times that depend on the value
reconstruct, attribute_inference        what repeated reports, or one report, give away
count_gain, mean_gain, worst_report    how far fake users can push an estimate
plausibility_test       could honest users have sent these reports?

Reports without their senders:

ObliviousTransport                      a device's way through a relay (RFC 9458)
AnonymousTransport, anonymous_session   a token for every report, and encryption behind a shuffler
Wallet                                  a device's tokens, fetched ahead of time
GatewayKeys, KeyConfiguration           what the relay cannot open
PublicTokenIssuer, PrivateTokenIssuer   tokens that admit a person once and name nobody (RFC 9578)

For authors of mechanisms; never for real reports:

check_mechanism, assert_conforms      the whole suite on one mechanism
CHECKS, run_check                     its checks one by one; Finding and Skip are what they say
exact_law                             a sampler's law by trying every answer of its coins
ReplayCoins, ScriptedCoins            coins from given bytes, or with given answers
FixedCoins, FixedKeystream            the same randomness on every run
CountingCoins                         coins that remember what was asked
proof_page                            the proof of a mechanism whose law is known already
binomial_tail, goodness_of_fit        counts against exact weights
"""

from deniable._door import door

__getattr__, __dir__, __all__ = door(__name__)
