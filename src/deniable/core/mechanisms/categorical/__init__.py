"""One of k values per person."""
