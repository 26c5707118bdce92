"""Exact arithmetic: rational bounds of e**x, epsilon, integer weights, lattices. Standard library only."""
