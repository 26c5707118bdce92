"""Pairings are uniformly random at every size: exactly the reference, and by statistics that would see any half left in order."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.guards.orders import check_orders, fisher_yates

from deniable.batch import random_words
from deniable.privacy import FixedKeystream
from deniable.studies import pair_users, random_pairing
from deniable.studies.joint.protocol.permutation import permutation
from deniable.studies.joint.sampling import CHUNK, shuffle


class Words:
    """A keystream that gives listed words, and remembers how many were asked for."""

    def __init__(self, words: list[int]) -> None:
        self.words = words
        self.used = 0

    def fill(self, buffer: NDArray[np.uint64]) -> None:
        buffer[:] = self.words[self.used : self.used + len(buffer)]
        self.used += len(buffer)

    def spawn(self) -> Words:
        raise NotImplementedError


@pytest.mark.parametrize("size", [0, 1, 2, 3, 5, 63, 64, 65, 66, 100, 127, 128, 129, 1000, 4096, 4 * CHUNK + 3])
def test_a_shuffle_is_the_reference(size: int) -> None:
    stream = FixedKeystream(size)
    drawn = random_words(stream, size + 2000).tolist()
    assert random_pairing(size, Words(drawn)).tolist() == fisher_yates(drawn, size)


@pytest.mark.parametrize("size", [3, 65, 1000])
def test_a_shuffle_leaves_out_the_words_that_would_bias_it(size: int) -> None:
    """The words whose product with a size leaves a small remainder come first, and are thrown away."""
    biased = [0] * 5
    drawn = biased + random_words(FixedKeystream(1), 4 * size).tolist()
    items = np.arange(size)
    shuffle(items, Words(drawn))
    assert items.tolist() == fisher_yates(drawn, size)


def test_shuffled_pairings_are_uniform() -> None:
    stream = FixedKeystream(5)
    for size, rounds in ((9, 2000), (65, 400), (200, 150), (1001, 40), (70_001, 1)):
        check_orders(lambda size: random_pairing(size, stream), size, rounds)


def test_public_permutations_are_uniform() -> None:
    count = iter(range(10**6))
    for size, rounds in ((9, 60), (65, 60), (257, 30), (1001, 15)):
        check_orders(lambda size: np.array(permutation(hashlib.sha256(str(next(count)).encode()).digest(), size)), size, rounds)


def test_public_pairings_are_uniform_and_do_not_depend_on_the_order_of_arrival() -> None:
    names = [f"user{number:03}" for number in range(101)]
    count = iter(range(10**6))

    def order(size: int) -> NDArray[np.int64]:
        joint = hashlib.sha256(f"round {next(count)}".encode()).digest()
        pairing = pair_users(joint, names[:size])
        assert pairing == pair_users(joint, list(reversed(names[:size])))
        found = [name for pair in pairing.pairs for name in pair] + ([] if pairing.alone is None else [pairing.alone])
        return np.array([int(name[4:]) for name in found])

    check_orders(order, 101, 40)


def test_new_pairings_are_never_the_same() -> None:
    """On the system's randomness: two orders of 65 people are equal with probability 1/65!."""
    assert len({tuple(random_pairing(65).tolist()) for _ in range(20)}) == 20
