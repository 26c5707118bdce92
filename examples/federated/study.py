"""Does training survive the noise? Scores against epsilon for four models, with pictures.

    python examples/federated/study.py [--people 1000,10000,100000] [--seeds 3] [--data DIR] [--keep FILE.json] [--chart FILE.svg]

Simulated people train as training_tasks.py says, everyone in every round. The epsilons are those of a round. Gaussian noise has
delta = 1e-6: with the right sigma, and with the recipe that packages use, beside its true epsilon. A score is the mean over seeds,
with the standard deviation behind it; seeds change the rows of people, the rows that nobody had and the noise. Gaussian
noise is shown at the best of three paces of the server, chosen afterwards for every line, in its favour; ours has one pace. With
more than 10,000 people there is one seed, and epsilon ends at 4. Beware: the coins are fixed, and the Gaussian references draw
floats. Their noise is added to the mean, which has the same law.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
from training_tasks import TASKS, Task

from deniable.batch import randomize_many
from deniable.charts import COLOURS, INK, inline, save, themed
from deniable.core import Ball, NearestCodes, encode_report
from deniable.estimators import mean
from deniable.privacy import FixedKeystream, gaussian_epsilon, gaussian_sigma

DELTA, CHUNK = 1e-6, 5000
EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
MANY, ENOUGH_EPSILON = 10_000, 4
PACES = (1 / 3, 1.0, 3.0)
WAYS = ("ours", "Gaussian, right σ", "the recipe")
PLAIN = "no privacy"
Row = dict[str, Any]


def recipe_sigma(epsilon: float) -> float:
    """Proved for epsilon < 1 only; two updates of length 1 are 2 apart."""
    return 2 * math.sqrt(2 * math.log(1.25 / DELTA)) / epsilon


def trained_score(task: Task, people: int, way: str, epsilon: float, seed: int, pace: float) -> float:
    """After all rounds, on rows that nobody had."""
    generator, stream = np.random.default_rng(seed), FixedKeystream(seed)
    order = generator.permutation(len(task.rows))
    cut = 7 * len(order) // 10
    train, test = order[:cut], order[cut:]
    mechanism = NearestCodes(domain=Ball(task.dimension), epsilon=epsilon) if way == "ours" else None
    weights = task.start()
    for _ in range(task.rounds):
        total = np.zeros(task.dimension)
        sums = None if mechanism is None else mechanism.accumulator()
        for start in range(0, people, CHUNK):
            mine = generator.choice(train, (min(CHUNK, people - start), task.each))
            rows = task.updates(weights, mine)
            total += rows.sum(axis=0)
            if mechanism is not None and sums is not None:
                sums.add(randomize_many(mechanism, rows, stream))
        step = total / people if sums is None else mean(sums).value
        if way in WAYS[1:]:
            sigma = gaussian_sigma(epsilon, DELTA, 2) if way == WAYS[1] else recipe_sigma(epsilon)
            step = step + generator.normal(0, sigma / math.sqrt(people), task.dimension)
        weights = weights + pace * step
    return task.score(weights, test)


def study(task: Task, people: int, epsilons: Sequence[float], seeds: int) -> Iterator[Row]:
    """A row for every epsilon and way."""
    for way in (PLAIN, *WAYS):
        for epsilon in epsilons if way != PLAIN else epsilons[:1]:
            yield best_row(task, people, way, epsilon, seeds)


def best_row(task: Task, people: int, way: str, epsilon: float, seeds: int) -> Row:
    """The mean score over the seeds; of Gaussian noise at its best pace."""
    paces = [factor * task.pace for factor in (PACES if way in WAYS[1:] else (1.0,))]
    tried = {pace: [trained_score(task, people, way, epsilon, seed, pace) for seed in range(1, seeds + 1)] for pace in paces}
    pace = max(tried, key=lambda pace: float(np.mean(tried[pace])))
    return {
        "task": task.name,
        "metric": task.metric,
        "people": people,
        "way": way,
        "epsilon": epsilon,
        "pace": pace,
        "score": float(np.mean(tried[pace])),
        "spread": float(np.std(tried[pace], ddof=1)) if seeds > 1 else 0.0,
    }


def table(rows: Sequence[Row]) -> Iterator[str]:
    """The lines of one model and number of people."""
    cells = {
        (row["way"], row["epsilon"]): f"{row['score']:.2f}" + (f" ± {row['spread']:.2f}" if row["spread"] else "") for row in rows
    }
    plain = next(cells[PLAIN, row["epsilon"]] for row in rows if row["way"] == PLAIN)
    for epsilon in sorted({row["epsilon"] for row in rows}):
        true = gaussian_epsilon(recipe_sigma(epsilon), DELTA, 2)
        shown = [f"{rows[0]['people']:,}", f"{epsilon:g}", *(cells[way, epsilon] for way in WAYS), f"{true:.2f}", plain]
        yield f"| {' | '.join(shown)} |"


def communication(task: Task) -> str:
    """What a person sends in one round."""
    sizes = [
        len(encode_report(mechanism, mechanism.randomize([0.0] * task.dimension)))
        for mechanism in (NearestCodes(domain=Ball(task.dimension), epsilon=epsilon) for epsilon in EPSILONS)
    ]
    ours = " or ".join(map(str, sorted(set(sizes))))
    return f"{task.dimension} numbers; a person sends {ours} bytes a round, as a noisy update {4 * task.dimension}"


def study_chart(rows: Sequence[Row]) -> Any:
    """A line of panels for every model, a column for every number of people."""
    names = [*WAYS, PLAIN]
    colour = alt.Color(
        "way:N",
        title=None,
        scale=alt.Scale(domain=names, range=[*COLOURS[:3], INK]),
        legend=alt.Legend(orient="top", symbolSize=110),
    )
    lines = []
    for task in dict.fromkeys(row["task"] for row in rows):
        own = [row for row in rows if row["task"] == task]
        low = 0.0 if own[0]["metric"] == "accuracy" else 0.3
        panels = [
            _panel([row for row in own if row["people"] == people], colour, low)
            for people in sorted({row["people"] for row in own})
        ]
        lines.append(alt.hconcat(*panels, spacing=18))
    picture = alt.vconcat(*lines, spacing=14)
    return themed(
        picture,
        title="Scores of trained models against ε",
        subtitle="on rows that nobody had; bars are one standard deviation; the recipe stands at the ε it claims",
    )


def _panel(rows: Sequence[Row], colour: alt.Color, low: float) -> Any:
    noisy = [
        {**row, "low": row["score"] - row["spread"], "high": row["score"] + row["spread"]} for row in rows if row["way"] != PLAIN
    ]
    x = alt.X(
        "epsilon:Q",
        title="ε of a round",
        scale=alt.Scale(type="log", base=2, domain=[0.4, 20], nice=False),
        axis=alt.Axis(values=list(EPSILONS), format="~g"),
    )
    y = alt.Y("score:Q", title=rows[0]["metric"], scale=alt.Scale(domain=[low, 1], clamp=True), axis=alt.Axis(tickCount=5))
    base = alt.Chart(inline(noisy)).encode(x=x, color=colour)
    plain = alt.Chart(inline([row for row in rows if row["way"] == PLAIN])).mark_rule(strokeDash=[5, 4], strokeWidth=2)
    layers = [
        plain.encode(y=y, color=colour),
        base.mark_rule().encode(
            y=alt.Y("low:Q", scale=alt.Scale(domain=[low, 1], clamp=True), title=rows[0]["metric"]), y2="high:Q"
        ),
        base.mark_line(strokeWidth=2.2).encode(y=y),
        base.mark_point(filled=True, size=45, opacity=1).encode(y=y, shape=alt.Shape("way:N", legend=None)),
    ]
    heading = alt.TitleParams(f"{rows[0]['task']}, {rows[0]['people']:,} people", anchor="start", fontSize=14)
    return alt.layer(*layers).properties(width=250, height=150, title=heading)


def main() -> None:
    """A table for every model, and the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", default="1000,10000,100000")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--models", default=",".join(TASKS), help=f"some of {', '.join(TASKS)}")
    parser.add_argument("--data", type=Path, default=Path(), help="directory of bank_attrition.csv and stroke.csv")
    parser.add_argument("--keep", type=Path, help="a .json file of scores: those in it are not computed again, new ones are added")
    parser.add_argument("--chart", help="draw the scores to a .png, .svg or .html file")
    asked = parser.parse_args()
    rows: list[Row] = json.loads(asked.keep.read_text("utf-8")) if asked.keep and asked.keep.exists() else []
    for name in asked.models.split(","):
        try:
            task = TASKS[name](asked.data)
        except FileNotFoundError as error:
            path = Path(error.filename).name
            print(f"\n{name}: left out. {path} does not come with the project; docs/reproduce.md says where it is published.")
            print("Give its directory by --data.")
            continue
        print(f"\n{task.name}, {task.metric}, {task.rounds} rounds: {communication(task)}\n")
        print(f"| people | ε a round | {' | '.join(WAYS)} | its true ε | no privacy |\n{'|---' * 7}|")
        for people in map(int, asked.people.split(",")):
            if people > task.most_people:
                continue
            epsilons = [epsilon for epsilon in EPSILONS if people <= MANY or epsilon <= ENOUGH_EPSILON]
            own = [row for row in rows if (row["task"], row["people"]) == (task.name, people)]
            if not own:
                own = list(study(task, people, epsilons, asked.seeds if people <= MANY else 1))
                rows += own
            if asked.keep:
                asked.keep.write_text(json.dumps(rows, indent=1), encoding="utf-8")
            print("\n".join(table(own)), flush=True)
    if asked.chart and rows:
        print(f"\nchart: {save(study_chart(rows), asked.chart)}")


if __name__ == "__main__":
    main()
