"""Outputs against the law: for every kind of channel, which statistics to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import singledispatch
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from deniable.core import (
    SEED_BITS,
    SEEDS,
    Bits,
    Channel,
    DirectionDistance,
    Hashing,
    Hitting,
    NearestCodeSets,
    PickedItem,
    Product,
    SetSystem,
    SignedBits,
    Steps,
    Subsets,
    TwoLevel,
    undigits,
)
from deniable.errors import NotSupported
from deniable.privacy.conformance.statistics import binomial_tail, goodness_of_fit

Tails = list[tuple[str, float]]

BINS = 64
MOST_LISTED = 1 << 14
"""Outputs are looked at one by one up to so many."""


@singledispatch
def tails(channel: Channel, index: int, outputs: Sequence[int]) -> Tails:
    """Statistics of outputs drawn for one input, each with its tail probability under the exact weights."""
    seen = Counter(outputs)
    if min(seen) < 0 or max(seen) >= channel.outputs:
        return [("an output that the channel does not have", 0.0)]
    try:
        channel.mass(index, 0, channel.outputs)
    except NotSupported:
        return []
    if channel.outputs <= 4 * BINS:
        weights = [channel.weight(index, output) for output in range(channel.outputs)]
        return [("all outputs", goodness_of_fit([seen[output] for output in range(channel.outputs)], weights))]
    edges = [channel.outputs * j // BINS for j in range(BINS + 1)]
    counts = [0] * BINS
    for output, count in seen.items():
        counts[_bin_of(output, edges)] += count
    weights = [channel.mass(index, start, stop) for start, stop in pairwise(edges)]
    impossible = sum(count for output, count in seen.items() if channel.weight(index, output) == 0)
    chances = [("64 runs of outputs", goodness_of_fit(counts, weights)), ("outputs of weight 0", 0.0 if impossible else 1.0)]
    return chances + _low_digits(channel, index, seen)


def _bin_of(output: int, edges: list[int]) -> int:
    guess = output * BINS // edges[-1]
    while output < edges[guess]:
        guess -= 1
    while output >= edges[guess + 1]:
        guess += 1
    return guess


def _low_digits(channel: Channel, index: int, seen: Counter[int]) -> Tails:
    """The last three bits, where a float sampler would betray itself; only where adding up is quick."""
    if channel.outputs > MOST_LISTED:
        return []
    weights, counts = [0] * 8, [0] * 8
    for output in range(channel.outputs):
        weights[output % 8] += channel.weight(index, output)
    for output, count in seen.items():
        counts[output % 8] += count
    return [("the last three bits", goodness_of_fit(counts, weights))]


@tails.register
def _(channel: TwoLevel, index: int, outputs: Sequence[int]) -> Tails:
    if any(not 0 <= output < channel.outputs or not channel.sets.possible(output) for output in outputs):
        return [("an output that the channel does not have", 0.0)]
    favoured = sum(channel.sets.contains(index, output) for output in outputs)
    chances = [("favoured outputs", binomial_tail(favoured, len(outputs), Fraction(channel.favoured, channel.total)))]
    return chances + _beyond_levels(channel.sets, channel, index, outputs)


@singledispatch
def _beyond_levels(sets: SetSystem, channel: TwoLevel, index: int, outputs: Sequence[int]) -> Tails:
    """What is looked at beside how many outputs are favoured."""
    return tails.dispatch(Channel)(channel, index, outputs)


@_beyond_levels.register
def _(sets: Hashing, channel: TwoLevel, index: int, outputs: Sequence[int]) -> Tails:
    """The seed is uniform, bit by bit and in its high byte; a lie is uniform among the other buckets."""
    seeds = [output // sets.buckets for output in outputs]
    matrix = bit_matrix(seeds, (SEEDS - 1).bit_length())
    chances = _each_bit(matrix, [Fraction(1, 2)] * matrix.shape[1], "bit {} of the seed")
    highs = Counter(seed >> 24 for seed in seeds)
    chances.append(("the seed's first byte", goodness_of_fit([highs[value] for value in range(256)], [1] * 256)))
    lies = Counter((output % sets.buckets - sets.bucket(output // sets.buckets, index)) % sets.buckets for output in outputs)
    others = [lies[other] for other in range(1, sets.buckets)]
    return [*chances, ("which other bucket", goodness_of_fit(others, [1] * len(others)))]


@_beyond_levels.register
def _(sets: NearestCodeSets, channel: TwoLevel, index: int, outputs: Sequence[int]) -> Tails:
    """The seed is uniform, bit by bit; so is the word among those of its level, and so the lowest digit of words in all."""
    matrix = bit_matrix([output >> sets.code_bits for output in outputs], SEED_BITS)
    chances = _each_bit(matrix, [Fraction(1, 2)] * SEED_BITS, "bit {} of the seed")
    ranks: tuple[Counter[int], Counter[int]] = Counter(), Counter()
    for output in outputs:
        inside, rank = sets.rank(index, output)
        ranks[inside][rank] += 1
    for counted, many, name in (
        (ranks[1], sets.nearest, "which of the nearest words"),
        (ranks[0], sets.codes - sets.nearest, "which other word"),
    ):
        if many > 1:
            cells = min(many, BINS)
            counts = [0] * cells
            for rank, count in counted.items():
                counts[rank * cells // many] += count
            sizes = [-(-(cell + 1) * many // cells) - -(-cell * many // cells) for cell in range(cells)]
            chances.append((name, goodness_of_fit(counts, sizes)))
    return chances


@_beyond_levels.register
def _(sets: Subsets, channel: TwoLevel, index: int, outputs: Sequence[int]) -> Tails:
    """Every value is in the subset as often as it should be."""
    own = Fraction(channel.favoured, channel.total)
    other = (own * (sets.chosen - 1) + (1 - own) * sets.chosen) / (sets.size - 1)
    chances = [own if value == index else other for value in range(sets.size)]
    return _each_bit(bit_matrix(outputs, sets.size), chances, "value {}")


@tails.register
def _(channel: Bits, index: int, outputs: Sequence[int]) -> Tails:
    if any(not 0 <= output < channel.outputs for output in outputs):
        return [("an output that the channel does not have", 0.0)]
    matrix = bit_matrix(outputs, channel.size)
    chances = [Fraction(channel.own if v == index else channel.other, channel.scale) for v in range(channel.size)]
    both = matrix & np.roll(matrix, -1, axis=1)
    pairs = [a * b for a, b in zip(chances, [*chances[1:], chances[0]], strict=True)]
    return _each_bit(matrix, chances, "bit {}") + _each_bit(both, pairs, "bit {} together with the next")


@_beyond_levels.register
def _(sets: Hitting, channel: TwoLevel, index: int, outputs: Sequence[int]) -> Tails:
    """Every place is named as often as it should be, and so is every pair of neighbours."""
    held = set(sets.held(index))
    matrix = bit_matrix(outputs, sets.places)
    own = [place in held for place in range(sets.places)]
    chances = [channel.naming(int(mine), 1) or Fraction(0) for mine in own]
    pairs = [channel.naming(mine + after, 2) or Fraction(0) for mine, after in zip(own, [*own[1:], own[0]], strict=True)]
    both = matrix & np.roll(matrix, -1, axis=1)
    return _each_bit(matrix, chances, "place {}") + _each_bit(both, pairs, "place {} together with the next")


@tails.register
def _(channel: SignedBits, index: int, outputs: Sequence[int]) -> Tails:
    if any(not 0 <= output < channel.outputs or not channel.possible(output) for output in outputs):
        return [("an output that the channel does not have", 0.0)]
    return _each_bit(bit_matrix(outputs, 2 * channel.keys), _shown(channel, {index: 1}), "sign {}")


@tails.register
def _(channel: PickedItem, index: int, outputs: Sequence[int]) -> Tails:
    inner = channel.inner
    if not isinstance(inner, Bits | SignedBits):
        return tails.dispatch(Channel)(channel, index, outputs)
    if any(not 0 <= output < channel.outputs or not channel.possible(output) for output in outputs):
        return [("an output that the channel does not have", 0.0)]
    picked: Counter[int] = Counter()
    for place, level in channel.padding.held(index):
        plus = channel.pluses(place, level)
        picked.update({place: 1} if channel.levels == 1 else {2 * place: plus, 2 * place + 1: channel.steps - plus})
    chances = _shown(inner, picked)
    return _each_bit(bit_matrix(outputs, len(chances)), chances, "bit {}")


def _shown(inner: Bits | SignedBits, picked: Mapping[int, int]) -> list[Fraction]:
    """How likely every bit is when inner inputs are picked in these proportions."""
    every, shares = sum(picked.values()), []
    if isinstance(inner, Bits):
        for bit in range(inner.size):
            shares.append(Fraction(picked.get(bit, 0) * (inner.own - inner.other) + every * inner.other, every * inner.scale))
        return shares
    for bit in range(2 * inner.keys):
        same, opposite = picked.get(bit, 0), picked.get(bit ^ 1, 0)
        weight = same * inner.agree + opposite * inner.differ + (every - same - opposite) * inner.other
        shares.append(Fraction(weight, every * inner.scale))
    return shares


@tails.register
def _(channel: Product, index: int, outputs: Sequence[int]) -> Tails:
    if any(not 0 <= output < channel.outputs for output in outputs):
        return [("an output that the channel does not have", 0.0)]
    inputs = channel.split_input(index)
    columns = list(zip(*(channel.split_output(output) for output in outputs), strict=True))
    chances: Tails = []
    halves: list[tuple[list[bool], Fraction] | None] = []
    for j, (part, x, column) in enumerate(zip(channel.parts, inputs, columns, strict=True)):
        chances += [(f"part {j}: {name}", tail) for name, tail in tails(part, x, column)]
        halves.append(_lower_half(part, x, column))
    for j, (first, second) in enumerate(pairwise(halves)):
        if first is not None and second is not None:
            both = sum(a and b for a, b in zip(first[0], second[0], strict=True))
            chances.append((f"parts {j} and {j + 1} together", binomial_tail(both, len(outputs), first[1] * second[1])))
    return chances


@tails.register
def _(channel: DirectionDistance, index: int, outputs: Sequence[int]) -> Tails:
    both = Product([channel.direction, channel.distance])
    return tails(both, undigits(channel.polar(index), [part.inputs for part in both.parts]), outputs)


@tails.register
def _(channel: Steps, index: int, outputs: Sequence[int]) -> Tails:
    """The first step, and as a whole where there are few outputs; later steps depend on the reports before them."""
    if any(not 0 <= output < channel.outputs for output in outputs):
        return [("an output that the channel does not have", 0.0)]
    later = channel.step.outputs ** (channel.length - 1)
    first = [output // later for output in outputs]
    chances = tails(channel.step, index // channel.step.inputs ** (channel.length - 1), first)
    return chances + (tails.dispatch(Channel)(channel, index, outputs) if channel.outputs <= MOST_LISTED else [])


def _lower_half(channel: Channel, index: int, outputs: Sequence[int]) -> tuple[list[bool], Fraction] | None:
    """A yes-or-no question about an output whose chance is known: is it in the lower half?"""
    support = channel.support()
    if channel.free_bits and support is not None:
        return [bool(y & 1) for y in outputs], support[0 if index == 0 else 1]
    try:
        chance = Fraction(channel.mass(index, 0, channel.outputs // 2), channel.total)
    except NotSupported:
        return None
    return [output < channel.outputs // 2 for output in outputs], chance


def bit_matrix(outputs: Sequence[int], width: int) -> NDArray[np.bool_]:
    """One row per output, one column per bit, lowest first."""
    size = (width + 7) // 8
    packed = np.frombuffer(b"".join(int(output).to_bytes(size, "little") for output in outputs), dtype=np.uint8)
    bits = np.unpackbits(packed.reshape(len(outputs), size), axis=1, bitorder="little", count=width)
    return bits.astype(np.bool_)


def _each_bit(matrix: NDArray[np.bool_], chances: Sequence[Fraction], name: str) -> Tails:
    ones = matrix.sum(axis=0)
    pairs = enumerate(zip(ones, chances, strict=True))
    return [(name.format(v), binomial_tail(int(count), len(matrix), chance)) for v, (count, chance) in pairs]
