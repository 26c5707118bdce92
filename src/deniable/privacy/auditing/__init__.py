"""Is it as private as it says? Checks of integers, tests of draws, and attacks.

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
"""
