"""Figure D.5: TraCS-D with its own windows beside TraCS-D with the redesigned square wave."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from deniable.core import make_mechanism
from deniable_reproduce.artifact import Artifact, AsReleased, Claim, Published, Result, Run, named
from deniable_reproduce.pictures import significant
from deniable_reproduce.released_data import FIGURE_D_5
from deniable_reproduce.released_runs import column_ratio, square_wave_errors
from deniable_reproduce.released_table import compared
from deniable_reproduce.released_walks import sw_parts
from deniable_reproduce.walk_pictures import error_panels
from deniable_reproduce.walks import (
    EPSILONS,
    Row,
    error_rows,
    first_level_below,
    levels_below,
    random_walks,
    ratio,
    ratio_error,
    rectangle,
    tracs_d,
)

OWN, OTHER = "TraCS-D", "TraCS-D (R-SW)"
KEY = f"{OWN} / {OTHER}"
AGAIN = f"{KEY}, released setting"
TEXT = "Appendix D.2.7"


def compute(run: Run) -> Result:
    """Average errors on random paths in the unit square."""
    region, paths = rectangle(1, 1), run.repetitions(300, 1000)
    walks = random_walks(paths, 100, run.keystream("figure D.5 paths"))
    builds = {
        OWN: tracs_d(region),
        OTHER: lambda epsilon: make_mechanism(
            "tracs-d",
            domain=region,
            epsilon=epsilon,
            split="published",
            direction="circular-redesigned-sw",
            distance="redesigned-sw",
        ),
    }
    rows = error_rows(builds, walks, EPSILONS, run, "figure D.5")
    columns = square_wave_errors(run, run.repetitions(200, 1000))
    numbers = {KEY: ratio(rows, OWN, OTHER), AGAIN: significant(column_ratio(columns, OWN, OTHER), 5)}
    for epsilon in (2, 10):
        share = np.array([epsilon * math.pi / (math.pi + 1)])
        chance = float(sw_parts(share)[1][0])
        numbers[f"probability of the arc at ε = {epsilon}"] = significant(chance, 4)
        numbers[f"probability of the arc at ε = {epsilon}, as released"] = significant(chance / math.pi, 4)
    return {
        "rows": rows,
        "paths": paths,
        "numbers": numbers,
        "standard_errors": {KEY: ratio_error(rows, OWN, OTHER)},
        "released": {"errors": FIGURE_D_5.beside(columns)},
    }


def draw(result: Result) -> Mapping[str, Any]:
    """Errors over epsilon."""
    return {
        "errors": error_panels(
            {"all": result["rows"]},
            {},
            [OWN, OTHER],
            title="TraCS-D with two kinds of windows",
            subtitle=f"{result['paths']} random paths of 100 locations in the unit square; bands are two standard errors",
            size=(560, 300),
        )
    }


def errors(rows: list[Row]) -> dict[str, float]:
    """Both curves, by method and ε."""
    return {f"{row['mechanism']} at ε = {row['epsilon']}": row["average_error"] for row in rows}


def why(result: Result) -> str:
    """From which ε on TraCS-D is ahead, as computed."""
    first = first_level_below(result["rows"], OWN, OTHER)
    behind = [f"{level:g}" for level, below in levels_below(result["rows"], OWN, OTHER).items() if not below]
    ahead = f"{OWN} errs less than {OTHER} from ε = {first:g} on" if first else "it is so at the largest ε too"
    return f"With both drawn as defined, {OTHER} errs no more than {OWN} at ε = {', '.join(behind)}; {ahead}."


def why_share(result: Result) -> str:
    """How often the released sampler draws the arc, and how often it is meant to."""
    drawn = [result["numbers"][f"probability of the arc at ε = {epsilon}, as released"] for epsilon in (2, 10)]
    meant = [result["numbers"][f"probability of the arc at ε = {epsilon}"] for epsilon in (2, 10)]
    return (
        "The released sampler of the redesigned square wave draws its arc with probability p·2s, where the arc of Definition 21 "
        f"has the length 2πs: a factor π is missing. So {100 * drawn[0]:.0f} % of the reports fall into the arc at ε = 2 and "
        f"{100 * drawn[1]:.0f} % at ε = 10, where {100 * meant[0]:.0f} % and {100 * meant[1]:.0f} % are meant. Drawn with p·2πs "
        f"the mechanism is that of Definition 21 and ε-LDP, and the ratio is {result['numbers'][KEY]:.3f}."
    )


ARTIFACT = Artifact(
    name="figure-d.5",
    title="Different piecewise-based mechanisms for TraCS-D",
    source="Dissertation, Figure D.5",
    compute=compute,
    draw=draw,
    published=(
        Published(
            KEY,
            0.526,
            0.015,
            TEXT,
            why_share,
            evidence=named(
                *(f"probability of the arc at ε = {epsilon}{again}" for epsilon in (2, 10) for again in ("", ", as released"))
            ),
            released=AsReleased(
                AGAIN,
                "the arc drawn with p·2s, start at (0, 0), ε = 2, 4, …, 10, a dummy head in both averages",
                f"{FIGURE_D_5.repository}, src/ldp_mechanisms.py and experiments/continuous_space/experiment_3.py",
            ),
        ),
        compared("errors", FIGURE_D_5, 0.03),
    ),
    claims=(
        Claim(
            "TraCS-D errs less than TraCS-D (R-SW) at every ε",
            TEXT,
            lambda r: all(levels_below(r["rows"], OWN, OTHER).values()),
            why,
            lambda r: errors(r["rows"]),
            levels=lambda r: levels_below(r["rows"], OWN, OTHER),
        ),
        Claim(
            "TraCS-D errs less than TraCS-D (R-SW) from ε = 4 on",
            f"{TEXT}, for the larger ε only",
            lambda r: all(below for level, below in levels_below(r["rows"], OWN, OTHER).items() if level >= 4),
            evidence=lambda r: errors([row for row in r["rows"] if row["epsilon"] in (4, 10)]),
        ),
    ),
)
