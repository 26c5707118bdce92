"""Figure 6.6: the error of a perturbed direction, TraCS-D beside randomized response on sectors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Keystream, sampler_for
from deniable.core import TwoLevel
from deniable_reproduce.artifact import Artifact, AsReleased, Claim, Published, Result, Run, named
from deniable_reproduce.pictures import significant
from deniable_reproduce.released_data import TRACS
from deniable_reproduce.sectors import response, window
from deniable_reproduce.walk_pictures import error_panels
from deniable_reproduce.walks import EPSILONS, always_below, random_walks, uniforms

ORDER = ["TraCS-D", "3-RR", "6-RR", "12-RR"]
TEXT = "Section 6.3.1"
RELEASED = f"{TRACS}, experiments/continuous_space/results/experiment_2.csv"
DISTANCE = (
    "The released script takes min(|a − b|, |2π − a − b|), which is not a distance on the circle; the right one gives "
    "π/(e^(ε/2) + 1)."
)
LIES = (
    "The released k-RR lies with probability 1/(k − 1 + e^ε) in all, not for each of the k − 1 lies "
    "(tests/studies/trajectories/test_baselines.py::test_the_released_randomized_response_has_a_much_higher_level), and is "
    "scored by the same formula."
)


def compute(run: Run) -> Result:
    """Circular distances between directions of random paths in the unit square and their reports."""
    walks = random_walks(run.repetitions(100, 100), 100, run.keystream("figure 6.6 paths"))
    steps = np.diff(walks.places.reshape(len(walks), -1, 2), axis=1).reshape(-1, 2)
    turns = np.arctan2(steps[:, 1], steps[:, 0]) / (2 * np.pi) % 1.0
    rows, theory = [], []
    numbers: dict[str, float] = {}
    for epsilon in EPSILONS:
        channels = {"TraCS-D": window(epsilon), **{f"{k}-RR": response(epsilon, k) for k in (3, 6, 12)}}
        for name, channel in channels.items():
            answers = reported(channel, turns, run.keystream(f"figure 6.6 {name} {epsilon}"))
            apart = 2 * np.pi * np.minimum(np.abs(answers - turns), 1 - np.abs(answers - turns))
            if name == "TraCS-D":
                numbers[f"TraCS-D at ε = {epsilon}"] = significant(float(apart.mean()), 5)
                other = 2 * np.pi * np.minimum(np.abs(answers - turns), np.abs(1 - answers - turns))
                numbers[f"TraCS-D at ε = {epsilon}, released distance"] = significant(float(other.mean()), 5)
            elif name != "3-RR":
                numbers[f"{name} at ε = {epsilon}"] = significant(float(apart.mean()), 5)
                keystream = run.keystream(f"figure 6.6 {name} {epsilon} released")
                again = released(turns, epsilon, int(name.partition("-")[0]), keystream)
                numbers |= {f"{name} at ε = {epsilon}, {setting}": error for setting, error in again.items()}
            rows.append(
                {
                    "mechanism": name,
                    "epsilon": epsilon,
                    "average_error": significant(float(apart.mean()), 6),
                    "average_error_standard_error": significant(float(apart.std() / math.sqrt(len(apart))), 3),
                }
            )
        theory.append(significant(math.pi / (math.exp(epsilon / 2) + 1), 7))
    return {"rows": rows, "theory": theory, "directions": len(turns), "numbers": numbers}


def released(turns: NDArray[np.float64], epsilon: float, sectors: int, keystream: Keystream) -> dict[str, float]:
    """k-RR that lies with probability 1 / (k - 1 + e**epsilon) in all, scored by both formulas."""
    moved, lie, inside = (uniforms(len(turns), keystream) for _ in range(3))
    own = np.floor(turns * sectors)
    other = (own + 1 + np.floor(moved * (sectors - 1))) % sectors
    answers = (np.where(lie < 1 / (sectors - 1 + math.exp(epsilon)), other, own) + inside) / sectors
    right = np.minimum(np.abs(answers - turns), 1 - np.abs(answers - turns))
    wrong = np.minimum(np.abs(answers - turns), np.abs(1 - answers - turns))
    return {
        "released lies": significant(2 * math.pi * float(right.mean()), 5),
        "released lies and distance": significant(2 * math.pi * float(wrong.mean()), 5),
    }


def reported(channel: TwoLevel, turns: NDArray[np.float64], keystream: Keystream) -> NDArray[np.float64]:
    """Reports of directions; both are parts of a turn, from 0 to 1."""
    cells = channel.outputs
    sampler = sampler_for(channel)
    inputs = np.minimum((turns * cells).astype(np.int64), cells - 1)
    outputs = sampler.allocate(len(inputs))
    for start in range(0, len(inputs), sampler.chunk):
        sampler.draw(inputs[start : start + sampler.chunk], outputs[start : start + sampler.chunk], keystream)
    return np.asarray((outputs.astype(np.float64) + 0.5) / cells, np.float64)


def draw(result: Result) -> Mapping[str, Any]:
    """Errors over epsilon."""
    return {
        "errors": error_panels(
            {"all": result["rows"]},
            {},
            ORDER,
            title="Average error of a direction",
            subtitle=f"{result['directions']} directions of random paths; bands are two standard errors",
            y="circular distance (radians)",
            x="ε of the direction",
            size=(560, 300),
        )
    }


def _follows_theory(result: Result) -> bool:
    """Within five standard errors of π / (e^(ε/2) + 1)."""
    ours = [row for row in result["rows"] if row["mechanism"] == "TraCS-D"]
    pairs = zip(ours, result["theory"], strict=True)
    return all(abs(row["average_error"] - exact) < 5 * row["average_error_standard_error"] for row, exact in pairs)


def _errors(result: Result, names: Sequence[str], levels: Sequence[int]) -> dict[str, float]:
    chosen = [row for row in result["rows"] if row["mechanism"] in names and row["epsilon"] in levels]
    return {f"{row['mechanism']} at ε = {row['epsilon']}": row["average_error"] for row in chosen}


def _flattens(result: Result) -> bool:
    """From ε = 8 to 10 randomized response on 3 and 6 sectors improves by less than a tenth."""
    errors = {(row["mechanism"], row["epsilon"]): row["average_error"] for row in result["rows"]}
    return all(errors[name, 10] > 0.9 * errors[name, 8] for name in ("3-RR", "6-RR"))


def _published(key: str, value: float, tolerance: float, why: str, setting: str, *others: str) -> Published:
    """A released number, and ours with the setting of the released script."""
    again = AsReleased(f"{key}, {setting}", setting, f"{TRACS}, experiments/continuous_space/experiment_2.py")
    evidence = named(*(f"{key}, {other}" for other in others)) if others else None
    return Published(key, value, tolerance, RELEASED, why, evidence=evidence, released=again)


ARTIFACT = Artifact(
    name="figure-6.6",
    title="TraCS-D against k-RR and uniform sampling",
    source="Dissertation, Figure 6.6",
    compute=compute,
    draw=draw,
    published=(
        _published("TraCS-D at ε = 2", 0.62017, 0.02, DISTANCE, "released distance"),
        _published("TraCS-D at ε = 10", 0.01793, 0.002, DISTANCE, "released distance"),
        *(
            _published(f"{k}-RR at ε = {epsilon}", value, 0.02, LIES, "released lies and distance", "released lies")
            for (k, epsilon), value in {
                (6, 2): 0.42593,
                (6, 4): 0.3655,
                (6, 6): 0.35219,
                (12, 2): 0.22833,
                (12, 4): 0.19102,
                (12, 6): 0.1771,
            }.items()
        ),
    ),
    claims=(
        Claim(
            "the error of TraCS-D falls like e^(−ε/2), to π/(e^(ε/2) + 1)",
            TEXT,
            _follows_theory,
            evidence=lambda r: (
                _errors(r, ("TraCS-D",), (2, 6, 10))
                | {
                    f"π/(e^(ε/2) + 1) at ε = {epsilon}": exact
                    for epsilon, exact in zip(EPSILONS, r["theory"], strict=True)
                    if epsilon in (2, 6, 10)
                }
            ),
        ),
        Claim(
            "the strawman's error is eventually stable, because of the error within a sector",
            TEXT,
            _flattens,
            evidence=lambda r: _errors(r, ("3-RR", "6-RR"), (8, 10)),
        ),
        Claim(
            "at large ε TraCS-D errs less than every strawman",
            TEXT,
            lambda r: all(always_below(r["rows"], "TraCS-D", name, least=6) for name in ORDER[1:]),
            evidence=lambda r: _errors(r, ORDER, (6, 10)),
        ),
    ),
)
