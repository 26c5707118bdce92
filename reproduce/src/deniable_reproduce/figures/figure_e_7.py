"""Figure E.7: average and worst utility of the network over several digits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from deniable_reproduce.artifact import Artifact, Claim, Result, Run
from deniable_reproduce.case_studies import at, ordered, utilities
from deniable_reproduce.data_utility import picture
from deniable_reproduce.digit_studies import LONG, SHORT, image_rows, network
from deniable_reproduce.released_data import QCU_LDP

TEXT = "Appendix E.2.7"


def compute(run: Run) -> Result:
    """ρ of every image on its own sample; the worst is the least estimate, so it leans low."""
    _, _, labels, source, right = network(run.repetitions(SHORT, LONG))
    count = run.repetitions(4, 50)
    images = [round(i * (len(labels) - 1) / (count - 1)) for i in range(count)]
    levels = range(1, 9) if run.full else (4, 6, 8)
    per_image = [image_rows(run, image, levels, run.repetitions(400, 4000), f"figure E.7 {image}") for image in images]
    rows = []
    for first in per_image[0]:
        own = [at(each, first["mechanism"], first["epsilon"]) for each in per_image]
        mean = math.fsum(row["rho"] for row in own) / count
        # Each interval holds with 95 %; their mean is a cautious band for the mean.
        low, high = (math.fsum(row[key] for row in own) / count for key in ("low", "high"))
        tried = math.fsum(row["empirical"] for row in own) / count
        rows.append({**first, "rho": mean, "low": low, "high": high, "empirical": tried, "worst": min(row["rho"] for row in own)})
    return {"rows": rows, "records": count, "source": source, "right without noise": right}


def draw(result: Result) -> Mapping[str, Any]:
    """Average and worst."""
    chart = picture(result, "Digits: 49 perturbed pixels, δ = 0.1")["rho"]
    chart.title.subtitle = [f"estimates over {result['records']} images ({result['source']}); circles: plain reports"]
    return {"rho": chart}


ARTIFACT = Artifact(
    name="figure-e.7",
    title="Average-case and worst-case utility, MNIST 7 × 7",
    source="Dissertation, Figure E.7",
    compute=compute,
    draw=draw,
    claims=(
        Claim(
            "PM has the highest average utility",
            TEXT,
            lambda r: all(ordered(r["rows"], "PM", other, slack=0.05) for other in ("SW", "Exponential", "k-RR")),
            "From samples, so small differences are left open; see the bands.",
            utilities(("PM", "SW", "Exponential", "k-RR"), levels=(4, 6, 8)),
        ),
    ),
    note=f"The network of the source is released ({QCU_LDP}, experiments/mnist) as a file that is not opened here; ours is trained "
    "here. Needs torch.",
)
