"""One bit per person."""
