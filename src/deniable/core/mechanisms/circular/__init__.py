"""A direction or a time of day per person."""
