"""Figure D.7: epsilon for a whole path, shared equally by its locations, on real check-ins."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.core import Epsilon
from deniable.studies import Paths, Places, average_error
from deniable_reproduce.artifact import Artifact, AsReleased, Claim, Published, Result, Run, named
from deniable_reproduce.pictures import significant
from deniable_reproduce.place_walks import ORDER, contestants
from deniable_reproduce.released_data import TRACS
from deniable_reproduce.released_paths import ReleasedCity
from deniable_reproduce.walk_pictures import error_panels
from deniable_reproduce.walks import (
    CHICAGO_AREA,
    EPSILONS,
    FEW,
    TOKYO_AREA,
    Build,
    always_below,
    area,
    check_ins,
    clipped,
    different_places,
    moved,
)

CITIES = {"TKY": ("tokyo", TOKYO_AREA, (0, 100)), "CHI": ("chicago", CHICAGO_AREA, (100, 200))}
"""And which paths the released scripts take."""
LENGTHS = {"TKY": 113, "CHI": 13}
WHY = "In time the first 100 paths have {:.1f} locations on average. The released paths keep each place of a person once, sorted."
MOST = 20
"""A location of a very short path would get more than this; more changes nothing that can be seen."""
TEXT = "Appendix D.2.10"


def shared_out(build: Build, paths: Paths, epsilon: int, mean: float, run: Run, purpose: str) -> Paths:
    """Every path with epsilon times the mean length, an equal part for each of its locations."""
    done: list[Any] = [None] * len(paths)
    for length in np.unique(paths.lengths).tolist():
        own = [i for i in range(len(paths)) if len(paths[i]) == length]
        level = min(Fraction(round(epsilon * mean * 1000), 1000 * length), Fraction(MOST))
        some = Paths.of([paths[i] for i in own])
        private = moved(build(Epsilon(level)), some, run.keystream(f"{purpose} {epsilon} {length}"))  # type: ignore[arg-type]
        for place, i in enumerate(own):
            done[i] = private[place]
    return Paths.of(done)


def compute(run: Run) -> Result:
    """Average errors in degrees; the budget of a path is epsilon times the mean length of the paths taken."""
    most = {"TKY": run.repetitions(2, 100), "CHI": run.repetitions(16, 100)}
    levels = EPSILONS if run.full else FEW[::2]
    result: Result = {"rows": {}, "numbers": {}, "paths": most}
    for name, (city, ends, taken) in CITIES.items():
        region = area(ends)
        first = check_ins(run, city)
        result["numbers"][f"mean length in time, {name}"] = significant(float(np.mean(first.lengths)), 6)
        result["numbers"][f"mean number of different places, {name}"] = significant(
            float(np.mean(different_places(first).lengths)), 6
        )
        again = ReleasedCity.of(run, city).taken(*taken)
        result["numbers"][f"mean length, {name}, released setting"] = significant(float(np.mean(again.lengths)), 6)
        everybody = clipped(check_ins(run, city, most=10_000), region)
        places = Places.of(everybody)
        chosen = Paths.of([everybody[i] if run.full else everybody[i][:30] for i in range(most[name])])
        mean = float(np.mean(chosen.lengths))
        rows = []
        for mechanism, build in contestants(region, places).items():
            for epsilon in levels:
                purpose = f"figure D.7 {name} {mechanism}"

                def row(mechanism: str = mechanism, build: Build = build, epsilon: int = epsilon, purpose: str = purpose) -> Any:
                    private = places.round(shared_out(build, chosen, epsilon, mean, run, purpose))  # noqa: B023
                    error = average_error(chosen, private)  # noqa: B023
                    return {
                        "mechanism": mechanism,
                        "epsilon": epsilon,
                        "average_error": significant(error.value, 6),
                        "average_error_standard_error": significant(error.standard_error, 3),
                    }

                rows.append(run.once(f"{purpose} {epsilon}", row))
        result["rows"][name] = rows
    return result


def draw(result: Result) -> Mapping[str, Any]:
    """One panel per city."""
    titles = {name: f"{'Tokyo' if name == 'TKY' else 'Chicago'}, {result['paths'][name]} paths" for name in CITIES}
    return {
        "errors": error_panels(
            result["rows"],
            titles,
            ORDER,
            title="Average error with ε for the whole path",
            subtitle="a path spends ε times the mean length, equally; bands are two standard errors between paths",
            x="ε per location, on average",
            y="average error (degrees)",
        )
    }


def _length(name: str, value: float) -> Published:
    key, (start, stop) = f"mean length in time, {name}", CITIES[name][2]
    setting = f"the different places of each person, paths {start} to {stop}"
    source = f"{TRACS}, experiments/discrete_space"
    again = AsReleased(f"mean length, {name}, released setting", setting, source)
    different = named(f"mean number of different places, {name}")
    return Published(key, value, 1, TEXT, lambda r: WHY.format(r["numbers"][key]), evidence=different, released=again, given=(100,))


ARTIFACT = Artifact(
    name="figure-d.7",
    title="Comparison with ε for a whole trajectory",
    source="Dissertation, Figure D.7",
    compute=compute,
    draw=draw,
    published=tuple(_length(name, value) for name, value in LENGTHS.items()),
    claims=(
        Claim(
            "TraCS errs less than the discrete methods when ε is large",
            TEXT,
            lambda r: all(always_below(rows, "TraCS-C", other, least=10) for rows in r["rows"].values() for other in ORDER[2:]),
        ),
    ),
    data=("tokyo_checkins.csv", "chicago_checkins.csv"),
    note="NGram, L-SRR and ATP are calibrated so that their ε is true. At most ε = 20 is given to one location.",
)
