"""Example 15: the small network as printed, which class it answers, and how far the other one is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deniable_reproduce.artifact import Artifact, Claim, Published, Result, Run
from deniable_reproduce.pictures import significant
from deniable_reproduce.two_features import exact_radius

TEXT = "Appendix E.2.1, Example 15"
FIRST, FIRST_BIAS = np.array([[-1.86, -2.09], [0.12, -0.46]]), np.array([3.71, -0.08])
SECOND, SECOND_BIAS = np.array([[-3.05, 0.40], [4.02, -0.22]]), np.array([0.94, -0.58])
STEPS = 4001


def scores(rows: Any) -> Any:
    """Both classes' scores at points of the square."""
    return np.maximum(np.asarray(rows) @ FIRST.T + FIRST_BIAS, 0) @ SECOND.T + SECOND_BIAS


def compute(run: Run) -> Result:
    """The answer at (0.5, 0.5) and the radius; by mixed-integer programming too, where torch is installed."""
    at_middle = scores([[0.5, 0.5]])[0]
    numbers: dict[str, float] = {
        "class at (0.5, 0.5)": int(np.argmax(at_middle)) + 1,
        "l∞ radius": significant(_bisected(), 7),
    }
    result: Result = {"numbers": numbers, "scores": [significant(float(score)) for score in at_middle]}
    result["radius of Figure 7.2"] = significant(exact_radius(), 7)
    if run.package("torch"):
        result["by programming"] = significant(_programmed(), 7)
    return result


def _bisected() -> float:
    """The least square around the point whose border has another answer, on 4,001 points a side: good to 1e-6 here."""
    mine = int(np.argmax(scores([[0.5, 0.5]])[0]))
    ticks = np.linspace(-1, 1, STEPS)
    edges = np.concatenate(
        [np.stack(pair, axis=1) for end in (-1.0, 1.0) for pair in ((np.full(STEPS, end), ticks), (ticks, np.full(STEPS, end)))]
    )
    low, high = 0.0, 0.5
    while high - low > 1e-9:
        middle = (low + high) / 2
        at_edges = scores(0.5 + middle * edges)
        if bool((at_edges[:, 1 - mine] >= at_edges[:, mine]).any()):
            high = middle
        else:
            low = middle
    return high


def _programmed() -> float:
    import torch

    from deniable.studies import network_radius, read_network

    one, two = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    for layer, weight, bias in ((one, FIRST, FIRST_BIAS), (two, SECOND, SECOND_BIAS)):
        layer.weight.data = torch.tensor(weight, dtype=torch.float32)
        layer.bias.data = torch.tensor(bias, dtype=torch.float32)
    module = torch.nn.Sequential(one, torch.nn.ReLU(), two).eval()
    return float(network_radius(read_network(module, [0.5, 0.5], [0, 1]), [0, 0], [1, 1]))


def table(result: Result) -> Sequence[Mapping[str, Any]]:
    """What the example computes."""
    return [{"what": name, "value": value} for name, value in result["numbers"].items()]


ARTIFACT = Artifact(
    name="example-15",
    title="The printed network at (0.5, 0.5)",
    source="Dissertation, Example 15",
    compute=compute,
    table=table,
    published=(
        Published(
            "class at (0.5, 0.5)",
            1,
            0,
            TEXT,
            "With the printed weights the second score is the larger one, 6.39 against −4.35: it answers class 2 "
            "(tests/studies/classifiers/test_networks.py::test_the_radius_of_the_printed_network).",
            evidence=lambda r: {f"score of class {place}": score for place, score in enumerate(r["scores"], 1)},
        ),
        Published(
            "l∞ radius",
            0.20,
            0.005,
            "Example 11, of “the same classifier”",
            "The printed network's answer changes 0.384812 away, so it is not the one of Figure 7.2, whose radius is 0.20.",
            variants=lambda r: {
                "the boundary of Figure 7.2": r["radius of Figure 7.2"],
                "the boundary of Figure 7.2, cut after 2 digits": math.floor(100 * r["radius of Figure 7.2"]) / 100,
            },
        ),
    ),
    claims=(
        Claim("the answer stays the same within 0.1", TEXT, lambda r: r["numbers"]["l∞ radius"] > 0.1),
        Claim(
            "bisection and mixed-integer programming find the same radius",
            "this project",
            lambda r: abs(r["by programming"] - r["numbers"]["l∞ radius"]) < 1e-5,
            needs=("torch",),
        ),
    ),
)
