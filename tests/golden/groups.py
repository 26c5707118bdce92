"""Which function recomputes which golden ids, and the mechanisms they ask."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from deniable.core import Categories, Circle, Interval, mechanism_class


def made(name: str, **parameters: Any) -> Any:
    """A mechanism by its wire name."""
    return mechanism_class(name)(**parameters)


Row = dict[str, Any]
FINE = 1 << 26
"""As fine as lattices go: at 2**20 cells, rounding a window to whole cells shows in the sixth digit."""

GROUPS: list[tuple[str, Callable[[Row], Any]]] = []


def group(pattern: str) -> Callable[[Callable[[Row], Any]], Callable[[Row], Any]]:
    """Compute all ids that match a pattern."""

    def register(compute: Callable[[Row], Any]) -> Callable[[Row], Any]:
        GROUPS.append((pattern, compute))
        return compute

    return register


def find(golden_id: str) -> Callable[[Row], Any] | None:
    """The function for an id."""
    found = [compute for pattern, compute in GROUPS if re.fullmatch(pattern, golden_id)]
    assert len(found) <= 1, f"{golden_id} belongs to two groups"
    return found[0] if found else None


def line(name: str, eps: float, **parameters: Any) -> Any:
    """A mechanism on the finest unit interval."""
    return made(name, domain=Interval(0, 1, cells=FINE), epsilon=eps, **parameters)


def circle(name: str, eps: float, **parameters: Any) -> Any:
    """A mechanism on the finest circle of angles."""
    return made(name, domain=Circle(cells=FINE), epsilon=eps, **parameters)


def height(mechanism: Any) -> float:
    """The density inside a window, in units of the uniform one."""
    channel = mechanism.channel
    return float(channel.high / channel.total * channel.outputs)


def band(mechanism: Any, value: float) -> tuple[float, float]:
    """Where the window begins and ends, as shares of all cells."""
    sets = mechanism.channel.sets
    start = sets.start(mechanism.encode(value))
    return start / sets.outputs, (start + sets.members) / sets.outputs


def category(k: int, eps: float) -> Any:
    return made("k-rr", domain=Categories(k), epsilon=eps)
