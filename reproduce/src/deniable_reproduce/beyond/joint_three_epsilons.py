"""Beyond: the three epsilons of joint randomized response, and what a bounded table costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from deniable.studies import account, bounded_pair, published_pair, variance_joint, variance_randomized_response
from deniable_reproduce.artifact import Artifact, Claim, Result, Run
from deniable_reproduce.pictures import Panel, Row, line_panels, significant

EPSILON, USERS, ONES = 1, 10_000, 100
COLLUSIONS = (1.25, 1.5, 2.0, 3.0, 4.0)
ALONE, SECRET, KNOWN, PRINTED = "nobody's indicator known", "m colluders, secret pairing", "partner's indicator known", "as printed"
ORDER = [ALONE, SECRET, KNOWN, PRINTED]
SHOWN = (0, 1, 100, 500, 1000)


def compute(run: Run) -> Result:
    """Exact numbers over the number of colluders, for the published and a bounded table."""
    steps = 41 if run.full else 21
    colluders = sorted({round(0.2 * USERS * place / (steps - 1)) for place in range(steps)} | set(SHOWN))
    panels = []
    numbers: dict[str, float] = {}
    for title, pair in (("published heuristic", published_pair(EPSILON)), ("bounded, ε_c = 2", bounded_pair(EPSILON, 2))):
        rows: list[Row] = []
        for m in colluders:
            privacy = account(pair, USERS, m)
            values = (
                privacy.epsilon_marginal,
                privacy.epsilon_secret_pairing,
                privacy.epsilon_known_pairing,
                privacy.epsilon_printed,
            )
            rows += [
                {"x": m / USERS, "y": significant(value), "series": name}
                for name, value in zip(ORDER, values, strict=True)
                if math.isfinite(value)
            ]
            if title == "published heuristic" and m in SHOWN:
                numbers[f"ε with a secret pairing, m = {m}"] = privacy.epsilon_secret_pairing
        numbers[f"ε when the partner's indicator is known, {title}"] = account(pair, USERS, 1).epsilon_known_pairing
        panels.append({"title": title, "rows": rows})
        run.progress(len(panels), 2)
    costs = []
    for collusion in COLLUSIONS:
        bounded = float(variance_joint(bounded_pair(EPSILON, str(collusion)), USERS, ONES))
        costs.append(
            {
                "ε_c": collusion,
                "bounded JRR": bounded,
                "plain RR at ε = 1": variance_randomized_response(EPSILON, USERS),
                "plain RR at ε_c": variance_randomized_response(collusion, USERS),
            }
        )
    numbers["variance, published heuristic"] = float(variance_joint(published_pair(EPSILON), USERS, ONES))
    return {"numbers": numbers, "panels": panels, "costs": costs}


def draw(result: Result) -> Mapping[str, Any]:
    """Epsilons over the share of colluders."""
    panels = [
        Panel(panel["rows"], title=panel["title"], x="share of colluders m/n", y="ε of one honest user", y_range=(0.9, 2.1))
        for panel in result["panels"]
    ]
    return {
        "epsilons": line_panels(
            panels,
            ORDER,
            title="Joint randomized response has three epsilons",
            subtitle="n = 10 000, ε = 1; for the published heuristic the third is infinite and not drawn",
        )
    }


def table(result: Result) -> Sequence[Mapping[str, Any]]:
    """Variances of the count at 1 % ones."""
    rows: list[Mapping[str, Any]] = result["costs"]
    return rows


ARTIFACT = Artifact(
    name="beyond-joint-three-epsilons",
    title="The three epsilons of joint randomized response",
    source="beyond the sources: deniable.studies.joint",
    compute=compute,
    draw=draw,
    table=table,
    claims=(
        Claim(
            "whoever knows the partner's indicator breaks the published heuristic: ε is infinite",
            "this project",
            lambda result: math.isinf(float(result["numbers"]["ε when the partner's indicator is known, published heuristic"])),
        ),
        Claim(
            "the bounded table keeps ε_c against them",
            "this project",
            lambda result: float(result["numbers"]["ε when the partner's indicator is known, bounded, ε_c = 2"]) <= 2 + 1e-9,
        ),
        Claim(
            "plain randomized response at ε_c has the lower variance: the joint table pays only for two tiers of privacy",
            "this project",
            lambda result: all(row["plain RR at ε_c"] < row["bounded JRR"] for row in result["costs"]),
            evidence=lambda result: {
                f"variance of {name}, ε_c = {row['ε_c']:g}": row[name]
                for row in result["costs"]
                for name in ("bounded JRR", "plain RR at ε_c")
            },
        ),
    ),
)
