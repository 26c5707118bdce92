"""Golden values and the functions that recompute them."""
