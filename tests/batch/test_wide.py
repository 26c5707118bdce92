"""The high half of a product of two 64-bit words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.batch.wide import multiply_high

EDGES = [0, 1, 2, (1 << 32) - 1, 1 << 32, (1 << 32) + 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 2, (1 << 64) - 1]
WORDS = st.integers(0, (1 << 64) - 1)


def high(a: int, b: int) -> int:
    return int(multiply_high(np.uint64(a), np.uint64(b)))


@pytest.mark.parametrize("a", EDGES)
def test_the_high_half_is_exact_at_the_edges(a: int) -> None:
    assert [high(a, b) for b in EDGES] == [a * b >> 64 for b in EDGES]


@settings(deadline=None, max_examples=200)
@given(WORDS, WORDS)
def test_the_high_half_is_exact_in_between(a: int, b: int) -> None:
    assert high(a, b) == a * b >> 64
