"""What a level means."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.privacy import bits_learned, guess_right, in_words, posterior


def test_beliefs_move_by_the_odds() -> None:
    low, high = posterior(0.1, math.log(3))
    assert high == pytest.approx(0.25)
    assert low == pytest.approx(1 / 28)


def test_information_is_that_of_the_best_two_level_row() -> None:
    for epsilon in (0.2, 1, 3, 8):
        e = math.exp(epsilon)
        a = np.linspace(1e-9, 1, 200_001)
        best = np.max(a * e * epsilon / (1 + a * (e - 1)) - np.log1p(a * (e - 1))) / math.log(2)
        assert bits_learned(epsilon) == pytest.approx(best, rel=1e-6)
        assert bits_learned(epsilon) <= epsilon / math.log(2)


def test_guesses() -> None:
    assert guess_right(0) == 0.5
    assert guess_right(0, 0.1) == pytest.approx(0.55)
    assert guess_right(800) == 1.0


def test_sentences_have_the_numbers() -> None:
    text = " ".join(in_words(math.log(3), 1e-6))
    assert "at most 3 times" in text
    assert "can become 25.0 % to 75.0 %" in text
    assert "1e-06" in text
    with pytest.raises(InvalidParameter):
        posterior(1.5, 1)
