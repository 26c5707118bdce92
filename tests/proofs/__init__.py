"""Proof pages: every registered mechanism has one, and what it states is what the certificate says."""
