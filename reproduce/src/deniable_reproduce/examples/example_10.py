"""Example 10: the dominant sector at epsilon 6, of TraCS-D and of randomized response on six sectors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from deniable_reproduce.artifact import Artifact, Claim, Published, Result, Run
from deniable_reproduce.pictures import significant
from deniable_reproduce.sectors import dominant, response, window

TEXT = "Section 6.2.2, Example 10"


def compute(run: Run) -> Result:
    """Everything from integer weights; lengths in units of pi where the text has them so."""
    ours, straw = dominant(window(6)), dominant(response(6, 6))
    reach = ours.width / math.pi / 2
    numbers = {
        "density in the sector": ours.density,
        "sector begins at, in π": 1 / 6 - reach,
        "sector ends at, in π": 1 / 6 + reach,
        "sector in degrees": math.degrees(ours.width),
        "probability of the sector": ours.probability,
        "strawman's sector in degrees": math.degrees(straw.width),
        "probability of the strawman's sector": straw.probability,
    }
    return {"numbers": {name: significant(value, 8) for name, value in numbers.items()}}


def table(result: Result) -> Sequence[Mapping[str, Any]]:
    """What the example computes."""
    return [{"what": name, "value": value} for name, value in result["numbers"].items()]


ARTIFACT = Artifact(
    name="example-10",
    title="The dominant sector of a direction at ε = 6",
    source="Dissertation, Example 10",
    compute=compute,
    table=table,
    published=(
        Published("density in the sector", 3.20, 0.005, TEXT),
        Published("sector begins at, in π", 0.119, 0.0005, TEXT),
        Published("sector ends at, in π", 0.214, 0.0005, TEXT),
        Published("sector in degrees", 17, 0.5, TEXT),
        Published("probability of the sector", 0.95, 0.005, TEXT),
        Published("strawman's sector in degrees", 60, 0.01, TEXT),
        Published("probability of the strawman's sector", 0.98, 0.01, f"{TEXT} (0.988, cut after two decimals)"),
    ),
    claims=(
        Claim(
            "with almost the same probability of being chosen, TraCS-D's sector is much narrower",
            TEXT,
            lambda r: r["numbers"]["sector in degrees"] < r["numbers"]["strawman's sector in degrees"] / 3,
        ),
    ),
)
