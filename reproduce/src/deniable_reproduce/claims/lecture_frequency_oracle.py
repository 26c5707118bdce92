"""The lecture: signs tilted by epsilon are not epsilon-private."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from deniable.core import Categories, make_mechanism
from deniable_reproduce.artifact import Artifact, Claim, Published, Result, Run, named
from deniable_reproduce.pictures import Panel, curve, line_panels
from deniable_reproduce.verdict import OURS

PROMISED, PRINTED, RIGHT = "promised", "½ ± ε/2, as in the notes", "½ ± tanh(ε/2)/2"
LEVELS = [round(0.05 * place, 6) for place in range(1, 20)]
WHY = (
    "Two signs change when the value changes, one down and one up. Together their ratio is (1+ε)/(1−ε), so the notes' signs have "
    "2·artanh ε, at least twice what is promised, and no finite level once ε reaches 1. tanh(ε/2) in place of ε keeps the promise."
)

LEAST = "real / promised epsilon of the notes' signs, least"


def printed(epsilon: float) -> float:
    """What the notes' signs really have."""
    return 2 * math.atanh(epsilon)


def compute(run: Run) -> Result:
    """The real epsilon of both, ours from its integers."""
    right = [make_mechanism("sign-bits", domain=Categories(20), epsilon=round(level, 6)).certificate() for level in LEVELS]
    rows = curve(LEVELS, LEVELS, PROMISED)
    rows += curve(LEVELS, [printed(level) for level in LEVELS], PRINTED)
    rows += curve(LEVELS, [one.epsilon_exact for one in right], RIGHT)
    numbers = {
        "real epsilon of the notes' signs, ε = 0.25": printed(0.25),
        "real epsilon of the notes' signs, ε = 0.9": printed(0.9),
        "real epsilon with tanh(ε/2), ε = 0.25": make_mechanism("sign-bits", domain=Categories(20), epsilon=0.25)
        .certificate()
        .epsilon_exact,
        LEAST: min(printed(level) / level for level in LEVELS),
        "largest |real − promised| with tanh(ε/2)": max(
            abs(one.epsilon_exact - level) for one, level in zip(right, LEVELS, strict=True)
        ),
        "real epsilon with tanh(ε/2), ε = 0.9": right[LEVELS.index(0.9)].epsilon_exact,
    }
    return {"numbers": numbers, "panels": [{"rows": rows}], "holds": all(one.holds for one in right)}


def draw(result: Result) -> Mapping[str, Any]:
    """Real against promised epsilon."""
    panel = Panel(result["panels"][0]["rows"], x="promised ε", y="real ε", y_range=(0, 4))
    return {"epsilons": line_panels([panel], [PROMISED, PRINTED, RIGHT], title="What tilted signs really promise", size=(460, 300))}


ARTIFACT = Artifact(
    name="lecture-frequency-oracle",
    title="The privacy of the frequency oracle's signs",
    source="Lecture 20, local model of differential privacy",
    compute=compute,
    draw=draw,
    published=(
        Published(
            "real epsilon of the notes' signs, ε = 0.25",
            0.25,
            1e-9,
            "Lecture 20",
            WHY,
            evidence=named("real epsilon with tanh(ε/2), ε = 0.25", LEAST),
        ),
        Published(
            "real epsilon of the notes' signs, ε = 0.9",
            0.9,
            1e-9,
            "Lecture 20",
            WHY,
            evidence=named("real epsilon with tanh(ε/2), ε = 0.9", LEAST),
        ),
        Published("real epsilon with tanh(ε/2), ε = 0.25", 0.25, 1e-6, OURS),
    ),
    claims=(
        Claim(
            "with tanh(ε/2) the promise holds at every ε, exactly",
            OURS,
            lambda result: bool(result["holds"]),
            evidence=named("largest |real − promised| with tanh(ε/2)"),
        ),
    ),
)
