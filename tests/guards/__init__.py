"""General checks of what a device gives away: by its bytes, by its randomness, and over its restarts."""
