"""Figure 5.8: the error at every value of [0, 1], OGPM beside PM-C and SW-C."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable.core import Mechanism
from deniable.estimators import expected_error
from deniable_reproduce.artifact import Artifact, Claim, Published, Result, Run
from deniable_reproduce.released_data import FIGURE_5_8
from deniable_reproduce.released_table import compared
from deniable_reproduce.whole_domain_error import by_level, contestants, errors_of, lowest_everywhere, picture

ORDER = ["OGPM", "PM-C", "SW-C"]
TEXT = "Section 5.6.1"
CUT = 0.001
"""The text cuts percentages after one decimal (90.55 is printed as 90.5), so one unit of it is allowed."""


def compute(run: Run) -> Result:
    """Exact errors from the integer weights; nothing is simulated."""
    released = {}
    for epsilon, table in FIGURE_5_8.items():
        ours = {name: [expected_error(one, x) for x in table.levels] for name, one in _contestants(epsilon).items()}
        released[f"ε = {epsilon}"] = table.beside(ours)
    return {**by_level((2, 4), _contestants, "absolute"), "released": released}


def _contestants(epsilon: float) -> dict[str, Mechanism]:
    return contestants(epsilon, OGPM="ogpm", PM_C="pm-c", SW_C="sw-c")


def draw(result: Result) -> Mapping[str, Any]:
    """One panel per epsilon."""
    return {
        "errors": picture(
            result,
            ORDER,
            title="Expected absolute error over the domain [0, 1]",
            subtitle="exact, from the integer weights of each mechanism",
            x="private value x",
            y="expected |y − x|",
        )
    }


def _ends_and_middle(result: Result) -> bool:
    """Largest at an end, least in the middle, for every curve (the lattice leaves a hair of asymmetry)."""
    for panel in range(2):
        for series in ORDER:
            errors = errors_of(result, panel, series)
            if max(errors) > max(errors[0], errors[-1]) + 1e-9 or min(errors) < errors[len(errors) // 2] - 1e-6:
                return False
    return True


ARTIFACT = Artifact(
    name="figure-5.8",
    title="Whole-domain error in the classical domain, absolute error",
    source="Dissertation, Figure 5.8",
    compute=compute,
    draw=draw,
    published=(
        Published("average error, OGPM / PM-C, ε = 2", 0.942, CUT, TEXT),
        Published("average error, OGPM / SW-C, ε = 2", 0.923, CUT, TEXT),
        Published("average error, OGPM / PM-C, ε = 4", 0.905, CUT, TEXT),
        Published("average error, OGPM / SW-C, ε = 4", 0.747, CUT, TEXT),
        *(compared(f"ε = {epsilon}", table, 0.003) for epsilon, table in FIGURE_5_8.items()),
    ),
    claims=(
        Claim("OGPM has the lowest error at every value", TEXT, lambda result: lowest_everywhere(result, "OGPM")),
        Claim("every mechanism errs most at the ends and least in the middle", TEXT, _ends_and_middle),
    ),
    note="Lowest among these three. beyond-optimal-window shows how far below OGPM the best mechanism is.",
)
