"""The joint level of a key and its value, exactly, beside the published composition: python benchmarks/key_value_levels.py

A key is perturbed at e1 and its value at e2 (Gu, Li, Cheng, Xiong and Cao 2020). Plain composition says e1 + e2. The published
tighter composition is

    PCKV-UE     max(e2, e1 + ln(2 / (1 + e**-e2)))
    PCKV-GRR    ln((e**(e1 + e2) + x) / (min(e**e1, (e**e2 + 1) / 2) + x)), with x = (m - 1)(e**e2 + 1) / 2 for m sampled places

The exact level is that of the largest ratio of integer weights over all maps with values at the ends and all reports.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from fractions import Fraction

from deniable.core import Padding, PickedItem, SignedBits, column_ratio

KEYS, SCALE = 2, 1 << 40
SPLITS = [(0.5, 0.5), (0.3, 0.9), (1.0, 0.2), (0.2, 2.0), (1.0, 1.0), (2.0, 2.0)]


def exact_bits(first: float, second: float, most: int) -> Fraction:
    """The largest ratio of PCKV-UE's weights: e1 by optimized unary encoding, e2 by randomized response."""
    agree = round(SCALE / 2 * math.exp(second) / (math.exp(second) + 1))
    other = round(SCALE / (math.exp(first) + 1) / 2)
    inner = SignedBits(KEYS + most, agree=agree, differ=SCALE // 2 - agree, other=other, scale=SCALE)
    ratio = column_ratio(PickedItem(KEYS, most, 2, inner))
    assert ratio is not None
    return ratio


def exact_single(first: float, second: float, most: int) -> Fraction:
    """That of PCKV-GRR, which reports a single key with a sign."""
    own = round(SCALE * 2 * math.exp(first + second) / (math.exp(second) + 1))
    wrong = round(SCALE * 2 * math.exp(first) / (math.exp(second) + 1))
    columns = zip(*_rows(most, own, wrong, SCALE), strict=True)
    return max(Fraction(max(column), min(column)) for column in columns)


def _rows(most: int, own: int, wrong: int, other: int) -> Iterator[list[int]]:
    """For every map: the weight of every place with either sign. A dummy's sign is drawn evenly, so it weighs twice the mean."""
    padding = Padding(KEYS, most, 2)
    for index in range(padding.inputs):
        row = [0] * (2 * padding.places)
        for place, level in padding.held(index):
            for output in range(len(row)):
                weights = (own, wrong) if output % 2 == 1 - level else (wrong, own)
                mine = 2 * weights[0] if place < KEYS else own + wrong
                row[output] += mine if output // 2 == place else 2 * other
        yield row


def published(name: str, first: float, second: float, most: int) -> float:
    """The tighter composition."""
    if name == "pckv-ue":
        return max(second, first + math.log(2 / (1 + math.exp(-second))))
    half = (math.exp(second) + 1) / 2
    more = (most - 1) * half
    return math.log((math.exp(first + second) + more) / (min(math.exp(first), half) + more))


EXACT = {"pckv-ue": exact_bits, "pckv-grr": exact_single}


def main() -> None:
    sys.stdout.write("| mechanism | m | e1 | e2 | e1 + e2 | published | exact |\n" + "|---" * 7 + "|\n")
    for name, exact in EXACT.items():
        for most in (1, 2) if name == "pckv-grr" else (2,):
            for first, second in SPLITS:
                joint, level = published(name, first, second, most), math.log(exact(first, second, most))
                sys.stdout.write(f"| {name} | {most} | {first} | {second} | {first + second:.1f} | {joint:.6f} | {level:.6f} |\n")


if __name__ == "__main__":
    main()
