"""Is the planner's pick the best candidate? Random questions, every candidate simulated.

    python benchmarks/planning.py [--questions 200] [--deviation 0.006] [--json]

Every candidate within 10 % of the pick's predicted error is run as real surveys of people with the mechanism itself, until
the standard error of its simulated error is about `deviation` of it. The pick counts as good when its simulated error is at
most 2 % above the least one. The least of several noisy numbers is too low, so with a large `deviation` the share of good
picks comes out too small, never too large by much. Questions are drawn by a fixed generator: equal runs ask equal questions.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import Counter
from typing import Any

import numpy as np

from deniable.domains import Categories, Interval, Rectangle
from deniable.planning import Candidate, Plan, Question, plan

WITHIN = 1.02
NEAR = 1.10
FIRST = 40


def questions(count: int) -> list[Question]:
    """Frequencies, means (even and worst), several attributes, distributions and places."""
    draw = np.random.Generator(np.random.PCG64(2024))
    grid = Rectangle(Interval(0, 1, cells=16), Interval(0, 1, cells=16))
    found = []
    for number in range(count):
        epsilon = round(float(np.exp(draw.uniform(math.log(0.3), math.log(5)))), 3)
        users = int(draw.integers(100, 500))
        kind = number % 10
        made: dict[str, Any]
        if kind < 4:
            made = {"task": "frequency", "domain": Categories(int(2 ** draw.uniform(1, 7)))}
        elif kind < 7:
            made = {"task": "mean", "domain": Interval(0, 1, cells=1 << 14), "data": "worst" if kind == 6 else "even"}
        elif kind == 7:
            made = {"task": "frequency", "domain": Categories(int(draw.integers(2, 9))), "attributes": int(draw.integers(2, 4))}
        elif kind == 8:
            made = {"task": "distribution", "domain": Interval(0, 1, cells=4096), "bins": int(draw.choice([4, 8]))}
            users = 4000
        else:
            made = {"task": "location", "domain": grid}
        found.append(Question(**made, users=users, epsilon=epsilon))
    return found


def measured(one: Candidate, deviation: float) -> float:
    """The simulated error, as exactly as asked for."""
    users = 4000 if one.way.asked.domain.kind == "rectangle" else one.users
    first = one.way.simulated(users, FIRST)
    runs = min(20_000, math.ceil(FIRST * (first.standard_error / first.error / deviation) ** 2))
    return one.way.simulated(users, runs).error if runs > FIRST else first.error


def judged(made: Plan, deviation: float) -> tuple[float, str]:
    """How far the pick is above the best, and the best one's name."""
    near: dict[str, Candidate] = {}
    for one in made.candidates:
        if one.predicted_error <= NEAR * made.pick.predicted_error:
            # The same law under two names (pm and pm-c, for instance) need not be run twice.
            near.setdefault(f"{one.predicted_error:.5g}", one)
    errors = {one.label: measured(one, deviation) for one in near.values()}
    best = min(errors, key=lambda label: errors[label])
    return errors[made.pick.label] / errors[best], best


def main() -> None:
    """Ask, simulate, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--deviation", type=float, default=0.006)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    begin = time.perf_counter()
    rows: list[dict[str, Any]] = []
    for question in questions(given.questions):
        made = plan(question)
        above, best = judged(made, given.deviation)
        rows.append({"task": question.task, "pick": made.pick.label, "best": best, "above": above - 1, "good": above <= WITHIN})
    good = sum(bool(row["good"]) for row in rows)
    by_task = Counter(str(row["task"]) for row in rows if not row["good"])
    result = {"questions": len(rows), "good": good, "share": good / len(rows), "not_good_by_task": dict(by_task)}
    if given.json:
        print(json.dumps({**result, "rows": rows}, indent=1))
        return
    for row in rows:
        if not row["good"]:
            print(f"{row['task']}: picked {row['pick']}, {row['best']} was {100 * row['above']:.1f} % better")
    print(f"{good} of {len(rows)} picks within 2 % of the best candidate ({time.perf_counter() - begin:.0f} s)")


if __name__ == "__main__":
    main()
