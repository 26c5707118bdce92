"""The law of one attribute at another epsilon: what a single report would look like, and how much it errs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from deniable import estimators
from deniable.core import (
    USUAL,
    Binary,
    Categories,
    Circle,
    Domain,
    Epsilon,
    Interval,
    Mechanism,
    Rectangle,
    Table,
    Text,
    make_mechanism,
)
from deniable.errors import DeniableError

EPSILONS = ("1/10", "1/4", "1/2", "3/4", "1", "3/2", "2", "5/2", "3", "4", "5", "6", "8")
POSITIONS = 11
POINTS = 201
FINE = 4096
DRAWN = 512
"""Outputs that get a bin each, bins for more outputs than those, and points that are drawn."""
SHOWN = 24
"""Categories that are listed."""
PEOPLE = (100, 1_000, 10_000, 100_000, 1_000_000)
SIDE = 32
"""Cells along a side of a map of chances."""
MOST_TABLE = 1 << 14
MOST_KEPT = 4096
_KEPT: dict[tuple[str, int, int], dict[str, Any]] = {}
"""Recipes and positions are public: nothing private is remembered."""


def explored(mechanism: Mechanism, step: int, position: int) -> dict[str, Any]:
    """The law at EPSILONS[step] for the value `position` tenths through the domain."""
    key = (mechanism.fingerprint, step, position)
    if key not in _KEPT:
        if len(_KEPT) >= MOST_KEPT:
            _KEPT.clear()
        _KEPT[key] = _explored(mechanism, step, position)
    return _KEPT[key]


def _explored(mechanism: Mechanism, step: int, position: int) -> dict[str, Any]:
    epsilon = Epsilon(EPSILONS[step])
    shown, note = at_epsilon(mechanism, epsilon)
    odds = math.exp(float(epsilon))
    value = _value(shown.domain, position)
    answer: dict[str, Any] = {
        "epsilon": EPSILONS[step],
        "odds": odds,
        "surest": odds / (1 + odds),
        "mechanism": shown.name,
        "domain": repr(shown.domain),
        "value": _shown(value),
        "note": note,
        "kind": "none",
        "rows": [],
        "error": None,
        "people": [],
    }
    try:
        answer.update(_law(shown, value))
    except DeniableError as error:
        answer["note"] = " ".join(filter(None, [note, str(error)]))
    return answer


def _value(domain: Domain, position: int) -> Any:
    """The answer at this position. Most numbers within a text's domain are no text, so its answers are made of one letter each."""
    if isinstance(domain, Text):
        return chr(ord("a") + position) * domain.length
    return domain.decode(_index(domain, position))


def _index(domain: Domain, position: int) -> int:
    """So many tenths through the domain; through a rectangle from corner to corner."""
    if isinstance(domain, Rectangle):
        row, column = (position * (side.cells - 1) // (POSITIONS - 1) for side in (domain.y, domain.x))
        return row * domain.x.cells + column
    return position * (domain.size - 1) // (POSITIONS - 1)


def at_epsilon(mechanism: Mechanism, epsilon: Epsilon) -> tuple[Mechanism, str]:
    """The same mechanism at another epsilon; where its integers belong to one epsilon, the usual one for the domain."""
    heavy = isinstance(mechanism.channel, Table) and mechanism.channel.inputs * mechanism.channel.outputs > MOST_TABLE
    try:
        if not heavy:
            shown = type(mechanism)(domain=mechanism.domain, epsilon=epsilon, **mechanism.parameters())
            if shown.certificate().holds:
                return shown, ""
    except DeniableError:
        pass
    usual = USUAL.get(type(mechanism.domain), mechanism.name)
    if usual == mechanism.name:
        return mechanism, f"{mechanism.name} exists here at its own epsilon only, so this is the law at {mechanism.epsilon}."
    note = f"{mechanism.name} is made for one epsilon; this is {usual}, the usual mechanism for such answers."
    return make_mechanism(usual, domain=mechanism.domain, epsilon=epsilon), note


def _shown(value: Any) -> str:
    """As a person would write it."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_shown(part)}" for key, part in value.items()) or "none"
    if isinstance(value, frozenset | set):
        return ", ".join(sorted(map(_shown, value))) or "none"
    if isinstance(value, tuple | list):
        return ", ".join(map(_shown, value)) or "none"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _law(shown: Mechanism, value: Any) -> dict[str, Any]:
    domain = shown.domain
    if isinstance(domain, Binary | Categories):
        return _categorical(shown, value)
    if isinstance(domain, Interval | Circle):
        kind = "circle" if isinstance(domain, Circle) else "line"
        return {"kind": kind, "rows": _curve(shown, value), "error": estimators.expected_error(shown, value)}
    if isinstance(domain, Rectangle) and shown.channel.outputs == domain.size:
        return _places(shown, domain, value)
    return {}


def _curve(shown: Mechanism, value: Any) -> list[list[float]]:
    """The density as points to draw. Bins that hold now one output, now two, would show teeth: so one bin for each output."""
    outputs = shown.channel.outputs
    curve = estimators.density(shown, value, points=outputs if outputs <= FINE else POINTS)
    each = -(-len(curve.values) // DRAWN)
    starts = np.arange(0, len(curve.values), each)
    sizes = np.diff(np.append(starts, len(curve.values)))
    columns = [np.add.reduceat(column, starts) / sizes for column in (curve.values, curve.heights)]
    return [[float(at), float(height)] for at, height in zip(*columns, strict=True)]


def _categorical(shown: Mechanism, value: Any) -> dict[str, Any]:
    """How often a report supports each answer, and how wide the interval of a rare share would be."""
    domain = shown.domain
    labels = [str(domain.decode(index)) for index in range(min(domain.size, SHOWN))]
    if isinstance(shown.channel, Table) and shown.channel.outputs == domain.size:
        chances = estimators.pmf(shown, value)
        return {"kind": "bars", "rows": [[label, float(chance)] for label, chance in zip(labels, chances, strict=False)]}
    law = estimators.support(shown)
    rows = [[label, float(law.p if label == str(value) else law.q)] for label in labels]
    people = [[n, 1.96 * math.sqrt(law.variance(n)) / n] for n in PEOPLE]
    return {"kind": "bars", "rows": rows, "people": people, "truth": float(law.p), "other": float(law.q)}


def _places(shown: Mechanism, domain: Rectangle, value: Any) -> dict[str, Any]:
    """The chance of every reported cell, on a coarse grid, and the expected distance to the true place."""
    chances = estimators.pmf(shown, value).reshape(domain.y.cells, domain.x.cells)
    x = float(domain.x.low) + float(domain.x.width) * (np.arange(domain.x.cells) + 0.5) / domain.x.cells
    y = float(domain.y.low) + float(domain.y.width) * (np.arange(domain.y.cells) + 0.5) / domain.y.cells
    far = np.hypot(x[None, :] - value[0], y[:, None] - value[1])
    columns, rows = min(SIDE, domain.x.cells), min(SIDE, domain.y.cells)
    # Cells are put together where there are more than the picture has.
    across = np.arange(domain.x.cells) * columns // domain.x.cells
    up = np.arange(domain.y.cells) * rows // domain.y.cells
    table = np.zeros((rows, columns))
    np.add.at(table, (up[:, None], across[None, :]), chances)
    frame = [float(end) for side in (domain.x, domain.y) for end in (side.low, side.high)]
    return {"kind": "map", "rows": table.tolist(), "frame": frame, "error": float((chances * far).sum())}
