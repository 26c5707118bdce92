"""The published composition of a key's level and its value's is the exact joint level, and nothing smaller is."""

from __future__ import annotations

import math

import pytest
from key_value_levels import EXACT, SPLITS, exact_bits, exact_single, published  # type: ignore[import-not-found]


@pytest.mark.parametrize(("first", "second"), SPLITS)
@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("name", EXACT)
def test_the_published_composition_is_exact_for_every_split(name: str, most: int, first: float, second: float) -> None:
    exact = math.log(EXACT[name](first, second, most))
    assert exact == pytest.approx(published(name, first, second, most), abs=1e-9)
    assert exact < first + second


def test_sampling_lowers_the_level_of_a_single_key_and_not_that_of_bits() -> None:
    assert exact_single(1.0, 1.0, 2) < exact_single(1.0, 1.0, 1)
    assert exact_bits(1.0, 1.0, 2) == exact_bits(1.0, 1.0, 1) == pytest.approx(math.exp(1.379885), rel=1e-5)
