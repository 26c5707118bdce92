"""Figures of the sources, one file each."""
