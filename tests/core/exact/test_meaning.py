"""Words about deniability follow the number."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import pytest

from deniable.core import Epsilon, hiding, meaning
from deniable.core.exact.meaning import STEPS, odds_factor

ORDER = ("well hidden", "fairly hidden", "poorly hidden", "hardly hidden", "practically disclosed")


def test_a_larger_level_never_sounds_better() -> None:
    levels = [Fraction(step, 10) for step in range(1, 1100)]
    places = [ORDER.index(hiding(level)) for level in levels]
    assert places == sorted(places)
    assert set(places) == set(range(5))
    assert [hiding(step) for step in STEPS] == list(ORDER[:4])


@pytest.mark.parametrize("level", [100, Epsilon(100, allow_large=True), Fraction(10**400), 20, 10.5, math.inf])
def test_a_large_level_promises_no_deniability(level: int) -> None:
    words = meaning(level)
    assert "practically disclosed" in words
    assert "do not count on being able to deny it" in words
    assert "any answer could have produced" not in words


def test_a_lifetime_speaks_first() -> None:
    words = meaning(Fraction(1, 2), 100)
    assert words.startswith("All reports together leave your answer practically disclosed.")
    assert words.endswith("One report alone leaves it well hidden (epsilon 0.5).")
    assert "could have produced" not in words
    assert meaning(1, 1) == meaning(1) == meaning(1, Fraction(1, 2))


def test_odds_are_rounded_up() -> None:
    for level in (Fraction(step, 7) for step in range(1, 95)):
        shown = re.search(r"a factor of at most ([0-9.]+)[:; ]", meaning(level))
        assert shown is not None
        assert math.exp(level) * (1 - 1e-12) <= float(shown[1]) <= math.exp(level) * 1.0101


def test_what_is_nearly_sure_is_called_so() -> None:
    """1/(1 + e**-7) is 99.91 %, 1/(1 + e**-6) is 99.75 %; e**14 is above a million, e**13 below."""
    assert "more than 99.9 % sure" in meaning(7)
    assert "up to 99.8 % sure" in meaning(6)
    assert (odds_factor(14), odds_factor(13)) == ("more than a million", "at most 443000")


def test_the_words_change_just_above_each_step() -> None:
    assert [hiding(step) for step in (1, 3, 5, 10)] == list(ORDER[:-1])
    assert [hiding(step + Fraction(1, 1000)) for step in (1, 3, 5, 10)] == list(ORDER[1:])
