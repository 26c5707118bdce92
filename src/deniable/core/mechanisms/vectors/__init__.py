"""Vectors of many numbers: one file per mechanism."""
