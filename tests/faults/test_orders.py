"""Pairings that leave people where they were are caught."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.guards.orders import check_orders

from deniable.privacy import FixedKeystream
from deniable.studies import random_pairing

Order = Callable[[int, FixedKeystream], NDArray[np.int64]]


def half_in_order(size: int, stream: FixedKeystream) -> NDArray[np.int64]:
    if size <= 64:
        return random_pairing(size, stream)
    return np.concatenate([random_pairing(size // 2, stream), np.arange(size // 2, size)])


def each_half_by_itself(size: int, stream: FixedKeystream) -> NDArray[np.int64]:
    half = size // 2
    return np.concatenate([random_pairing(half, stream), half + random_pairing(size - half, stream)])


def turned(size: int, stream: FixedKeystream) -> NDArray[np.int64]:
    return np.roll(np.arange(size), int(random_pairing(size, stream)[0]))


def last_stays(size: int, stream: FixedKeystream) -> NDArray[np.int64]:
    return np.append(random_pairing(size - 1, stream), size - 1)


def even_only(size: int, stream: FixedKeystream) -> NDArray[np.int64]:
    """One full cycle through all: the loop that never lets anyone stay (Sattolo)."""
    order = np.arange(size)
    for last in range(size - 1, 0, -1):
        other = int(random_pairing(last, stream)[0])
        order[[last, other]] = order[[other, last]]
    return order


def pairs_move_together(size: int, stream: FixedKeystream) -> NDArray[np.int64]:
    moved = np.stack([2 * random_pairing(size // 2, stream), 2 * random_pairing(size // 2, stream)]).T
    moved[:, 0] = moved[:, 1]
    moved[:, 1] += 1
    return np.append(moved.ravel(), np.arange(size - size % 2, size))


@pytest.mark.parametrize("fault", [half_in_order, each_half_by_itself, turned, last_stays, even_only, pairs_move_together])
def test_an_order_that_is_not_random_enough_is_caught(fault: Order) -> None:
    stream = FixedKeystream(1)
    with pytest.raises(AssertionError, match=r"independent|stayed|parity"):
        check_orders(lambda size: fault(size, stream), 129, 60)
