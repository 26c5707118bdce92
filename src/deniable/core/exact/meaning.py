"""What a level leaves of deniability, in plain words that follow the number. sdk/js/src/meaning.js says the same."""

from __future__ import annotations

import math
from fractions import Fraction

from deniable.core.exact.epsilon import Epsilon
from deniable.core.exact.numbers import show_fraction

STEPS = (1, 3, 5, 10)
"""Where the words change. At these levels the surest guess between two answers is right 73, 95, 99.3 and 99.995 % of the time."""

Level = Epsilon | Fraction | float | int

_HIDING = ("well hidden", "fairly hidden", "poorly hidden", "hardly hidden", "practically disclosed")
_BECAUSE = (
    "any answer could have produced it",
    "any answer could have produced it, though some much more often than others",
    "it points strongly to your answer",
    "it nearly gives your answer away",
    "do not count on being able to deny it",
)


def meaning(epsilon: Level, lifetime: Level | None = None) -> str:
    """What one report of this level tells; with `lifetime`, what all reports a person may ever send tell together.

    >>> print(meaning(1))
    The report leaves your answer well hidden: any answer could have produced it. Seeing it can change the odds between two \
answers by a factor of at most 2.72: someone who thought them equally likely can become up to 73.1 % sure of one (epsilon 1).
    >>> meaning(100).split(":")[0]
    'The report leaves your answer practically disclosed'
    >>> meaning(0.5, 100).split(".")[0]
    'All reports together leave your answer practically disclosed'
    """
    if lifetime is None or _number(lifetime) <= _number(epsilon):
        step = _step(epsilon)
        return f"The report leaves your answer {_HIDING[step]}: {_BECAUSE[step]}. {_seen('it', epsilon)}"
    return (
        f"All reports together leave your answer {hiding(lifetime)}. {_seen('them', lifetime)} "
        f"One report alone leaves it {hiding(epsilon)} (epsilon {_shown(epsilon)})."
    )


def hiding(level: Level) -> str:
    """The same in two words.

    >>> hiding(0.5), hiding(100)
    ('well hidden', 'practically disclosed')
    """
    return _HIDING[_step(level)]


def _step(level: Level) -> int:
    return sum(_number(level) > bound for bound in STEPS)


def _number(level: Level) -> float:
    exact = level.exact if isinstance(level, Epsilon) else level
    return math.inf if exact > 10**9 else float(exact)


def _seen(what: str, level: Level) -> str:
    number = _number(level)
    share = 1 / (1 + math.exp(-number))
    surest = "more than 99.9 %" if share > 0.999 else f"up to {100 * share:.1f} %"
    return (
        f"Seeing {what} can change the odds between two answers by a factor of {_times(number)}: "
        f"someone who thought them equally likely can become {surest} sure of one (epsilon {_shown(level)})."
    )


def _shown(level: Level) -> str:
    if isinstance(level, float) and math.isinf(level):
        return "without bound"
    return show_fraction(level.exact if isinstance(level, Epsilon) else Fraction(level))


def odds_factor(level: Level) -> str:
    """By what factor a report of this level can change anyone's odds, rounded up.

    >>> odds_factor(1)
    'at most 2.72'
    """
    return _times(_number(level))


def _times(number: float) -> str:
    """e**number, rounded up to three digits; nobody needs those of a million and more."""
    odds = math.exp(min(number, 700))
    if odds > 1e6:
        return "more than a million"
    unit = 10.0 ** (math.floor(math.log10(odds)) - 2)
    return f"at most {math.ceil(odds / unit) * unit:.{2 if unit < 0.05 else 1 if unit < 0.5 else 0}f}"
