"""Statements that the sources make without a picture, one file each."""
