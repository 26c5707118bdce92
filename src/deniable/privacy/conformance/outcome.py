"""What a check has to say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


class ConformanceFailure(AssertionError):
    """A mechanism does not keep a promise; the message says which one and how it was noticed."""


@dataclass(frozen=True)
class Skip:
    """A check that does not apply, and why. Returned, never silent."""

    reason: str


@dataclass(frozen=True)
class Finding:
    """One check's outcome for one mechanism."""

    check: str
    outcome: Literal["passed", "skipped", "failed"]
    message: str = ""


def require(condition: object, message: str) -> None:
    """Fail with this message unless the condition is true."""
    if not condition:
        raise ConformanceFailure(message)
