"""A few items out of many, and keys with numbers: one file per mechanism."""
