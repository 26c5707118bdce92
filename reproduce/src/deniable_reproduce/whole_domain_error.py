"""The expected error at every private value, for several mechanisms side by side (Figures 5.8, 5.10, 5.12, 5.13, C.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from deniable.core import Mechanism, make_mechanism
from deniable.estimators import average_error, error_curve
from deniable_reproduce.artifact import Result
from deniable_reproduce.pictures import Panel, Row, curve, line_panels

POINTS = 101
Contestants = Mapping[str, Mechanism]


def contestants(epsilon: float, **names: str) -> dict[str, Mechanism]:
    """Mechanisms on their default domain by the name they have in a picture; underscores stand for hyphens."""
    return {shown.replace("_", "-"): make_mechanism(name, epsilon=epsilon) for shown, name in names.items()}


def curves(mechanisms: Contestants, loss: str) -> list[Row]:
    """Exact errors at equally spaced values, from the mechanisms' integer weights."""
    rows: list[Row] = []
    for name, mechanism in mechanisms.items():
        errors = error_curve(mechanism, loss, POINTS)
        rows += curve(errors.values.tolist(), errors.errors.tolist(), name)
    return rows


def average_shares(mechanisms: Contestants, loss: str) -> dict[str, float]:
    """The first one's average error (uniform over the domain) as a share of each other's, by its name."""
    averages = {name: average_error(mechanism, loss) for name, mechanism in mechanisms.items()}
    first, *others = averages
    return {name: averages[first] / averages[name] for name in others}


def by_level(levels: Sequence[float], build: Callable[[float], Contestants], loss: str) -> Result:
    """A panel for each epsilon, and the first mechanism's share of the others' average error in it."""
    panels, numbers = [], {}
    for epsilon in levels:
        mechanisms = build(epsilon)
        first = next(iter(mechanisms))
        panels.append({"title": f"ε = {epsilon:g}", "rows": curves(mechanisms, loss)})
        for name, share in average_shares(mechanisms, loss).items():
            numbers[f"average error, {first} / {name}, ε = {epsilon:g}"] = share
    return {"numbers": numbers, "panels": panels}


def errors_of(result: Result, panel: int, series: str) -> list[float]:
    """One curve's errors."""
    return [row["y"] for row in result["panels"][panel]["rows"] if row["series"] == series]


def lowest_everywhere(result: Result, series: str, slack: float = 1e-6) -> bool:
    """Is this curve nowhere above another one? (`slack` is the lattice's and the file's rounding.)"""
    for number, panel in enumerate(result["panels"]):
        mine = errors_of(result, number, series)
        for other in {row["series"] for row in panel["rows"]} - {series}:
            if any(a > b * (1 + slack) + slack for a, b in zip(mine, errors_of(result, number, other), strict=True)):
                return False
    return True


def picture(result: Result, order: Sequence[str], *, title: str, subtitle: str, x: str, y: str) -> Any:
    """The panels side by side."""
    panels = [Panel(panel["rows"], title=panel["title"], x=x, y=y) for panel in result["panels"]]
    return line_panels(panels, order, title=title, subtitle=subtitle)
