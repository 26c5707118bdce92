"""What leaves the device: one output, tied to the recipe it was drawn by."""

from deniable.reports.fingerprint import canonical_json, fingerprint
from deniable.reports.report import Report

__all__ = ["Report", "canonical_json", "fingerprint"]
