"""Is the planner's pick the best candidate? Random questions about every task, every candidate simulated.

    python benchmarks/planning.py [--questions 200] [--deviation 0.006] [--json]

Every candidate is run as real surveys of people with the mechanism itself: first a few, then, for those that may still be
the best (three standard errors of both apart), more, until the standard error of a simulated error is about `deviation` of it.
The pick counts as good when its simulated error is at most 2 % above the least one. The least of several noisy numbers is
too low, so with a large `deviation` the share of good picks comes out too small, never too large by much. Questions are
drawn by a fixed generator: equal runs ask equal questions.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from typing import Any

import numpy as np

from deniable.core import Categories, Interval, Rectangle, Whole
from deniable.planning import TASKS, Candidate, Plan, Question, Simulated, plan

WITHIN = 1.02
ROUNDS = (0.1, 0.03, 0.012)
"""How exactly candidates are measured before the last round, in which only those that may be best are left."""
APART = 3
FIRST = 40
MOST_RUNS = {"test": 1_000_000}
USUAL_MOST = 40_000


def questions(count: int) -> list[Question]:
    """Questions of all tasks in turn: shares of one and of several attributes, means (even and worst), and the others."""
    draw = np.random.Generator(np.random.PCG64(2024))
    grid = Rectangle(Interval(0, 1, cells=16), Interval(0, 1, cells=16))
    found = []
    for number in range(count):
        epsilon = round(float(np.exp(draw.uniform(math.log(0.3), math.log(5)))), 3)
        users = int(draw.integers(100, 500))
        kind = number % 13
        made: dict[str, Any]
        if kind < 4:
            made = {"task": "frequency", "domain": Categories(int(2 ** draw.uniform(1, 7)))}
        elif kind < 7:
            made = {"task": "mean", "domain": Interval(0, 1, cells=1 << 14), "data": "worst" if kind == 6 else "even"}
        elif kind == 7:
            made = {"task": "frequency", "domain": Categories(int(draw.integers(2, 9))), "attributes": int(draw.integers(2, 4))}
        elif kind == 8:
            made = {"task": "distribution", "domain": Interval(0, 1, cells=4096), "bins": int(draw.choice([4, 8]))}
            users = 1000
        elif kind == 9:
            made, users = {"task": "location", "domain": grid}, 4000
        elif kind == 10:
            level = round(float(draw.uniform(0.1, 0.9)), 2)
            made = {"task": "quantile", "domain": Interval(0, 1, cells=1024), "bins": int(draw.choice([4, 8])), "level": level}
            users = int(draw.integers(300, 1000))
        elif kind == 11:
            made = {"task": "heavy-hitters", "domain": Whole(int(draw.integers(10, 17))), "words": int(draw.integers(2, 7))}
            epsilon, users = round(float(draw.uniform(2, 5)), 3), int(draw.integers(4000, 8000))
        else:
            first, second = (shares(draw, number % 4 + 2) for _ in range(2))
            made = {"task": "test", "domain": Categories(len(first)), "hypotheses": (first, second)}
            epsilon = max(epsilon, 0.5)
            # As many users as make the test err now and then: an error that never happens cannot be simulated.
            users = plan(Question(**made, epsilon=epsilon, target_error=float(draw.uniform(0.1, 0.3)))).users
        found.append(Question(**made, users=users, epsilon=epsilon))
    return found


def shares(draw: np.random.Generator, size: int) -> list[str]:
    """Random shares in hundredths, none of them 0, that add up to 1."""
    cuts = np.sort(draw.choice(np.arange(1, 100), size - 1, replace=False))
    parts = np.diff(np.concatenate([[0], cuts, [100]]))
    return [f"{part / 100:.2f}" for part in parts]


def measured(one: Candidate, task: str, last: Simulated | None, deviation: float) -> Simulated:
    """The simulated error, as exactly as asked for; `last` is an earlier, rougher one."""
    if last is None:
        return one.way.simulated(one.users, FIRST)
    relative = last.standard_error / last.error if last.error and last.standard_error else 1.0
    runs = min(MOST_RUNS.get(task, USUAL_MOST), math.ceil(last.runs * (relative / deviation) ** 2))
    return one.way.simulated(one.users, runs) if runs > last.runs else last


def spread(found: Simulated) -> float:
    """The standard error; in surveys without a single wrong decision, one wrong decision."""
    return found.standard_error if found.error else 1 / found.runs


def judged(made: Plan, deviation: float) -> tuple[float, str, int]:
    """How far the pick is above the best, the best one's name, and how many candidates were looked at to the last."""
    left: dict[str, Candidate] = {}
    for one in made.candidates:
        # The same law under two names (pm and pm-c, for instance) need not be run twice.
        left.setdefault(f"{one.predicted_error:.5g}", one)
    errors: dict[str, Simulated] = {}
    for wanted in (1.0, *ROUNDS, deviation):
        if errors and len(left) == 1:
            break
        for one in left.values():
            errors[one.label] = measured(one, made.question.task, errors.get(one.label), wanted)
        least = min(errors[one.label].error + APART * spread(errors[one.label]) for one in left.values())
        left = {
            key: one
            for key, one in left.items()
            if one is made.pick or errors[one.label].error - APART * spread(errors[one.label]) <= least
        }
    best = min((one.label for one in left.values()), key=lambda label: errors[label].error)
    if best == made.pick.label:
        return 1.0, best, len(left)
    return errors[made.pick.label].error / max(errors[best].error, 1 / errors[best].runs), best, len(left)


def main() -> None:
    """Ask, simulate, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--deviation", type=float, default=0.006)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    begin = time.process_time()
    rows: list[dict[str, Any]] = []
    for number, question in enumerate(questions(given.questions)):
        made = plan(question)
        above, best, left = judged(made, given.deviation)
        judgement = {"pick": made.pick.label, "best": best, "above": above - 1, "good": above <= WITHIN}
        rows.append({"task": question.task, **judgement, "candidates": len(made.candidates), "to_the_last": left})
        print(f"{number + 1} of {given.questions}: {question.task}, {made.pick.label}, {100 * above - 100:.1f} %", file=sys.stderr)
    seconds = time.process_time() - begin
    good = sum(bool(row["good"]) for row in rows)
    if given.json:
        print(
            json.dumps(
                {"questions": len(rows), "good": good, "share": good / len(rows), "seconds": seconds, "rows": rows}, indent=1
            )
        )
        return
    print("| task | questions | pick within 2 % of the best | worst pick |\n|---|---|---|---|")
    for task in TASKS:
        about = [row for row in rows if row["task"] == task]
        if about:
            within, worst = sum(bool(row["good"]) for row in about), max(row["above"] for row in about)
            print(f"| {task} | {len(about)} | {within} | {100 * worst:.1f} % above |")
    print(f"| **all** | **{len(rows)}** | **{good}** | |")
    for row in rows:
        if not row["good"]:
            print(f"{row['task']}: picked {row['pick']}, {row['best']} was {100 * row['above']:.1f} % better")
    print(f"{good} of {len(rows)} picks within 2 % of the best candidate ({seconds:.0f} s of processor time)")


if __name__ == "__main__":
    main()
