"""Words out of far too many to list: one file per mechanism."""
