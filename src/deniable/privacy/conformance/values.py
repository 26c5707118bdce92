"""Values to try on a domain: good ones, awkward ones, and ones it must refuse."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from deniable.core import (
    Ball,
    Binary,
    Bins,
    Categories,
    Circle,
    Disc,
    Domain,
    Interval,
    ItemSet,
    KeyValue,
    Parallelogram,
    Points,
    Polygon,
    Record,
    Rectangle,
    Sphere,
    Trajectory,
)
from deniable.errors import OutOfDomain

SECRET = 918273645
"""A number (and its text) that occurs in no message by chance."""


def few_values(domain: Domain) -> list[Any]:
    """Both ends and something in between: the values whose draws are tested against the law."""
    if isinstance(domain, Ball):
        return _few_vectors(domain)
    last = domain.size - 1
    indices = sorted({0, last, last * 38 // 100} | ({1} if last <= 3 else set()))
    return [domain.decode(index) for index in indices]


def awkward_values(domain: Domain) -> list[Any]:
    """Good values where rounding could go wrong: ends, cell boundaries and their neighbours."""
    if isinstance(domain, Interval | Circle):
        return _awkward_numbers(domain)
    if isinstance(domain, Bins):
        edges = [float(edge) for edge in domain.edges]
        beside = [math.nextafter(edge, end) for edge in edges[1:-1] for end in (-math.inf, math.inf)]
        return [*domain.labels, *edges, *beside, math.nextafter(edges[0], math.inf), math.nextafter(edges[-1], -math.inf)]
    if isinstance(domain, Rectangle):
        across, up = _awkward_numbers(domain.x), _awkward_numbers(domain.y)
        return list(zip(across, up, strict=False)) + list(zip(across, reversed(up), strict=False))
    if isinstance(domain, Disc):
        x, y, r = float(domain.x), float(domain.y), float(domain.radius)
        turns = [0.9 * r * part / 16 for part in range(-11, 12)]
        return _accepted(domain, [(x + dx, y + dy) for dx in turns for dy in turns])
    if isinstance(domain, Sphere):
        return list(
            zip(_awkward_numbers(Interval(-180, 180, cells=domain.cells)), _awkward_numbers(domain.latitudes), strict=False)
        )
    if isinstance(domain, Polygon | Parallelogram):
        return _accepted(domain, _between_corners(domain))
    if isinstance(domain, Record):
        columns = {name: awkward_values(field) for name, field in domain.fields.items()}
        most = max(len(column) for column in columns.values())
        return [{name: column[i % len(column)] for name, column in columns.items()} for i in range(most)]
    if isinstance(domain, Trajectory):
        places = awkward_values(domain.space)
        return [[places[(start + step) % len(places)] for step in range(domain.length)] for start in range(len(places))]
    if isinstance(domain, Binary):
        return [0, 1, False, True]
    if isinstance(domain, Ball):
        return [*_few_vectors(domain), *_awkward_vectors(domain)]
    return [domain.decode(index) for index in {j * (domain.size - 1) // 40 for j in range(41)}]


def _few_vectors(domain: Ball) -> list[list[float]]:
    """One axis, the opposite of the diagonal, half as long as it may be, and the zero vector."""
    radius, rest = float(domain.radius), [0.0] * (domain.dimension - 1)
    diagonal = -radius / (math.sqrt(domain.dimension) if domain.norm == 2 else 1)
    return [[radius, *rest], [diagonal] * domain.dimension, [*rest, radius / 2], [0.0, *rest]]


def _awkward_vectors(domain: Ball) -> list[list[float]]:
    """Halves between lattice steps, with the doubles on either side."""
    awkward = []
    for steps in (0.5, 1.5, 2.5, 12345.5):
        near = steps / domain.per_unit
        for number in (math.nextafter(near, -math.inf), near, math.nextafter(near, math.inf), -near):
            awkward.append([number] * domain.dimension)
    return _accepted(domain, awkward)


def _awkward_numbers(domain: Interval | Circle) -> list[float]:
    """Ends, and for a few cells their boundaries, with the doubles on either side."""
    low, width, cells = domain.low, domain.width, domain.cells
    chosen = {j * cells // 24 for j in range(25)} | {1, cells - 1}
    awkward: list[float] = []
    for cell in sorted(chosen):
        for half in (0, Fraction(1, 2)):
            near = float(low + width * (cell + half) / cells)
            awkward += [math.nextafter(near, -math.inf), near, math.nextafter(near, math.inf)]
    return _accepted(domain, awkward)


def _between_corners(domain: Polygon | Parallelogram) -> list[tuple[float, float]]:
    """Corners, points on the border between them, and a grid of points across the bounding box."""
    corners = [(float(x), float(y)) for x, y in domain.corners]
    border = [((x + 3 * u) / 4, (y + 3 * v) / 4) for (x, y), (u, v) in zip(corners, corners[1:] + corners[:1], strict=True)]
    xs, ys = zip(*corners, strict=True)
    ways = [part / 24 for part in range(25)]
    box = [(min(xs) + s * (max(xs) - min(xs)), min(ys) + t * (max(ys) - min(ys))) for s in ways for t in ways]
    return corners + border + box


def _accepted(domain: Domain, values: list[Any]) -> list[Any]:
    return [value for value in values if _accepts(domain, value)]


def _accepts(domain: Domain, value: Any) -> bool:
    try:
        domain.encode(value)
    except OutOfDomain:
        return False
    return True


class Opaque:
    """Not a value of any domain; its text would be recognised in a message."""

    def __repr__(self) -> str:
        return f"<opaque {SECRET}>"


def bad_values(domain: Domain) -> list[Any]:
    """Values the domain must refuse, each recognisable should it appear in a message."""
    general: list[Any] = [None, f"secret-{SECRET}", b"secret-918273645", Opaque(), [SECRET] * 7, {SECRET: SECRET}, {SECRET}, object]
    general += [float("nan"), float("inf"), -float("inf"), complex(SECRET, 1)]
    if isinstance(domain, Binary):
        return [*general, SECRET, -SECRET, 2, 0.91827364]
    if isinstance(domain, Bins):
        first, last = float(domain.edges[0]), float(domain.edges[-1])
        beyond = [math.nextafter(first, -math.inf), math.nextafter(last, math.inf), first - SECRET, last + SECRET, 10**400]
        return [*general, *beyond, True, False, str(first), (first,)]
    if isinstance(domain, Categories):
        numbers = [domain.size, domain.size + SECRET, -SECRET, 0.91827364, 1.0]
        return [*general, *numbers, True, *([SECRET % domain.size] if domain.labels else [])]
    if isinstance(domain, Interval | Circle):
        return [*general, *_outside(domain), True, False, "0.5", str(SECRET), 10**400, (float(domain.low),)]
    if isinstance(domain, Rectangle | Disc | Points | Polygon | Parallelogram | Sphere):
        return [*general, *_bad_places(domain)]
    if isinstance(domain, Ball):
        return [*general, *_bad_vectors(domain)]
    if isinstance(domain, Record):
        return [*general, *_bad_records(domain)]
    if isinstance(domain, ItemSet):
        label = domain.labels[0]
        return [*general, [label, label], [label, SECRET], [label, 0.91827364], [*domain.labels, label]]
    if isinstance(domain, KeyValue):
        label = domain.labels[0]
        outside = [{label: number} for number in bad_values(domain.values)[:20]]
        return [*general, *outside, {f"secret-{SECRET}": 0.0}, [label], dict.fromkeys([*domain.labels, "more"], 0.91827364)]
    if isinstance(domain, Trajectory):
        good = few_values(domain)[0]
        broken = [[*good[:-1], bad] for bad in bad_values(domain.space)[:20]]
        return [*general, *broken, good[:-1], [*good, good[0]], []]
    return general


def _outside(domain: Interval | Circle) -> list[float]:
    """Far away, and the first double beyond either end."""
    low, high = float(domain.low), float(domain.low + domain.width)
    outside = [low - SECRET * 1.5, high + SECRET * 1.5]
    below, above = low, high
    while Fraction(below) >= domain.low:
        below = math.nextafter(below, -math.inf)
    while Fraction(above) <= domain.low + domain.width:
        above = math.nextafter(above, math.inf)
    return [*outside, below, above]


def _bad_places(domain: Domain) -> list[Any]:
    x, y = few_values(domain)[0]
    far = SECRET * 1e6
    return [(x,), (x, y, y), (far, y), (x, -far), (float("nan"), y), (x, float("inf")), (True, y), (str(x), y), x, {0: x, "b": y}]


def _bad_vectors(domain: Ball) -> list[Any]:
    """Too long, of another length, and with something that is not a finite number in it."""
    good, radius = _few_vectors(domain)[2], float(domain.radius)
    broken = [
        [*good[:-1], bad] for bad in (math.nan, math.inf, True, None, f"{SECRET}", 1j, SECRET * radius, 1.0001 * radius, [0.0])
    ]
    return [*broken, good[:-1], [*good, 0.0], [], [radius] * (domain.dimension - 1) + [1.0001 * radius], 0.25]


def _bad_records(domain: Record) -> list[Any]:
    good = few_values(domain)[0]
    wrong: list[Any] = [{}, list(good.values()), {**good, f"secret-{SECRET}": 1}]
    for name, field in domain.fields.items():
        wrong.append({other: value for other, value in good.items() if other != name})
        wrong += [{**good, name: bad} for bad in bad_values(field)[:20]]
    return wrong
