"""What travels between a Flower client and its server: a record with one report, or an error with one of these codes."""

RECORD, REPORT = "deniable", "report"
OUT_OF_BUDGET, ALREADY_ANSWERED, NOT_PROTECTED, APP_FAILED = 4801, 4802, 4803, 4804
"""Codes of Flower's `Error`; Flower's own are small numbers."""
