"""A report: the only thing a collector ever sees."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Report:
    """One output of one recipe. It holds nothing of the private value beyond what the law allows."""

    recipe: str
    output: int
