"""Exact arithmetic: rational bounds of e**x, epsilon, integer weights, lattices. Standard library only."""

from deniable.exact.epsilon import Epsilon, EpsilonLike
from deniable.exact.exponential import exp_bounds, exp_ceil, exp_floor, exp_sign, log_float
from deniable.exact.lattice import DEFAULT_CELLS, Grid, cells, points
from deniable.exact.meaning import hiding, meaning
from deniable.exact.numbers import Number, as_fraction, show_fraction, show_literal
from deniable.exact.weights import two_level_weights

__all__ = [
    "DEFAULT_CELLS",
    "Epsilon",
    "EpsilonLike",
    "Grid",
    "Number",
    "as_fraction",
    "cells",
    "exp_bounds",
    "exp_ceil",
    "exp_floor",
    "exp_sign",
    "hiding",
    "log_float",
    "meaning",
    "points",
    "show_fraction",
    "show_literal",
    "two_level_weights",
]
