"""The last shape that is taken and the first that is refused, for every kind of channel and set system."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from deniable.core import (
    SEEDS,
    Bits,
    Channel,
    FakeData,
    Field,
    Hashing,
    Identity,
    Mixture,
    NearestCellSets,
    Nested,
    Pair,
    Profile,
    Projective,
    Reference,
    Singleton,
    SketchSigns,
    Steps,
    Subsets,
    Table,
    TwoLevel,
    WideHashing,
    Windows,
)
from deniable.core.channels.base import MOST_ENUMERATED
from deniable.core.channels.direction_distance import MOST_DISTANCES, MOST_SIDE
from deniable.errors import InvalidParameter

Build = Callable[[], object]
COIN, SLANTED = TwoLevel(Singleton(2), 1, 3), Table([[2, 1], [1, 2]])
LARGE = 1 << 22

TAKEN: list[Build] = [
    lambda: TwoLevel(Singleton(2), 1, 1),
    lambda: Table([[1]]),
    lambda: Table([[0, 1], [1, 0]]),
    lambda: Table([[1] * LARGE]),
    lambda: Bits(2, own=1, other=1, scale=2),
    lambda: Bits(1 << 20, own=3, other=3, scale=4),
    lambda: Nested(5, widths=[1], weights=[1, 1]),
    lambda: Nested(5, widths=[1, 4], weights=[1, 1, 1]),
    lambda: Profile([1], first=0, inputs=1),
    lambda: Profile([0, 1, 1], first=-1, inputs=2),
    lambda: Profile([1, 1, 1], first=-1, inputs=1, margin=1),
    lambda: Profile([1, 1], first=5, inputs=2, wrap=True),
    lambda: Reference([1, 1], [1, 2], [0, 1], [0], total=2),
    lambda: Mixture([COIN], [1]),
    lambda: Field((2, 3), 0, COIN),
    lambda: Field((3, 2), 1, COIN),
    lambda: FakeData([COIN]),
    lambda: Steps(COIN, 1),
    lambda: Pair(1, 0, 1),
    lambda: Pair(0, 1, 0),
    lambda: Pair.exactly("1/2", -1),
    lambda: Pair.exactly("1/2", 1),
    lambda: Pair.exactly("4/5", "-1/4"),
    lambda: Windows(2, 2, 1, 0, 0, 1),
    lambda: Windows(9, 9, 8, 0, 0, 1),
    lambda: NearestCellSets(1, 2, 1),
    lambda: NearestCellSets(3, 3, 8),
    lambda: NearestCellSets(3, 3, 1, [0, 8]),
    lambda: Subsets(2, 1),
    lambda: Subsets(1 << 16, 1),
    lambda: Subsets(9, 8),
    lambda: Projective(3, 2, 2),
    lambda: Projective(13, 3, 3),
    lambda: Hashing(10, 2),
    lambda: Hashing(10, 1 << 16),
    lambda: WideHashing(1, 1, 2),
    lambda: WideHashing(64, 64, 1 << 16),
    lambda: SketchSigns(64, 1, 0, 1, 0),
    lambda: SketchSigns(64, 64, 6, 24, SEEDS - 1),
]
REFUSED: list[tuple[Build, str]] = [
    (lambda: TwoLevel(Singleton(2), 0, 1), "0 < low <= high"),
    (lambda: TwoLevel(Singleton(2), 2, 1), "0 < low <= high"),
    (lambda: Table([[]]), "at least one row"),
    (lambda: Table([[1] * (LARGE + 1)]), f"at most {LARGE} weights"),
    (lambda: Table([[2, -1], [1, 0]]), "negative"),
    (lambda: Table([[1, 1], [1, 2]]), "same positive sum"),
    (lambda: Table([[0], [0]]), "same positive sum"),
    (lambda: Bits(1, own=2, other=1, scale=4), "one bit per category"),
    (lambda: Bits((1 << 20) + 1, own=2, other=1, scale=4), "one bit per category"),
    (lambda: Bits(3, own=1, other=0, scale=4), "0 < other <= own < scale"),
    (lambda: Bits(3, own=4, other=1, scale=4), "0 < other <= own < scale"),
    (lambda: Bits(3, own=1, other=2, scale=4), "0 < other <= own < scale"),
    (lambda: Nested(5, widths=[1, 3], weights=[2, 1]), "one more weight than windows"),
    (lambda: Nested(5, widths=[], weights=[1]), "at least one window"),
    (lambda: Nested(5, widths=[3, 3], weights=[3, 2, 1]), "widths must increase"),
    (lambda: Nested(5, widths=[0, 3], weights=[3, 2, 1]), "widths must increase"),
    (lambda: Nested(5, widths=[-1], weights=[2, 1]), "widths must increase"),
    (lambda: Nested(5, widths=[5], weights=[2, 1]), "widths must increase"),
    (lambda: Nested(5, widths=[1], weights=[2, 0]), "positive"),
    (lambda: Nested(5, widths=[1], weights=[0, 2]), "positive"),
    (lambda: Profile([], first=0, inputs=1), "needs weights"),
    (lambda: Profile([1, -1, 1], first=-1, inputs=2), "needs weights"),
    (lambda: Profile([1, 1], first=0, inputs=2), "reach every output"),
    (lambda: Profile([1, 1], first=-1, inputs=2), "reach every output"),
    (lambda: Profile([1, 1, 1], first=-1, inputs=2, margin=1), "reach every output"),
    (lambda: Profile([1, 1, 1], first=0, inputs=2, wrap=True), "one weight per cell"),
    (lambda: Profile([1, 1], first=0, inputs=2, margin=1, wrap=True), "no margin"),
    (lambda: Reference([1], [2], [0], [0], total=1), "one place per output"),
    (lambda: Reference([1, 1], [2, 2, 2], [0, 1], [0], total=3), "one place per output"),
    (lambda: Reference([1, 1], [2, 2], [0, 1, 2], [0], total=3), "one place per output"),
    (lambda: Reference([1, 1, 1], [2, 2, 2], [0, 1], [0], total=4), "one place per output"),
    (lambda: Reference([1, 1, 1], [2, 2], [0, 1], [0], total=4), "one place per output"),
    (lambda: Reference([1, 0], [2, 2], [0, 1], [0], total=3), "0 < low <= high"),
    (lambda: Reference([1, 3], [2, 2], [0, 1], [0], total=3), "0 < low <= high"),
    (lambda: Reference([1, 1], [2, 2], [1, 1], [0], total=3), "must increase"),
    (lambda: Reference([1, 1], [2, 2], [0, 1], [4, 4], total=3), "must increase"),
    (lambda: Reference([1, 1], [2, 2], [0, 1], [0], total=1), "between the sums"),
    (lambda: Reference([1, 1], [2, 2], [0, 1], [0], total=4), "between the sums"),
    (lambda: Mixture([COIN, SLANTED], [1]), "one share each"),
    (lambda: Mixture([], []), "equal inputs"),
    (lambda: Mixture([COIN, Identity(3)], [1, 1]), "equal inputs"),
    (lambda: Mixture([COIN, SLANTED], [1, 0]), "positive"),
    (lambda: Mixture([COIN, SLANTED], [1, 1]).part_of(-1), "not negative"),
    (lambda: Field((2, 2), 2, COIN), "one of the digits"),
    (lambda: Field((2, 2), -1, COIN), "one of the digits"),
    (lambda: Field((3, 2), 0, COIN), "take that digit"),
    (lambda: FakeData([]), "favour the true value alone"),
    (lambda: FakeData([COIN, TwoLevel(Subsets(3, 1), 1, 2)]), "favour the true value alone"),
    (lambda: Steps(COIN, 0), "at least one step"),
    (lambda: Pair(-1, 2, 1), "negative"),
    (lambda: Pair(2, 2, -1), "negative"),
    (lambda: Pair(0, 0, 1), "sometimes tell the truth and sometimes lie"),
    (lambda: Pair(1, 0, 0), "sometimes tell the truth and sometimes lie"),
    (lambda: Pair.exactly(0, 0), "both excluded"),
    (lambda: Pair.exactly(1, 0), "both excluded"),
    (lambda: Pair.exactly("x", 0), "both excluded"),
    (lambda: Pair.exactly("4/5", "-0.2500001"), "between -0.25 and 1"),
    (lambda: Pair.exactly("1/5", "-0.2500001"), "between -0.25 and 1"),
    (lambda: Pair.exactly("4/5", "1.0000001"), "between -0.25 and 1"),
    (lambda: Pair.exactly("4/5", "x"), "between -0.25 and 1"),
    (lambda: Windows(3, 3, 0, 0, 0, 1), "at least 1 and fewer than 3"),
    (lambda: Windows(3, 3, 3, 0, 0, 1), "at least 1 and fewer than 3"),
    (lambda: NearestCellSets(3, 3, 0), "at least 1 and fewer than 9"),
    (lambda: NearestCellSets(3, 3, 9), "at least 1 and fewer than 9"),
    (lambda: NearestCellSets(3, 3, 2, [0, 8]), "at least 1 and fewer than 2"),
    (lambda: Subsets(4, 0), "1 to 3"),
    (lambda: Subsets(4, 4), "1 to 3"),
    (lambda: Subsets((1 << 16) + 1, 1), "at most 65536"),
    (lambda: Projective(2, 3, 1), "at least two dimensions"),
    (lambda: Projective(2, 9, 2), "prime field"),
    (lambda: Projective(4, 2, 2), "only 3 points"),
    (lambda: Hashing(10, 1), "2 to 65536 buckets"),
    (lambda: Hashing(10, (1 << 16) + 1), "2 to 65536 buckets"),
    (lambda: WideHashing(8, 8, 1), "2 to 65536 buckets"),
    (lambda: WideHashing(8, 8, (1 << 16) + 1), "2 to 65536 buckets"),
    (lambda: WideHashing(65, 8, 2), "at most 64 bits"),
    (lambda: WideHashing(8, 9, 2), "at least 1 bit"),
    (lambda: WideHashing(8, 0, 2), "at least 1 bit"),
    (lambda: SketchSigns(8, 0, 1, 1, 0), "at least 1 bit"),
    (lambda: SketchSigns(8, 8, -1, 1, 0), "2\\*\\*6 rows"),
    (lambda: SketchSigns(8, 8, 7, 1, 0), "2\\*\\*6 rows"),
    (lambda: SketchSigns(8, 8, 1, 0, 0), "2\\*\\*6 rows"),
    (lambda: SketchSigns(8, 8, 1, 25, 0), "2\\*\\*6 rows"),
    (lambda: SketchSigns(8, 8, 1, 1, -1), "salt"),
    (lambda: SketchSigns(8, 8, 1, 1, SEEDS), "salt"),
    (lambda: COIN.check(-1), "inputs 0 to 1"),
    (lambda: COIN.check(2), "inputs 0 to 1"),
    (lambda: COIN.check(1, -1), "outputs 0 to 1"),
    (lambda: COIN.check(1, 2), "outputs 0 to 1"),
]


@pytest.mark.parametrize("build", TAKEN)
def test_the_last_shape_that_is_possible_is_taken(build: Build) -> None:
    assert build() is not None


@pytest.mark.parametrize(("build", "rule"), REFUSED)
def test_the_first_shape_that_is_not_is_refused_by_the_rule_it_breaks(build: Build, rule: str) -> None:
    with pytest.raises(InvalidParameter, match=rule):
        build()


def test_known_limits_stay_what_they_are() -> None:
    """Batch kernels and the clients of other languages rely on them."""
    assert (MOST_SIDE, MOST_DISTANCES, MOST_ENUMERATED) == (1 << 13, 1 << 12, 1 << 17)
    assert (SEEDS, Hashing(5, 7).members, WideHashing(8, 4, 3).members) == (1 << 32, 1 << 32, 1 << 32)
    assert (Hashing(5, 7).outputs, WideHashing(8, 4, 3).outputs, WideHashing(8, 4, 3).inputs) == (7 << 32, 3 << 32, 256)


def test_what_a_channel_reads_is_kept_as_it_is_however_it_was_given() -> None:
    """Lists become tuples: channels are values and can be compared, hashed and remembered."""
    made: list[Channel] = [
        Table([[1, 2], [2, 1]]),
        Nested(5, [1], [2, 1]),
        Profile([1, 2, 1], -1, 2),
        Reference([1, 1], [2, 2], [0, 1], [0], 3),
        Mixture([COIN], [1]),
        Field([2, 3], 0, COIN),
        FakeData([COIN]),
    ]
    assert len({hash(channel) for channel in made}) == len(made)
    assert Table([[1, 2], [2, 1]]) == Table(((1, 2), (2, 1)))
    assert COIN.max_ratio() == Fraction(3)
