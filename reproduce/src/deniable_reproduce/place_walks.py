"""Paths over public places: TraCS rounded to them beside NGram, L-SRR and ATP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import NDArray

from deniable.core import LSRR, Rectangle
from deniable.studies import ATP, NGram, Paths, Places, average_error
from deniable_reproduce.artifact import Run
from deniable_reproduce.pictures import significant
from deniable_reproduce.walks import Build, Measure, Row, moved, tracs_c, tracs_d

Indices = NDArray[np.int64]
ORDER = ["TraCS-C", "TraCS-D", "NGram", "L-SRR", "ATP"]


@dataclass(frozen=True)
class Sectors:
    """In which sector every place is seen from every other: rows are made when they are first asked for, and kept."""

    rows: dict[tuple[int, int], NDArray[np.signedinteger]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, kw_only=True)
class RememberingATP(ATP):
    """ATP that looks its public sectors up: the same answers from the same coins, in a third of the time."""

    known: Sectors = field(default_factory=Sectors)

    def sectors_from(self, place: int) -> Indices:
        """One row of the public table."""
        key = (place, self.sectors)
        if key not in self.known.rows:
            self.known.rows[key] = super().sectors_from(place).astype(np.int8 if self.sectors < 128 else np.int16)
        return cast("Indices", self.known.rows[key])


def contestants(region: Rectangle, places: Places) -> dict[str, Build]:
    """The five methods of Section 6.3.2, all with a certificate that holds."""
    domain = places.domain()
    # The usual groups do not depend on epsilon: they are counted once.
    groups = LSRR(domain=domain, epsilon=1).sizes
    known = Sectors()
    return {
        "TraCS-C": tracs_c(region),
        "TraCS-D": tracs_d(region),
        "NGram": lambda epsilon: NGram(places=places, epsilon=epsilon),
        "L-SRR": lambda epsilon: LSRR(domain=domain, epsilon=epsilon, groups=groups),
        "ATP": lambda epsilon: RememberingATP(places=places, epsilon=epsilon, known=known),
    }


def place_rows(
    builds: Mapping[str, Build],
    paths: Paths,
    places: Places,
    epsilons: Sequence[int],
    run: Run,
    purpose: str,
    *,
    measures: Mapping[str, Measure] | None = None,
) -> list[Row]:
    """Metrics after rounding to the nearest place, by mechanism and epsilon; measured with standard errors between paths."""
    asked = {"average_error": average_error} if measures is None else measures
    rows: list[Row] = []
    for done, (name, build) in enumerate(builds.items()):
        for epsilon in epsilons:
            purposed = f"{purpose} {name} {epsilon}"

            def measured_row(name: str = name, build: Build = build, epsilon: int = epsilon, purposed: str = purposed) -> Row:
                private = places.round(moved(build(epsilon), paths, run.keystream(purposed)))
                row: Row = {"mechanism": name, "epsilon": epsilon}
                for metric, measure in asked.items():
                    measured = measure(paths, private)
                    row[metric] = significant(measured.value, 6)
                    row[f"{metric}_standard_error"] = significant(measured.standard_error, 3) if len(paths) > 1 else 0.0
                return row

            rows.append(run.once(purposed, measured_row))
        run.progress(done + 1, len(builds))
    return rows


def grid_places(side: int) -> Places:
    """side x side equally spaced points of [0, 1): multiples of 1/side."""
    steps = np.arange(side) / side
    return Places(np.stack([np.tile(steps, side), np.repeat(steps, side)], axis=1))
