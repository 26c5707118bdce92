"""Set systems: inside and outside list S_x and its complement, each element once."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import pytest

from deniable.core import (
    Bits,
    Hadamard,
    Hashing,
    NearestCellSets,
    Projective,
    SetSystem,
    Singleton,
    Subsets,
    Windows,
    linear_window,
    slid_window,
    wrapped_window,
)
from deniable.core.channels.hadamard import POLYNOMIALS
from deniable.core.channels.hashing import mix
from deniable.core.channels.projective import is_prime
from deniable.errors import InvalidParameter
from deniable.privacy import FixedCoins, binomial_tail


def systems() -> Iterator[SetSystem]:
    yield from (Singleton(size) for size in (2, 3, 7))
    for cells in (2, 3, 8, 9):
        yield from (slid_window(cells, members) for members in range(1, cells))
        yield from (wrapped_window(cells, members) for members in range(1, cells))
    yield from (
        linear_window(inputs, members, margin) for inputs in (1, 2, 5) for members in (1, 4) for margin in (0, 2) if inputs > 1
    )
    yield from (Hadamard(size) for size in (2, 3, 4, 7, 8, 15))
    yield from (Subsets(size, chosen) for size in (2, 3, 5, 8) for chosen in range(1, size))
    yield from (Projective(size, 2, 3) for size in (2, 7))
    yield from (Projective(size, prime, t) for size, prime, t in ((4, 3, 2), (13, 3, 3), (6, 5, 2), (31, 5, 3), (40, 3, 4)))
    for rows, columns in ((1, 5), (3, 3), (4, 6)):
        yield from (NearestCellSets(rows, columns, members) for members in (1, 2, rows * columns // 2, rows * columns - 1))
    cross = [1, 3, 4, 5, 7]
    yield from (NearestCellSets(3, 3, members, cross) for members in (1, 2, 4))


@pytest.mark.parametrize("sets", list(systems()), ids=repr)
def test_inside_and_outside_list_every_possible_output_once(sets: SetSystem) -> None:
    for index in range(sets.inputs):
        inside = [sets.inside(index, j) for j in range(sets.members)]
        outside = [sets.outside(index, j) for j in range(sets.others)]
        possible = [output for output in range(sets.outputs) if sets.possible(output)]
        assert sorted(inside + outside) == possible
        assert all(sets.contains(index, output) for output in inside)
        assert not any(sets.contains(index, output) for output in outside)


@pytest.mark.parametrize("sets", [s for s in systems() if not isinstance(s, Windows)], ids=repr)
def test_different_inputs_favour_different_outputs(sets: SetSystem) -> None:
    favoured = {tuple(sorted(sets.inside(index, j) for j in range(sets.members))) for index in range(sets.inputs)}
    assert len(favoured) == sets.inputs or isinstance(sets, NearestCellSets)


def test_windows_lie_around_the_true_cell() -> None:
    for cells, members in ((9, 1), (9, 3), (9, 7), (8, 5)):
        half = members // 2
        for index in range(cells):
            around = {(index + step) % cells for step in range(-half, half + 1)}
            assert {wrapped_window(cells, members).inside(index, j) for j in range(members)} == around
            slid = sorted(slid_window(cells, members).inside(index, j) for j in range(members))
            first = min(max(index - half, 0), cells - members)
            assert slid == list(range(first, first + members))


def test_a_linear_window_moves_one_cell_per_input_and_never_turns_back() -> None:
    for inputs, members, margin in ((2, 1, 0), (5, 4, 0), (5, 4, 2), (3, 1, 1)):
        sets = linear_window(inputs, members, margin)
        assert (sets.inputs, sets.outputs) == (inputs, inputs - 1 + members + 2 * margin)
        for index in range(inputs):
            cells = [sets.inside(index, j) for j in range(members)]
            assert cells == list(range(margin + index, margin + index + members))


def test_hadamard_sets_overlap_in_half_of_each() -> None:
    sets = Hadamard(7)
    for a in range(7):
        for b in range(a):
            assert sum(sets.contains(a, y) and sets.contains(b, y) for y in range(8)) == 2


@pytest.mark.parametrize("polynomial", POLYNOMIALS)
def test_the_digits_of_several_checks_are_a_field(polynomial: int) -> None:
    """It is no product of two others, so every digit but 0 has an inverse; and it is the least such number with its length."""
    degree = polynomial.bit_length() - 1
    products = _products(degree)
    assert [odd for odd in range((1 << degree) + 1, polynomial + 1, 2) if odd not in products] == [polynomial]
    sets = Hadamard(2, polynomial)
    few = range(1 << min(sets.checks, 3))
    for a in few:
        assert (sets.times(a, 1), sets.times(1, a), sets.times(a, 0)) == (a, a, 0)
        for b in few:
            assert sets.times(a, b) == sets.times(b, a)
            assert all(sets.times(a, b ^ c) == sets.times(a, b) ^ sets.times(a, c) for c in few)
    assert all(len({sets.times(a, b) for b in range(1 << sets.checks)}) == 1 << sets.checks for a in few if a)


def _products(degree: int) -> set[int]:
    """Products of two binary polynomials of degree 1 or more that have this degree, as numbers."""

    def times(one: int, other: int) -> int:
        return 0 if not other else (one if other & 1 else 0) ^ (times(one, other >> 1) << 1)

    return {times(a, b) for a in range(2, 1 << degree) for b in range(2, 1 << (degree + 2 - a.bit_length()))}


def test_no_more_digits_are_sent_than_there_are_vectors_to_tell_apart() -> None:
    assert [Hadamard(size).outputs for size in (1, 2, 3, 4, 7, 8)] == [2, 4, 4, 8, 8, 16]
    assert [Hadamard(size, 7).outputs for size in (1, 2, 5, 6, 21, 22)] == [4, 16, 16, 64, 64, 256]


@pytest.mark.parametrize(
    ("sets", "values"),
    [(Hadamard(7), (0, 1, 3)), (Hadamard(21, 7), (0, 1, 5)), (Subsets(6, 3), (0, 1, 2)), (Subsets(5, 2), (0, 1, 2))],
    ids=repr,
)
def test_pairs_and_triples_of_sets_share_what_they_say(sets: SetSystem, values: tuple[int, ...]) -> None:
    """No row of the three is a sum of the others, where there are rows."""
    first, second, third = ({y for y in range(sets.outputs) if sets.possible(y) and sets.contains(x, y)} for x in values)
    assert len(first & second) == len(first & third) == sets.overlap()
    assert len(first & second & third) == sets.triple_overlap()


def test_what_sets_say_about_sums_and_sizes() -> None:
    assert Hashing(9, 5).overlap() == Hashing(9, 5).members / Fraction(5)
    assert Hashing(9, 5).triple_overlap() == Hashing(9, 5).members / Fraction(25)
    assert (Subsets(9, 4).ones, Subsets(9, 4).effort) == (4, 3)
    assert (Bits(3, own=2, other=1, scale=3).sums, Subsets(9, 4).sums, Hashing(9, 5).sums) == ("bits", "bits", "values")


def test_hyperplanes_meet_alike() -> None:
    sets = Projective(13, 3, 3)
    meets = {sum(sets.contains(a, y) and sets.contains(b, y) for y in range(13)) for a in range(13) for b in range(a)}
    assert meets == {1}


def test_nearest_cells_are_nearest() -> None:
    sets = NearestCellSets(5, 7, 11)
    for index in range(sets.inputs):
        row, column = sets.place(index)

        def distance(cell: int, row: int = row, column: int = column) -> int:
            r, c = sets.place(cell)
            return (r - row) ** 2 + (c - column) ** 2

        near = sets.neighbours(index)
        assert max(map(distance, near)) <= min(distance(cell) for cell in range(sets.outputs) if cell not in near)


def test_primes() -> None:
    assert [n for n in range(30) if is_prime(n)] == [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]


@pytest.mark.parametrize(
    "build",
    [
        lambda: Hadamard(0),
        lambda: slid_window(5, 5),
        lambda: slid_window(5, 0),
        lambda: Subsets(4, 4),
        lambda: Subsets(4, 0),
        lambda: Subsets(1 << 17, 2),
        lambda: Projective(5, 4, 2),
        lambda: Projective(9, 7, 2),
        lambda: Projective(3, 3, 1),
        lambda: NearestCellSets(2, 2, 4),
        lambda: Hashing(10, 1),
        lambda: Hashing(10, 1 << 17),
    ],
)
def test_impossible_sets_are_refused(build: object) -> None:
    with pytest.raises(InvalidParameter):
        build()  # type: ignore[operator]


# --- hashing: 2**32 seeds cannot be listed, so it is sampled


@pytest.mark.parametrize("buckets", [2, 3, 4, 17, 64])
def test_hashing_inside_and_outside_cover_every_bucket_of_a_seed(buckets: int) -> None:
    sets, coins = Hashing(100, buckets), FixedCoins(buckets)
    for _ in range(50):
        seed, index = coins.below(1 << 32), coins.below(100)
        outputs = [sets.inside(index, seed)]
        outputs += [sets.outside(index, seed * (buckets - 1) + other) for other in range(buckets - 1)]
        assert sorted(outputs) == list(range(seed * buckets, (seed + 1) * buckets))
        assert [sets.contains(index, output) for output in outputs] == [True] + [False] * (buckets - 1)


@pytest.mark.parametrize("buckets", [2, 3, 4, 8, 55])
def test_pairs_of_values_collide_for_one_seed_in_g(buckets: int) -> None:
    """What the estimator's q = 1/g rests on. 12 pairs of each kind, 20,000 seeds; false alarms below 1e-6."""
    sets, coins = Hashing(1 << 31, buckets), FixedCoins(buckets)
    pairs = [(0, 1), (1, 2), (0, 1 << 30), (5, 5 + (1 << 16)), (999, 1000), (3, 7), (0, 3), (1, 1 << 20)]
    pairs += [(coins.below(1 << 31), coins.below(1 << 31)) for _ in range(4)]
    seeds = [coins.below(1 << 32) for _ in range(20_000)]
    for a, b in pairs:
        collisions = sum(sets.bucket(seed, a) == sets.bucket(seed, b) for seed in seeds)
        assert binomial_tail(collisions, len(seeds), 1 / buckets) > 1e-9, (a, b)


def test_consecutive_seeds_hash_independently() -> None:
    """Seeds 0, 1, 2, … and values 0, 1, 2, …: structured input must not show in the lowest or highest bit."""
    for value in (0, 1, 2, 1000):
        hashes = [mix(seed, value) for seed in range(20_000)]
        for bit in (0, 15, 31):
            assert binomial_tail(sum(h >> bit & 1 for h in hashes), len(hashes), 0.5) > 1e-9
            same = sum((a ^ b) >> bit & 1 for a, b in pairwise(hashes))
            assert binomial_tail(same, len(hashes) - 1, 0.5) > 1e-9


@pytest.mark.parametrize("bit", range(32))
def test_one_seed_bit_changes_half_of_the_hash(bit: int) -> None:
    coins = FixedCoins(bit)
    changed = 0
    for _ in range(2000):
        seed, value = coins.below(1 << 32), coins.below(1 << 31)
        changed += (mix(seed, value) ^ mix(seed ^ (1 << bit), value)).bit_count()
    assert 0.45 < changed / (32 * 2000) < 0.55
