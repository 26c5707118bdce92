"""The extremal rows where every pair of values has a level of its own: the extreme rays of a cone.

A column q of a mechanism keeps the promise when q_x <= e**ε(x, x') q_x' for all pairs. In logarithms t = ln q that is
t_x − t_x' <= ε(x, x'): with levels that are whole multiples of one unit, potentials of extreme rays are whole numbers, and
everything here is decided exactly. A ray is extreme when the pairs that are tight connect all values. Two of them are neighbours
when one is got from the other by moving a connected set of values, the rest being connected as well, until another pair becomes
tight. The rays of a cone are connected by such steps, so that all of them are reached. Where a pair has no level, columns may be
zero outside of a set of values; each such set has rays of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from deniable.core import Privacy
from deniable.errors import NotSupported

MOST_VALUES = 12
MOST_RAYS = 20_000

Levels = Sequence[Sequence[int | None]]
Ray = tuple[int | None, ...]
"""Whole potentials with the smallest 0; None where the column is zero."""


def rays(privacy: Privacy) -> tuple[list[Ray], Fraction]:
    """All extreme rays, and the unit of their potentials.

    >>> rays(Privacy.uniform(3, 1))[0]
    [(0, 0, 1), (0, 1, 0), (0, 1, 1), (1, 0, 0), (1, 0, 1), (1, 1, 0)]
    >>> rays(Privacy.sensitive(3, [0], 1))[0]
    [(1, 0, 0), (None, 0, None), (None, None, 0)]
    """
    if privacy.size > MOST_VALUES:
        raise NotSupported(f"all rows are listed for at most {MOST_VALUES} values with levels of their own; merge values")
    known = [level for level in privacy.required() if level is not None]
    unit = Fraction(1, math.lcm(*(level.denominator for level in known)))
    shared = math.gcd(*(int(level / unit) for level in known))
    unit *= shared
    levels = _own([[None if level is None else int(level / unit) for level in row] for row in privacy.closed])
    every: set[Ray] = set()
    for support in _supports(levels):
        for potentials in _connected_rays([[levels[x][y] for y in support] for x in support], MOST_RAYS - len(every)):
            ray: list[int | None] = [None] * privacy.size
            for place, potential in zip(support, potentials, strict=True):
                ray[place] = potential
            every.add(tuple(ray))
    return sorted(every, key=lambda ray: ([one is None for one in ray], [one or 0 for one in ray])), unit


def _own(closed: Levels) -> Levels:
    """Without the levels that follow from others by way of a third value: they are tight exactly when those are."""
    size = len(closed)

    def follows(x: int, y: int) -> bool:
        ways = ((closed[x][z], closed[z][y]) for z in range(size) if z not in (x, y))
        return any(first is not None and second is not None and first + second == closed[x][y] for first, second in ways)

    return [[None if x == y or follows(x, y) else closed[x][y] for y in range(size)] for x in range(size)]


def _supports(levels: Levels) -> Iterator[list[int]]:
    """Sets of values outside of which a column may be zero: no value inside has a level against one outside."""
    size = len(levels)
    needs = [sum(1 << y for y in range(size) if y != x and levels[x][y] is not None) for x in range(size)]
    for chosen in range(1, 1 << size):
        inside = [x for x in range(size) if chosen >> x & 1]
        if all(needs[x] & ~chosen == 0 for x in inside):
            yield inside


def _connected_rays(levels: Levels, most: int) -> Iterator[tuple[int, ...]]:
    """The rays that are positive everywhere; none where the levels do not connect the values."""
    size = len(levels)
    bound = [[levels[x][y] is not None or levels[y][x] is not None for y in range(size)] for x in range(size)]
    if not _connected((1 << size) - 1, [_mask(row) for row in bound]):
        return
    first = _some_ray(levels)
    seen, fresh = {first}, [first]
    while fresh:
        grown: list[tuple[int, ...]] = []
        for ray in fresh:
            for other in _neighbours(ray, levels):
                if other not in seen:
                    seen.add(other)
                    grown.append(other)
        if len(seen) > most:
            raise NotSupported(f"these levels have more than {MOST_RAYS} extremal rows; merge values, or round the levels")
        fresh = grown
    yield from seen


def _some_ray(levels: Levels) -> tuple[int, ...]:
    """Begin with equal weights; raise connected parts until something becomes tight and everything hangs together."""
    size = len(levels)
    ray = (0,) * size
    while True:
        part = _component(0, _linked(ray, levels))
        if part == (1 << size) - 1:
            return ray
        moved = _raised(ray, part, levels)
        # A part that nothing holds down when it is raised is held up when it is lowered: the levels connect the values.
        ray = moved if moved is not None else _needed(_raised(ray, ((1 << size) - 1) & ~part, levels))


def _needed(ray: tuple[int, ...] | None) -> tuple[int, ...]:
    assert ray is not None
    return ray


def _neighbours(ray: tuple[int, ...], levels: Levels) -> Iterator[tuple[int, ...]]:
    size = len(ray)
    whole, linked, tight = (1 << size) - 1, _linked(ray, levels), _tight(ray, levels)
    if sum(one.bit_count() for one in linked) == 2 * (size - 1):
        # The tight pairs form a tree: every edge that is cut leaves two connected sides.
        for x in range(size):
            for y in range(x):
                if linked[x] >> y & 1:
                    cut = list(linked)
                    cut[x] &= ~(1 << y)
                    cut[y] &= ~(1 << x)
                    side = _component(x, cut)
                    up = side if not tight[x] >> y & 1 else whole & ~side
                    moved = _raised(ray, up, levels)
                    if moved is not None:
                        yield moved
        return
    for part in range(1, whole):
        if any(part >> x & 1 and tight[x] & ~part for x in range(size)):
            continue
        if _connected(part, linked) and _connected(whole & ~part, linked):
            moved = _raised(ray, part, levels)
            if moved is not None:
                yield moved


def _tight(ray: Sequence[int], levels: Levels) -> list[int]:
    """For every value the others below which it cannot fall, or above which it cannot rise, any further."""
    size = len(ray)
    return [_mask(ray[x] - ray[y] == levels[x][y] for y in range(size)) for x in range(size)]


def _linked(ray: Sequence[int], levels: Levels) -> list[int]:
    size, tight = len(ray), _tight(ray, levels)
    return [tight[x] | _mask(tight[y] >> x & 1 for y in range(size)) for x in range(size)]


def _raised(ray: tuple[int, ...], part: int, levels: Levels) -> tuple[int, ...] | None:
    """The ray with these values raised until a pair becomes tight; None when none ever does."""
    size = len(ray)
    inside = [x for x in range(size) if part >> x & 1]
    outside = [y for y in range(size) if not part >> y & 1]
    room = [level - ray[x] + ray[y] for x in inside for y in outside if (level := levels[x][y]) is not None]
    if not room:
        return None
    step = min(room)
    moved = [ray[x] + (step if part >> x & 1 else 0) for x in range(size)]
    least = min(moved)
    return tuple(one - least for one in moved)


def _component(start: int, linked: Sequence[int], within: int = -1) -> int:
    reached, fresh = 1 << start, 1 << start
    while fresh:
        further = 0
        for x, others in enumerate(linked):
            if fresh >> x & 1:
                further |= others & within
        fresh = further & ~reached
        reached |= fresh
    return reached


def _connected(part: int, linked: Sequence[int]) -> bool:
    return _component((part & -part).bit_length() - 1, linked, part) == part


def _mask(bits: Iterable[object]) -> int:
    return sum(1 << place for place, bit in enumerate(bits) if bit)
