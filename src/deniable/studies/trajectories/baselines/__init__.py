"""Published ways to perturb whole paths over a list of public places, calibrated so that their epsilon is true.

They are here to be compared with. Mechanisms for one location at a time (strawman, planar-laplace,
exponential-cells, l-srr) are registered like all others: see deniable.core.mechanisms.

NGram           overlapping pairs of neighbouring locations by the exponential mechanism
ATP             two copies of the path, directions from both sides, merged
PathBaseline    what both are: public places, a budget per location, a certificate
"""
