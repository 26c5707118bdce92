"""Tables of the sources, one file each."""
