"""Mechanisms: one file each, found by name. Importing this package loads none of them."""
