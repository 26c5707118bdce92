"""The poster: the binary mechanism is best for total variation at every epsilon."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from deniable.planning import extremal_design
from deniable_reproduce.artifact import Artifact, Claim, Result, Run
from deniable_reproduce.claims.poster_regimes import ORDER, PAIRS
from deniable_reproduce.pictures import Panel, curve, line_panels


def compute(run: Run) -> Result:
    """The linear program for total variation, beside tanh(ε/2) times the distance of the values themselves."""
    count = 33 if run.full else 17
    levels = [0.25 + 7.75 * place / (count - 1) for place in range(count)]
    panels = []
    numbers: dict[str, float] = {}
    for name, (p0, p1) in PAIRS.items():
        designs = [extremal_design(p0, p1, level, "tv") for level in levels]
        rows = curve(levels, [one.binary / one.optimum for one in designs], "binary")
        rows += curve(levels, [one.k_rr / one.optimum for one in designs], "k-RR")
        panels.append({"title": name, "rows": rows})
        distance = sum(abs(a - b) for a, b in zip(p0, p1, strict=True)) / 2
        numbers[f"binary falls short by, {name}"] = max(1 - one.binary / one.optimum for one in designs)
        numbers[f"largest |best / (tanh(ε/2) TV) − 1|, {name}"] = max(
            abs(one.optimum / (math.tanh(level / 2) * distance) - 1) for level, one in zip(levels, designs, strict=True)
        )
        run.progress(len(panels), len(PAIRS))
    return {"numbers": numbers, "panels": panels}


def draw(result: Result) -> Mapping[str, Any]:
    """Shares of the best total variation."""
    panels = [
        Panel(
            panel["rows"], title=panel["title"], x="privacy parameter ε", y="total variation / the best possible", y_range=(0, 1.02)
        )
        for panel in result["panels"]
    ]
    return {"shares": line_panels(panels, ORDER, title="For total variation, one bit is enough at every ε")}


ARTIFACT = Artifact(
    name="poster-total-variation",
    title="The binary mechanism is best for total variation",
    source="Kairouz, Oh, Viswanath, poster on extremal mechanisms",
    compute=compute,
    draw=draw,
    claims=(
        Claim(
            "the binary mechanism is best for total variation at every ε",
            "poster",
            lambda result: all(result["numbers"][f"binary falls short by, {name}"] < 1e-6 for name in PAIRS),
        ),
        Claim(
            "the best total variation is tanh(ε/2) times that of the values",
            "this project",
            lambda result: all(result["numbers"][f"largest |best / (tanh(ε/2) TV) − 1|, {name}"] < 1e-6 for name in PAIRS),
        ),
    ),
)
