"""Is a "permanent" answer permanent? A client that forgets gives the value away by repetition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from deniable.batch import Keystream
from deniable.core import EpsilonLike
from deniable.errors import InvalidParameter
from deniable.privacy.auditing.sampled import CONFIDENCE, audit
from deniable.privacy.auditing.targets import Scalar
from deniable.privacy.auditing.verdict import Audit

Client = Callable[[Any], Any]


@dataclass(frozen=True)
class Memo:
    """How often the same client changed its answer to the same value, and what a history of answers shows."""

    changed: int
    clients: int
    history: Audit

    @property
    def violated(self) -> bool:
        """Do the answers of one client together show more than was claimed for its lifetime?"""
        return bool(self.history.violated)

    @property
    def words(self) -> str:
        """The finding in a sentence."""
        kept = f"{self.changed} of {self.clients} clients changed an answer to the same value"
        return f"{kept}; a client's whole history: {self.history.words}"


def memo_test(
    new_client: Callable[[], Client],
    inputs: Sequence[Any],
    *,
    epsilon: EpsilonLike,
    times: int = 16,
    samples: int = 50_000,
    confidence: float = CONFIDENCE,
    order: Keystream | None = None,
) -> Memo:
    """Ask each of many fresh clients the same question `times` times, and audit the whole history as one report.

    `new_client()` makes one user's client: a function from value to report that remembers what it should. To test a
    memory that must survive restarts, let the function make a new session on the user's stored state each time. `order` is what
    the order of the inputs is drawn from.
    """
    if times < 2:
        raise InvalidParameter("times must be at least 2: one answer repeats nothing")
    changed = asked = 0

    def history(value: Any) -> Any:
        nonlocal changed, asked
        client = new_client()
        answers = [client(value) for _ in range(times)]
        asked += 1
        changed += any(answer != answers[0] for answer in answers[1:])
        return answers if _plain(answers[0]) else [str(answer) for answer in answers]

    verdict = audit(Scalar(history), inputs, epsilon=epsilon, samples=samples, confidence=confidence, order=order)
    return Memo(changed, asked, verdict)


def _plain(answer: Any) -> bool:
    return isinstance(answer, bool | int | float)
