"""The best mechanism for any set of linear questions, with a bound that no mechanism can beat.

workload      prefixes, ranges, marginals, histograms and tables of one's own
rows          every extremal row of n values at once
symmetry      permutations of the values that change nothing
master        the convex program on a few rows
generation    more rows, until no row improves it
certificate   the lower bound, checked in integers
exact_error   the error of an integer table, enclosed
relaxation    a bound for more values than rows can be listed for
heuristic     rows for them, by local search
table         integer weights, rounded toward privacy
descent       the published way, for comparison
design        all of it together
structured    hierarchies with the best fan-outs and shares, for many values
rays          extremal rows where every pair of values has a level of its own
unequal       the best mechanism for such levels
ways          workloads in the planner
"""
