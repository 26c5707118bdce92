"""Faults that were made in the field, or could be: each is caught by the check that is there for it."""
