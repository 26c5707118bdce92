"""The best mechanism for any set of linear questions, with a bound that no mechanism passes.

workload      prefixes, ranges, marginals, histograms and tables of one's own
rows          every extremal row of n values at once
symmetry      permutations of the values that change nothing
master        the convex program on a few rows
generation    more rows, until no row improves it
certificate   the lower bound, checked in integers
exact_error   the error of an integer table, enclosed
design        all of it together
"""
