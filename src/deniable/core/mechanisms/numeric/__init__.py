"""A bounded number per person."""
