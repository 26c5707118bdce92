"""Beyond: the published optimum, the true one, and a bound that no mechanism passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deniable.core import Interval, make_mechanism
from deniable.estimators import worst_case
from deniable.planning import design
from deniable_reproduce.artifact import Artifact, Claim, Result, Run
from deniable_reproduce.pictures import Panel, line_panels, significant

QUICK, FULL = (0.5, 1, 2, 3, 4, 5, 6), (0.1, 0.25, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8)
LOSSES = ("absolute", "squared")
PUBLISHED, WINDOW, OURS = "published (OGPM)", "best window", "best mechanism found"
ORDER = [PUBLISHED, WINDOW, OURS]


def compute(run: Run) -> Result:
    """Designs with their certificates; errors from the integers of each mechanism."""
    levels = FULL if run.full else QUICK
    panels: list[dict[str, Any]] = []
    table_rows: list[dict[str, Any]] = []
    for loss in LOSSES:
        rows = []
        for epsilon in levels:
            designed = design(Interval(0, 1), loss, epsilon)
            window = worst_case(make_mechanism("window", epsilon=epsilon, loss_exponent=LOSSES.index(loss) + 1), loss).error
            errors = {PUBLISHED: designed.published["worst_case"], WINDOW: window, OURS: designed.worst_case}
            rows += [
                {"x": epsilon, "y": significant(error / designed.lower_bound, 6), "series": name} for name, error in errors.items()
            ]
            table_rows.append(
                {
                    "loss": loss,
                    "ε": epsilon,
                    "published": significant(designed.published["worst_case"], 5),
                    "best window": significant(window, 5),
                    "best found": significant(designed.worst_case, 5),
                    "bound": significant(designed.lower_bound, 5),
                    "mechanism": designed.mechanism.name,
                }
            )
            run.progress(len(table_rows), len(LOSSES) * len(levels))
        panels.append({"title": f"{loss} error", "rows": rows})
    numbers = {
        f"{what}, {loss}": max(row["y"] for row in panels[place]["rows"] if row["series"] == name)
        for place, loss in enumerate(LOSSES)
        for what, name in (("published / bound, largest", PUBLISHED), ("best found / bound, largest", OURS))
    }
    return {"numbers": numbers, "panels": panels, "rows": table_rows}


def draw(result: Result) -> Mapping[str, Any]:
    """Multiples of the bound."""
    tops = [max(row["y"] for row in panel["rows"]) for panel in result["panels"]]
    panels = [
        Panel(
            panel["rows"],
            title=panel["title"],
            x="privacy parameter ε",
            y="worst error / lower bound",
            points=True,
            y_range=(0.95, 1.02 * top),
        )
        for panel, top in zip(result["panels"], tops, strict=True)
    ]
    return {
        "multiples": line_panels(
            panels,
            ORDER,
            title="How far from the best possible on [0, 1]",
            subtitle="1 is a bound that no ε-LDP mechanism passes, whatever its outputs",
        )
    }


def table(result: Result) -> Sequence[Mapping[str, Any]]:
    """Errors and bounds."""
    rows: list[Mapping[str, Any]] = result["rows"]
    return rows


ARTIFACT = Artifact(
    name="beyond-optimal-window",
    title="Published optimum, true optimum, lower bound",
    source="beyond the sources: deniable.planning.designs",
    compute=compute,
    draw=draw,
    table=table,
    claims=(
        Claim(
            "the best mechanism found is within 0.5 % of the bound",
            "this project",
            lambda result: max(result["numbers"][f"best found / bound, largest, {loss}"] for loss in LOSSES) < 1.005,
        ),
        Claim(
            "the published optimum is not the optimum: it is more than 30 % above the bound at some ε",
            "this project",
            lambda result: min(result["numbers"][f"published / bound, largest, {loss}"] for loss in LOSSES) > 1.3,
        ),
    ),
    note="Every error is that of an integer mechanism, looked at for every value; a linear program's multipliers prove the bound.",
)
