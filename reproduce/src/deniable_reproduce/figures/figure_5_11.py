"""Figure 5.11: worst-case error over epsilon on the circle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from deniable.core import Circle, Interval, make_mechanism
from deniable.estimators import worst_case
from deniable_reproduce.artifact import Artifact, AsReleased, Claim, Published, Result, Run, named
from deniable_reproduce.released_data import OPTIMAL_GPM
from deniable_reproduce.worst_case_error import LEVELS, curves, never_above, picture, share

ORDER = ["OGPM", "PM-C", "SW-C"]
TEXT = "Section 5.6.1"
WHY_LINE = (
    "The printed ratio measures PM-C and SW-C by |y − x| on the line from 0 to 2π, where 0 and 2π are far apart; on the "
    "circle they are one direction."
)
WHY_BOTH = (
    WHY_LINE + " For squared error the printed OGPM is also not the one of Theorem 8 but the window that is best for squared error."
)
LINE = Interval(0, Circle().period)


def compute(run: Run) -> Result:
    """Exact worst cases at 29 levels, in radians; the released comparison beside the right one."""
    panels = []
    numbers = {}
    for loss, title in (("absolute", "absolute error"), ("squared", "squared error")):
        right = curves(
            {
                "OGPM": _worst("circular-ogpm", loss),
                "PM-C": _worst("flattened", loss, inner="pm-c"),
                "SW-C": _worst("flattened", loss, inner="sw-c"),
            },
            LEVELS,
            run,
        )
        line = curves({name: _worst(name, loss, domain=LINE) for name in ("pm-c", "sw-c")}, LEVELS, run)
        window = curves({"squared-error window": _worst("circular-window", loss)}, LEVELS, run)
        panels.append({"title": title, "rows": right})
        for other in ("PM-C", "SW-C"):
            numbers[f"{title}, OGPM / {other}"] = share(right, "OGPM", other)
            numbers[f"{title}, OGPM / {other}, on the line"] = share(right + line, "OGPM", other.lower())
            if loss == "squared":
                numbers[f"{title}, squared-error window / {other}, on the line"] = share(
                    window + line, "squared-error window", other.lower()
                )
    return {"numbers": numbers, "panels": panels}


def _worst(name: str, loss: str, **given: Any) -> Callable[[float], float]:
    return lambda epsilon: worst_case(make_mechanism(name, epsilon=epsilon, **given), loss).error


def draw(result: Result) -> Mapping[str, Any]:
    """Absolute error on the left, squared error on the right."""
    return {
        "errors": picture(
            result,
            ORDER,
            title="Worst-case error in the circular domain",
            subtitle="distance along the circle for all three; exact",
            units=("worst expected distance (rad)", "worst expected squared distance (rad²)"),
        )
    }


def _published(title: str, other: str, value: float) -> Published:
    """A printed ratio, and the same with the distance of the line and the solver's window."""
    absolute, line = title == "absolute error", f"{title}, OGPM / {other}, on the line"
    again = AsReleased(
        line if absolute else f"{title}, squared-error window / {other}, on the line",
        "PM-C and SW-C measured on the line from 0 to 6.28" + ("" if absolute else ", OGPM the solver's best for squared error"),
        f"{OPTIMAL_GPM}, experiments/theoretical/circular_domain/worst_case_circular_{'L1' if absolute else 'L2'}.py",
    )
    why = WHY_LINE if absolute else WHY_BOTH
    return Published(f"{title}, OGPM / {other}", value, 0.001, TEXT, why, evidence=named(line), released=again)


ARTIFACT = Artifact(
    name="figure-5.11",
    title="Worst-case error in the circular domain",
    source="Dissertation, Figure 5.11",
    compute=compute,
    draw=draw,
    published=(
        _published("absolute error", "PM-C", 0.500),
        _published("absolute error", "SW-C", 0.416),
        _published("squared error", "PM-C", 0.224),
        _published("squared error", "SW-C", 0.154),
    ),
    claims=(
        Claim(
            "OGPM has the lowest worst-case error at every ε",
            TEXT,
            lambda result: all(
                never_above(panel["rows"], "OGPM", other, 1e-5) for panel in result["panels"] for other in ("PM-C", "SW-C")
            ),
        ),
    ),
)
