"""Sensor readings sent through mechanisms many times: errors of a histogram and of a mean (Figures 5.16 and 5.17)."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deniable.batch import Floats, randomize_many
from deniable.core import Mechanism, make_mechanism
from deniable_reproduce.artifact import Run
from deniable_reproduce.released_walks import ogpm_parts, sw_parts

FILES = tuple(f"motionsense/sub_{number}.csv" for number in (1, 2, 3))
SOURCE = "MotionSense, the first three files of A_DeviceMotion_data/dws_1, github.com/mmalekzadeh/motion-sense"
LEVELS = [1 + place / 2 for place in range(15)]
"""ε = 1, 1.5, …, 8: the released grid."""
TURN = 2 * math.pi
RELEASED_TURN = 6.28
BINS = 50

Contestants = Mapping[str, Callable[[float], Mechanism]]
LINEAR: Contestants = {
    "OGPM": lambda epsilon: make_mechanism("ogpm", epsilon=epsilon),
    "PM-C": lambda epsilon: make_mechanism("pm-c", epsilon=epsilon),
    "SW-C": lambda epsilon: make_mechanism("sw-c", epsilon=epsilon),
}
CIRCULAR: Contestants = {
    "OGPM": lambda epsilon: make_mechanism("circular-ogpm", epsilon=epsilon),
    "PM-C": lambda epsilon: make_mechanism("flattened", epsilon=epsilon, inner="pm-c"),
    "SW-C": lambda epsilon: make_mechanism("flattened", epsilon=epsilon, inner="sw-c"),
}


def readings(run: Run, column: str) -> Floats:
    """One column of the three files."""
    values: list[float] = []
    for name in FILES:
        with run.file(name, SOURCE).open(encoding="utf-8", newline="") as lines:
            values += [float(row[column]) for row in csv.DictReader(lines)]
    return np.array(values)


def released_directions(run: Run) -> Floats:
    """attitude.roll in turns of the released program, which has π = 3.14."""
    turns: Floats = readings(run, "attitude.roll") % RELEASED_TURN / RELEASED_TURN
    return turns


def accelerations(run: Run) -> Floats:
    """userAcceleration.x, from its least to its largest value onto [0, 1]."""
    values = readings(run, "userAcceleration.x")
    scaled: Floats = (values - values.min()) / (values.max() - values.min())
    return scaled


def directions(run: Run) -> Floats:
    """attitude.roll as a direction in [0, 2π)."""
    angles: Floats = np.clip(readings(run, "attitude.roll") % TURN, 0.0, TURN)
    return angles


@dataclass(frozen=True)
class Repeated:
    """A mechanism's estimates at one level, one per repetition, and the truth."""

    estimates: Floats
    truth: Floats


def repeat(
    run: Run, values: Floats, mechanism: Mechanism, runs: int, purpose: str, estimate: Callable[[Floats], Floats]
) -> Repeated:
    """Randomize everybody `runs` times; what is estimated from each."""
    coins = run.keystream(purpose)
    estimates = [estimate(np.asarray(randomize_many(mechanism, values, coins).values(), np.float64)) for _ in range(runs)]
    return Repeated(np.array(estimates), estimate(values))


def histogram(width: float, bins: int) -> Callable[[Floats], Floats]:
    """Counts in equal bins of [0, width]."""

    def counted(values: Floats) -> Floats:
        return np.histogram(values, bins=bins, range=(0.0, width))[0].astype(np.float64)

    return counted


def expected_distance(values: Floats, name: str, epsilon: float, bins: int, *, around: bool) -> float:
    """The mean Euclidean distance, in counts, of the histogram of raw reports from that of the values, which lie in [0, 1].

    From the law of the reports, without a draw: a report lies in a window of `width` with probability `chance`, and elsewhere
    otherwise. OGPM's window lies around the value, the others' begin at the value's share of the room left. To second order the
    mean of a distance is the root of its mean square, less an eighth of the square's variance over the root's cube.
    """
    width, chance = (float(part) for part in (sw_parts if name == "SW-C" else ogpm_parts)(np.asarray(epsilon)))
    if name != "OGPM":
        begins = values * (1 - width)
    else:
        begins = values - width / 2 if around else np.clip(values - width / 2, 0.0, 1 - width)
    outside = (1 - chance) / (1 - width)
    edges = np.linspace(0.0, 1.0, bins + 1)
    turns = (-1, 0, 1) if around and name == "OGPM" else (0,)
    covered = np.sum([np.clip(edges[:, None] - begins - turn, 0.0, width) for turn in turns], axis=0)
    chances = np.diff(outside * edges[:, None] + (chance / width - outside) * covered, axis=0)
    bias = chances.sum(axis=1) - np.histogram(values, edges)[0]
    covariance = np.diag(chances.sum(axis=1)) - chances @ chances.T
    square = float(bias @ bias + np.trace(covariance))
    spread = 4 * float(bias @ covariance @ bias) + 2 * float((covariance**2).sum())
    root = math.sqrt(square)
    return root - spread / (8 * root**3)


def share(errors: Mapping[str, Sequence[float]], mine: str, other: str) -> float:
    """The ratio of two mechanisms' errors, each averaged over ε: what the text gives in percent."""
    return sum(errors[mine]) / sum(errors[other])


def share_error(errors: Mapping[str, Sequence[float]], spreads: Mapping[str, Sequence[float]], mine: str, other: str) -> float:
    """One standard error of that ratio, from those of the averages."""
    parts = [math.hypot(*spreads[name]) / sum(errors[name]) for name in (mine, other)]
    return share(errors, mine, other) * math.hypot(*parts)
