"""Do the planner's half-widths of a histogram's intervals agree with surveys? Predicted and simulated, side by side.

    python benchmarks/shown_widths.py [--quick] [--runs 8] [--side-by-side]

Every row is one mechanism, epsilon, number of people and number of bins; people are spread evenly. The last column is the simulated
half-width over the predicted one: within 10 % of 1, or the row says so. What looks farther away is simulated five times as often,
since widths of few surveys scatter. Takes some minutes, `--quick` less than one.
`--side-by-side` simulates nothing: the predicted half-widths of 16 bins, a column for every mechanism, the shortest in bold.
"""

# ruff: noqa: E402  # threads and paths are set before the imports that look at them
from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path[:] = [place for place in sys.path if Path(place or ".").resolve() != Path(__file__).resolve().parent]

import argparse
from collections.abc import Iterator

from deniable.core import Epsilon, Interval
from deniable.planning import Question, Way, ways

WITHIN = 0.1
AGAIN = 5
NAMES = ("sw", "window", "pm", "pm-c", "subset", "k-rr", "hadamard", "oue", "hierarchical-histogram")


def settings(*, quick: bool) -> Iterator[Question]:
    """Epsilon, people and bins."""
    for epsilon in (1.0, 4.0) if quick else (0.5, 1.0, 2.0, 4.0):
        for users in (2_000,) if quick else (500, 5_000, 50_000):
            for bins in (12,) if quick else (4, 12, 16):
                yield Question(task="distribution", domain=Interval(0, 1), users=users, epsilon=epsilon, bins=bins)


def side_by_side() -> Iterator[str]:
    """Lines of Markdown."""
    yield f"| ε | people | {' | '.join(NAMES)} |"
    yield f"|---|---|{'---|' * len(NAMES)}"
    for epsilon in (0.5, 1.0, 2.0, 4.0):
        for users in (1_000, 10_000, 100_000):
            question = Question(task="distribution", domain=Interval(0, 1), users=users, epsilon=epsilon, bins=16)
            assert isinstance(question.epsilon, Epsilon)
            every = (way for way in ways(question, question.epsilon, slow=False) if isinstance(way, Way) and way.name in NAMES)
            half = {way.name: way.predict(users).error for way in every}
            shown = {name: f"{width:.3f}" if width > min(half.values()) else f"**{width:.3f}**" for name, width in half.items()}
            yield f"| {epsilon:g} | {users:,} | {' | '.join(shown.get(name, '–') for name in NAMES)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--side-by-side", action="store_true")
    chosen = parser.parse_args()
    if chosen.side_by_side:
        for line in side_by_side():
            print(line, flush=True)
        return
    print("| mechanism | ε | people | bins | predicted | simulated | simulated / predicted |")
    print("|---|---|---|---|---|---|---|")
    far = count = 0
    for question in settings(quick=chosen.quick):
        assert isinstance(question.epsilon, Epsilon)
        assert question.users is not None
        for way in ways(question, question.epsilon, slow=False):
            if not isinstance(way, Way) or way.name not in NAMES:
                continue
            predicted = way.predict(question.users).error
            runs = 3 if chosen.quick else chosen.runs
            simulated = way.simulated(question.users, runs).error
            if abs(simulated / predicted - 1) > WITHIN:
                simulated = way.simulated(question.users, AGAIN * runs).error
            ratio = simulated / predicted
            far, count = far + (abs(ratio - 1) > WITHIN), count + 1
            mark = "" if abs(ratio - 1) <= WITHIN else " (beyond 10 %)"
            at = f"{float(question.epsilon):g} | {question.users:,} | {question.bins}"
            print(f"| {way.name} | {at} | {predicted:.4f} | {simulated:.4f} | {ratio:.3f}{mark} |", flush=True)
    print(f"\n{far} of {count} beyond 10 %")


if __name__ == "__main__":
    main()
