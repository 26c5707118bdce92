"""Does a secret stay out of errors, representations, pickles and logs?"""

from __future__ import annotations

import logging
import math
import pickle
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from deniable.core import Mechanism
from deniable.errors import OutOfDomain
from deniable.privacy.conformance.coins import FixedCoins
from deniable.privacy.conformance.outcome import ConformanceFailure, Skip, require
from deniable.privacy.conformance.values import SECRET, bad_values, few_values


def check_refuses_values_outside(mechanism: Mechanism) -> Skip | None:
    """What does not belong to the domain is refused with OutOfDomain, by encode and by randomize."""
    for bad in bad_values(mechanism.domain):
        for action in (mechanism.encode, mechanism.randomize):
            _refusal(action, bad)
    return None


def check_errors_hide_the_value(mechanism: Mechanism) -> Skip | None:
    """A refusal shows the value nowhere: not in its text, its arguments, its causes or its notes."""
    for bad in bad_values(mechanism.domain):
        for text in _texts(_refusal(mechanism.randomize, bad)):
            require(not _shows(text, bad), f"the error for a value of type {type(bad).__name__} shows it")
    return None


def _refusal(action: Any, bad: Any) -> OutOfDomain:
    """The OutOfDomain a bad value gives; anything else is a failure."""
    try:
        action(bad)
    except OutOfDomain as error:
        return error
    except Exception as error:
        kind = type(bad).__name__
        raise ConformanceFailure(f"a bad value of type {kind} gives {type(error).__name__}, not OutOfDomain") from error
    raise ConformanceFailure(f"a bad value of type {type(bad).__name__} is accepted")


def _texts(error: BaseException) -> Iterator[str]:
    """Everything an error and what led to it could print."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        now = pending.pop()
        if now is None or id(now) in seen:
            continue
        seen.add(id(now))
        yield str(now)
        yield repr(now.args)
        yield from getattr(now, "__notes__", [])
        pending += [now.__cause__, now.__context__]


def _shows(text: str, value: Any) -> bool:
    """Is the value in the text, by its repr, its digits, or as one of its parts?"""
    if str(SECRET) in text:
        return True
    if isinstance(value, dict):
        return any(_shows(text, part) for part in value.values() if isinstance(part, float | str))
    if isinstance(value, list | tuple | set):
        return any(_shows(text, part) for part in value if isinstance(part, float))
    if value is None or isinstance(value, bool | type) or (isinstance(value, int) and abs(value) < 10**6):
        return False  # too common a word or number to be recognised
    if isinstance(value, int) and value.bit_length() > 1000:
        return False
    if isinstance(value, float) and math.isfinite(value) and value == int(value) and abs(value) < 1000:
        return False
    return re.search(rf"(?<![\w.]){re.escape(repr(value))}(?![\w.])", text) is not None


class _Listener(logging.Handler):
    def __init__(self) -> None:
        super().__init__(level=0)
        self.heard: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.heard.append(record)


def check_randomizing_leaves_no_trace(mechanism: Mechanism) -> Skip | None:
    """After reporting different secrets, copies of a mechanism have equal pickles and representations; no logs."""
    values = few_values(mechanism.domain)
    root = logging.getLogger()
    listener, level = _Listener(), root.level
    root.addHandler(listener)
    root.setLevel(0)
    try:
        traces = [_trace(mechanism, value) for value in values]
    finally:
        root.removeHandler(listener)
        root.setLevel(level)
    require(len({representation for representation, _ in traces}) == 1, "repr(mechanism) depends on what was reported")
    require(len({state for _, state in traces}) == 1, "the state of a mechanism depends on what was reported")
    require(not listener.heard, "something was logged while randomizing")
    return None


def _trace(mechanism: Mechanism, value: Any) -> tuple[str, bytes]:
    """How a fresh copy looks after it has reported a value three times."""
    fresh = replace(mechanism)
    coins = FixedCoins(9)
    for _ in range(3):
        fresh.randomize(value, coins)
    return repr(fresh), pickle.dumps(fresh)


def check_reports_hold_the_output_only(mechanism: Mechanism) -> Skip | None:
    """Equal outputs make equal reports, whatever the secret: a report is its recipe and its output."""
    values = few_values(mechanism.domain)
    coins = FixedCoins(11)
    seen: dict[int, str] = {}
    for value in values:
        for _ in range(50):
            report = mechanism.randomize(value, coins)
            require(set(type(report).__slots__) == {"recipe", "output"}, "a report has more than a recipe and an output")
            require(report.recipe == mechanism.fingerprint, "a report names another recipe")
            require(type(report.output) is int, "an output is not a plain integer")
            text = repr(report) + pickle.dumps(report).hex()
            require(seen.setdefault(report.output, text) == text, "equal outputs make different reports")
    return None
