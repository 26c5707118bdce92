"""Several attributes per person."""
