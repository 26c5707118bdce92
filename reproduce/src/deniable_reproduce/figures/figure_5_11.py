"""Figure 5.11: worst-case error over epsilon on the circle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from deniable.core import Circle, Interval, make_mechanism
from deniable.estimators import worst_case
from deniable_reproduce.artifact import Artifact, Claim, Evidence, Published, Result, Run, named
from deniable_reproduce.worst_case_error import LEVELS, curves, never_above, picture, share

ORDER = ["OGPM", "PM-C", "SW-C"]
TEXT = "Section 5.6.1"
WHY_LINE = (
    "The printed ratio measures PM-C and SW-C by |y − x| on the line from 0 to 2π, where 0 and 2π are far apart; on the "
    "circle they are one direction. The line “…, on the line” does the same and gives the printed number."
)
WHY_BOTH = (
    WHY_LINE
    + " For squared error the printed OGPM is also not the one of Theorem 8 but the window that is best for squared error: "
    "see “squared-error window”."
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


def _faulty(title: str, other: str) -> Evidence:
    """The ratio with the distance of the line, and with the other window where there is one."""
    line = f"{title}, OGPM / {other}, on the line"
    if title == "absolute error":
        return named(line)
    return named(line, f"{title}, squared-error window / {other}, on the line")


ARTIFACT = Artifact(
    name="figure-5.11",
    title="Worst-case error in the circular domain",
    source="Dissertation, Figure 5.11",
    compute=compute,
    draw=draw,
    published=(
        Published("absolute error, OGPM / PM-C", 0.500, 0.001, TEXT, WHY_LINE, variants=_faulty("absolute error", "PM-C")),
        Published("absolute error, OGPM / PM-C, on the line", 0.500, 0.001, TEXT),
        Published("absolute error, OGPM / SW-C", 0.416, 0.001, TEXT, WHY_LINE, variants=_faulty("absolute error", "SW-C")),
        Published("absolute error, OGPM / SW-C, on the line", 0.416, 0.001, TEXT),
        Published("squared error, OGPM / PM-C", 0.224, 0.001, TEXT, WHY_BOTH, variants=_faulty("squared error", "PM-C")),
        Published("squared error, squared-error window / PM-C, on the line", 0.224, 0.001, TEXT),
        Published("squared error, OGPM / SW-C", 0.154, 0.001, TEXT, WHY_BOTH, variants=_faulty("squared error", "SW-C")),
        Published("squared error, squared-error window / SW-C, on the line", 0.154, 0.001, TEXT),
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
