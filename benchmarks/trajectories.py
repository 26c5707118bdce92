"""How fast and how near private locations are: rates (best of several) and average errors, measured in one run.

    python benchmarks/trajectories.py [--locations 4000000] [--json]
    python benchmarks/trajectories.py --splits        # the search behind tracs-d's split="auto"
    python benchmarks/trajectories.py --walk-maps     # why walks of tracs-d are no source of density maps

Every row is end to end: from an array of places in the unit square, in paths of 100, to an array of private places, with
everything a mechanism has to prepare. Errors are mean Euclidean distances on uniformly random places, with two standard errors.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np

from deniable import Interval, Rectangle
from deniable.batch import StepKernel
from deniable.core import Mechanism, make_mechanism
from deniable.estimators import maximise
from deniable.studies import Paths, perturb

EPSILONS = (2, 4, 6, 8, 10)
LENGTH = 100
SPLITS = {
    2: (0.9, 0.95, 0.98, 0.995, 0.999),
    3: (0.9, 0.95, 0.98, 0.99, 0.999),
    4: (0.84, 0.88, 0.9, 0.93, 0.96),
    5: (0.76, 0.79, 0.83, 0.86, 0.9),
    6: (0.7, 0.73, 0.76, 0.79, 0.82),
    7: (0.66, 0.69, 0.715, 0.74, 0.77),
    8: (0.62, 0.65, 0.68, 0.71, 0.74),
    10: (0.58, 0.61, 0.64, 0.67, 0.7),
    12: (0.55, 0.58, 0.605, 0.63, 0.66),
    15: (0.53, 0.56, 0.585, 0.61, 0.64),
}


def random_paths(count: int) -> Paths:
    """Places spread evenly over the unit square, in paths of 100."""
    places = np.random.Generator(np.random.PCG64(1)).random((count, 2))
    return Paths(places, np.append(np.arange(0, count, LENGTH), count))


def cases(epsilon: int) -> list[tuple[str, Mechanism, float | None]]:
    """Label, mechanism and the rate it must reach."""
    grid = Rectangle(Interval(0, 1, cells=256), Interval(0, 1, cells=256))
    return [
        ("tracs-c, published window", make_mechanism("tracs-c", epsilon=epsilon, loss_exponent=1), 1e7),
        ("tracs-c", make_mechanism("tracs-c", epsilon=epsilon), 1e7),
        ("tracs-d, published split", make_mechanism("tracs-d", epsilon=epsilon, split="published"), 2e6),
        ("tracs-d", make_mechanism("tracs-d", epsilon=epsilon), 2e6),
        ("nearest-cells, 256 x 256", make_mechanism("nearest-cells", domain=grid, epsilon=epsilon), 2e6),
    ]


def measured(paths: Paths, mechanism: Mechanism, repeats: int) -> tuple[float, float, float]:
    """Locations per second (best of several), the mean error and two standard errors of it."""
    best, private = float("inf"), paths
    for _ in range(repeats):
        begin = time.perf_counter()
        private = perturb(paths, mechanism)
        best = min(best, time.perf_counter() - begin)
    apart = np.hypot(*(private.places - paths.places).T)
    return len(apart) / best, float(apart.mean()), float(2 * apart.std() / np.sqrt(len(apart)))


def measure(count: int, repeats: int = 3) -> list[dict[str, Any]]:
    """Every case at every epsilon."""
    paths, few = random_paths(count), random_paths(1000)
    rows = []
    for epsilon in EPSILONS:
        for label, mechanism, needed in cases(epsilon):
            perturb(few, mechanism)  # compile
            rate, error, noise = measured(paths, mechanism, repeats)
            met = None if needed is None else rate >= needed
            rows.append(
                {
                    "mechanism": label,
                    "epsilon": epsilon,
                    "locations_per_second": rate,
                    "required": needed,
                    "met": met,
                    "average_error": error,
                    "two_standard_errors": noise,
                }
            )
    return rows


def splits(count: int) -> None:
    """The average error of walks for shares of epsilon around the automatic one."""
    paths = random_paths(count)
    for epsilon, shares in SPLITS.items():
        found = []
        for split in ("published", "auto", *shares):
            _, error, noise = measured(paths, make_mechanism("tracs-d", epsilon=epsilon, split=split), 1)
            found.append(f"{split} {error:.5f}")
        print(f"epsilon {epsilon:>2} (+-{noise:.5f}):  {'   '.join(found)}", flush=True)


def walk_maps(cells: int = 8, people: int = 400, length: int = 50) -> None:
    """How wrong the most likely map of a walk's reports is when places are taken for independent, by sums of |difference|.

    "independent" draws every place anew, "at home" keeps each person within 0.03 of a home. Both have the same crowd.
    """
    draws = np.random.Generator(np.random.PCG64(1))
    crowd = np.where(draws.random((people, 1)) < 0.5, draws.normal((0.3, 0.7), 0.06, (people, 2)), draws.random((people, 2)))
    homes = np.repeat(crowd, length, axis=0)
    kinds = {"independent": draws.permutation(homes), "at home": homes}
    for epsilon in (2, 4, 6):
        for kind, centres in kinds.items():
            places = np.clip(centres + draws.normal(0, 0.03, centres.shape), 0, 1)
            paths = Paths(places, np.arange(0, len(places) + 1, length))
            mechanism = make_mechanism("tracs-d", epsilon=epsilon)
            likely = walk_likelihoods(mechanism, perturb(paths, mechanism), cells)
            start = np.full(cells**2, 1 / cells**2)
            fit = maximise(
                likely.dot,
                likely.T.dot,
                lambda shares: shares,
                np.ones(len(places)),
                start,
                1e-3 * np.exp(epsilon),
                1000,
            )
            truth = np.histogram2d(places[:, 1], places[:, 0], bins=cells, range=((0, 1), (0, 1)))[0].ravel() / len(places)
            wrong, even = np.abs(fit.shares - truth).sum(), np.abs(start - truth).sum()
            print(f"epsilon {epsilon}, {kind}: off by {wrong:.2f}; a map that knows nothing: {even:.2f}", flush=True)


def walk_likelihoods(mechanism: Any, private: Paths, cells: int) -> Any:
    """For every report of a walk in the unit square, its chance from each map cell (four points), up to a factor."""
    channel = mechanism.channel
    kernel = StepKernel(channel, mechanism.domain)
    columns, rows, distances, half = kernel.lattice
    over = private.places * [2 * columns, 2 * rows]
    reference = np.roll(np.floor(over + 0.5).astype(np.int64), 1, axis=0)
    reference[private.starts[:-1]] = channel.view.reference
    across, up = (over - reference).T
    lower = (up < 0) | ((up == 0) & (across < 0))
    sign = np.where(lower, -1.0, 1.0)
    angles = np.append(np.arctan2(half[:-1, 1] * 1.0, half[:-1, 0] * 1.0), np.pi)
    turn = np.clip(np.searchsorted(angles, np.arctan2(sign * up, sign * across), "right") - 1, 0, len(half) - 2)
    turn += np.where(lower, len(half) - 1, 0)
    right = np.where(across > 0, 2 * columns - reference[:, 0], reference[:, 0])
    top = np.where(up > 0, 2 * rows - reference[:, 1], reference[:, 1])
    ahead = np.maximum(np.abs(across) / np.maximum(right, 1), np.abs(up) / np.maximum(top, 1))
    share = np.minimum((ahead * distances).astype(np.int64), distances - 1)
    at = (np.arange(2 * cells) + 0.5) / (2 * cells)
    grid = (at * rows).astype(np.int64).reshape(cells, 1, 2, 1) * columns + (at * columns).astype(np.int64).reshape(1, cells, 1, 2)
    points = grid.reshape(-1)
    found = np.empty((len(turn), cells**2))
    for begin in range(0, len(turn), 64):
        some = slice(begin, begin + 64)
        seen: Any = tuple(np.repeat(reference[some, axis], len(points)) for axis in (0, 1))
        turns, shares = kernel.polar(np.tile(points, len(turn[some])), seen)
        chance = _weights(kernel.direction, turns, np.repeat(turn[some], len(points)))
        chance = chance * _weights(channel.distance, shares, np.repeat(share[some], len(points)))
        found[some] = chance.reshape(-1, cells**2, 4).mean(axis=2)
    return found


def _weights(channel: Any, inputs: Any, outputs: Any) -> Any:
    window = channel.sets
    start = np.clip(window.offset + inputs, window.first, window.last)
    return np.where((outputs - start) % window.outputs < window.members, channel.high / channel.low, 1.0)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--locations", type=int, default=4_000_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--splits", action="store_true")
    parser.add_argument("--walk-maps", action="store_true")
    chosen = parser.parse_args()
    if chosen.walk_maps:
        walk_maps()
        return
    if chosen.splits:
        splits(min(chosen.locations, 1_000_000))
        return
    rows = measure(chosen.locations)
    if chosen.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"{chosen.locations} locations in the unit square, paths of {LENGTH}, best of 3\n")
    print(f"{'mechanism':<28}{'epsilon':>8}{'million/s':>11}{'required':>10}{'met':>5}{'average error':>20}")
    for row in rows:
        met = {None: "", True: "yes", False: "NO"}[row["met"]]
        error = f"{row['average_error']:.4f} +- {row['two_standard_errors']:.4f}"
        print(
            f"{row['mechanism']:<28}{row['epsilon']:>8}{row['locations_per_second'] / 1e6:>11.1f}"
            f"{row['required'] / 1e6:>10.0f}{met:>5}{error:>20}"
        )


if __name__ == "__main__":
    main()
