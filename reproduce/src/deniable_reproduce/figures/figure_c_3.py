"""Figure C.3: the error at every value of [0, 1] for small epsilon."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable_reproduce.artifact import Artifact, Published, Result, Run
from deniable_reproduce.whole_domain_error import by_level, contestants, errors_of, picture

ORDER = ["OGPM", "PM-C", "SW-C"]
TEXT = "Appendix C.2.7"


def compute(run: Run) -> Result:
    """Exact errors, and the largest gap between OGPM and each of the others."""
    result = by_level((0.4, 0.8), lambda epsilon: contestants(epsilon, OGPM="ogpm", PM_C="pm-c", SW_C="sw-c"), "absolute")
    for panel, epsilon in enumerate((0.4, 0.8)):
        mine = errors_of(result, panel, "OGPM")
        gaps = []
        for other in ORDER[1:]:
            gap = max(b - a for a, b in zip(mine, errors_of(result, panel, other), strict=True))
            result["numbers"][f"largest gain over {other}, ε = {epsilon}"] = gap
            gaps.append(gap)
        result["numbers"][f"largest gain, ε = {epsilon}"] = max(gaps)
    return result


def draw(result: Result) -> Mapping[str, Any]:
    """One panel per epsilon."""
    return {
        "errors": picture(
            result,
            ORDER,
            title="Expected absolute error for small ε",
            subtitle="exact, from the integer weights of each mechanism",
            x="private value x",
            y="expected |y − x|",
        )
    }


ARTIFACT = Artifact(
    name="figure-c.3",
    title="Whole-domain error for small ε",
    source="Dissertation, Figure C.3",
    compute=compute,
    draw=draw,
    published=(
        Published("largest gain, ε = 0.4", 0.008, 0.0006, TEXT),
        Published("largest gain, ε = 0.8", 0.015, 0.0006, TEXT),
    ),
    note="The text says “at most”: the printed numbers are the gains rounded up.",
)
