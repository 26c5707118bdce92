"""Domains and values as one writes them on a command line."""

from deniable.surveys.domain_text import FORMS, parse_domain, parse_value

__all__ = ["FORMS", "parse_domain", "parse_value"]
