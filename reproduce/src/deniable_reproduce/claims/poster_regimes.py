"""The poster: where the binary mechanism and where randomized response is best for telling two distributions apart."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from deniable.planning import extremal_design, regimes
from deniable_reproduce.artifact import Artifact, Claim, Result, Run
from deniable_reproduce.pictures import Panel, curve, line_panels

PAIRS = {
    "k = 4": ((0.4, 0.3, 0.2, 0.1), (0.1, 0.2, 0.3, 0.4)),
    "k = 6": ((0.05, 0.1, 0.15, 0.2, 0.25, 0.25), (0.3, 0.25, 0.2, 0.1, 0.1, 0.05)),
}
"""Examples of ours: the poster has theorems and no numbers of its own."""
ORDER = ["binary", "k-RR"]
SMALL = 0.05
POSTER = "Extremal mechanisms, poster"


def compute(run: Run) -> Result:
    """The linear program at many levels, and the exact ends of the two regimes."""
    count = 49 if run.full else 25
    levels = [0.25 + 7.75 * place / (count - 1) for place in range(count)]
    panels = []
    numbers: dict[str, float] = {}
    for name, (p0, p1) in PAIRS.items():
        designs = [extremal_design(p0, p1, level) for level in levels]
        rows = curve(levels, [one.binary / one.optimum for one in designs], "binary")
        rows += curve(levels, [one.k_rr / one.optimum for one in designs], "k-RR")
        panels.append({"title": name, "rows": rows})
        binary_up_to, response_from = regimes(p0, p1)
        numbers[f"binary is best up to ε, {name}"] = binary_up_to
        numbers[f"k-RR is best from ε, {name}"] = response_from
        numbers[f"most outputs needed, {name}"] = max(one.mechanism.channel.outputs for one in designs)
        # Large ε: divergences of binary and k-RR against the bound, with a hair for rounding.
        numbers[f"binary falls short by, {name}"] = max(1 - one.binary / one.optimum for one in designs)
        promised = [1 / (2 * (math.exp(level) + 1) ** 2) for level in levels]
        kept = [one.binary / one.optimum / least for one, least in zip(designs, promised, strict=True)]
        numbers[f"binary's share of the best / promised share, least, {name}"] = min(kept)
        small = extremal_design(p0, p1, SMALL)
        distance = sum(abs(a - b) for a, b in zip(p0, p1, strict=True)) / 2
        numbers[f"best KL / (ε² TV² / 2) at ε = 0.05, {name}"] = small.optimum / (SMALL**2 * distance**2 / 2)
        run.progress(len(panels), len(PAIRS))
    numbers["2 (e^ε + 1)² at ε = 1"] = 2 * (math.e + 1) ** 2
    return {"numbers": numbers, "panels": panels}


def draw(result: Result) -> Mapping[str, Any]:
    """Shares of the best divergence."""
    panels = [
        Panel(
            panel["rows"], title=panel["title"], x="privacy parameter ε", y="KL divergence / the best possible", y_range=(0, 1.02)
        )
        for panel in result["panels"]
    ]
    return {
        "regimes": line_panels(
            panels,
            ORDER,
            title="Binary at high privacy, randomized response at low privacy",
            subtitle="share of the best Kullback–Leibler divergence, from the poster's linear program",
        )
    }


def _each(what: str, holds: Any) -> Any:
    return lambda result: all(holds(result["numbers"][f"{what}, {name}"], name) for name in PAIRS)


ARTIFACT = Artifact(
    name="poster-regimes",
    title="Where the binary mechanism and randomized response are best",
    source="Kairouz, Oh, Viswanath, poster on extremal mechanisms",
    compute=compute,
    draw=draw,
    claims=(
        Claim(
            "the binary mechanism is best for small ε",
            POSTER,
            _each("binary is best up to ε", lambda value, name: value > 0),
        ),
        Claim(
            "randomized response is best for KL from some ε on",
            POSTER,
            _each("k-RR is best from ε", lambda value, name: value < 20),
        ),
        Claim(
            "as many outputs as values are enough",
            POSTER,
            _each("most outputs needed", lambda value, name: value <= len(PAIRS[name][0])),
        ),
        Claim(
            "binary has at least 1/(2(e^ε + 1)²) of the best KL (it has far more)",
            POSTER,
            _each("binary's share of the best / promised share, least", lambda value, name: value >= 1),
        ),
        Claim(
            "2(e^ε + 1)² ≤ 32 for ε ≤ 1",
            POSTER,
            lambda result: result["numbers"]["2 (e^ε + 1)² at ε = 1"] <= 32,
        ),
        Claim(
            "for small ε, n private samples are worth about ε² n (the best KL is ε² TV²/2)",
            POSTER,
            _each("best KL / (ε² TV² / 2) at ε = 0.05", lambda value, name: abs(value - 1) < 0.01),
        ),
    ),
    note="Where P0(x) = P1(x), the binary mechanism must try x on both sides; the poster puts it on one.",
)
