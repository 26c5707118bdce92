"""A place per person."""
