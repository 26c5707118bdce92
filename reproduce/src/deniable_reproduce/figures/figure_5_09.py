"""Figure 5.9: worst-case error over epsilon on [0, 1], OGPM beside PM-C and SW-C."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable.core import make_mechanism
from deniable.estimators import worst_case
from deniable_reproduce.artifact import Artifact, AsReleased, Claim, Published, Result, Run, named
from deniable_reproduce.released_data import FIGURE_5_9_ABSOLUTE, FIGURE_5_9_SQUARED
from deniable_reproduce.released_table import compared
from deniable_reproduce.worst_case_error import LEVELS, curves, never_above, picture, series, share

ORDER = ["OGPM", "PM-C", "SW-C", "squared-error window"]
NAMES = {"OGPM": "ogpm", "PM-C": "pm-c", "SW-C": "sw-c", "squared-error window": "window"}
TEXT = "Section 5.6.1"
TABLES = {"absolute error": FIGURE_5_9_ABSOLUTE, "squared error": FIGURE_5_9_SQUARED}
LATTICE = 1e-4
"""OGPM and PM-C tie; a million cells make their errors differ by less than this, relatively."""
WHY = (
    "The printed OGPM has p = e^(ε/2), whose worst squared error is PM-C's at every ε: their ratio is 1.000. The printed number "
    "belongs to the window that is best for squared error, the root of p³(e^ε−1)² = (e^ε−p)²(p+2e^ε), which the released "
    "experiment asked a solver for."
)


def solved(other: str) -> AsReleased:
    """The ratio with the window that the released experiment took."""
    source = f"{FIGURE_5_9_SQUARED.repository}, experiments/theoretical/classical_domain/worst_case_L2.py"
    return AsReleased(f"squared error, squared-error window / {other}", "OGPM is the solver's best for squared error", source)


def compute(run: Run) -> Result:
    """Exact worst cases at 29 levels."""
    panels = []
    numbers = {}
    released = {}
    for loss, title in (("absolute", "absolute error"), ("squared", "squared error")):
        names = ORDER[:3] if loss == "absolute" else ORDER
        rows = curves({name: _worst(NAMES[name], loss) for name in names}, LEVELS, run)
        panels.append({"title": title, "rows": rows})
        table = TABLES[title]
        places = [LEVELS.index(level) for level in table.levels]
        released[title] = table.beside({name: [series(rows, name)[place] for place in places] for name in table.columns})
        for other in ("PM-C", "SW-C"):
            numbers[f"{title}, OGPM / {other}"] = share(rows, "OGPM", other)
            if loss == "squared":
                numbers[f"{title}, squared-error window / {other}"] = share(rows, "squared-error window", other)
    return {"numbers": numbers, "panels": panels, "released": released}


def _worst(name: str, loss: str) -> Any:
    return lambda epsilon: worst_case(make_mechanism(name, epsilon=epsilon), loss).error


def draw(result: Result) -> Mapping[str, Any]:
    """Absolute error on the left, squared error on the right."""
    return {
        "errors": picture(
            result,
            ORDER,
            title="Worst-case error in the classical domain [0, 1]",
            subtitle="exact; OGPM and PM-C lie on top of each other",
            units=("worst expected |y − x|", "worst expected |y − x|²"),
        )
    }


ARTIFACT = Artifact(
    name="figure-5.9",
    title="Worst-case error in the classical domain",
    source="Dissertation, Figure 5.9",
    compute=compute,
    draw=draw,
    published=(
        *(
            Published(
                f"squared error, OGPM / {other}",
                value,
                0.001,
                TEXT,
                WHY,
                evidence=named("squared error, OGPM / PM-C"),
                released=solved(other),
            )
            for other, value in (("PM-C", 0.899), ("SW-C", 0.617))
        ),
        Published("absolute error, OGPM / PM-C", 1.0, 0.001, TEXT + " (“almost the same”)"),
        *(compared(title, table, 0.003) for title, table in TABLES.items()),
    ),
    claims=(
        Claim(
            "no curve of PM-C or SW-C is below OGPM's",
            TEXT,
            lambda result: all(
                never_above(panel["rows"], "OGPM", other, LATTICE) for panel in result["panels"] for other in ("PM-C", "SW-C")
            ),
        ),
    ),
)
