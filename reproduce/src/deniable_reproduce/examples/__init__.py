"""Numbered examples of the sources, one file each."""
