"""The page "What is optimal?", written from designs made on the spot."""

from __future__ import annotations

import math

from deniable.core import Circle, Domain, Interval
from deniable.planning import Answer, design, limit_of_worst

LEVELS = ("0.1", "0.5", "1", "2", "4", "6", "8", "10")
QUESTIONS: dict[str, tuple[Domain, str, str, bool]] = {
    "Worst-case absolute error on [0, 1]": (Interval(0, 1), "absolute", "worst", False),
    "Worst-case squared error on [0, 1]": (Interval(0, 1), "squared", "worst", False),
    "Average absolute error on [0, 1], uniform prior": (Interval(0, 1), "absolute", "uniform", False),
    "Average squared error on [0, 1], uniform prior": (Interval(0, 1), "squared", "uniform", False),
    "Worst-case variance of an unbiased mechanism on [0, 1]": (Interval(0, 1), "squared", "worst", True),
    "Worst-case squared error on the circle, in radians": (Circle(), "squared", "worst", False),
}
"""Domain, loss, prior, and whether the mean has to be right, by title."""
LARGE_FROM = 4

TOP = """# What is optimal?

For every question below: the published mechanism, the best one this package finds, and a bound that **no** mechanism
with this ε can beat, whatever its outputs. The error is that of the integer mechanism itself, computed at every value;
the bound is proved by the multipliers of a linear program, or in closed form. A ratio of 1 between the two is the best there is.

Ask your own question with `deniable design --domain interval --loss absolute --epsilon 2`.

Written by `deniable design --table`. The picture shows the same numbers: by how much a mechanism's error exceeds the bound, which
is what is left to gain (`python docs/gap_chart.py` draws it from the tables).

![What is left to gain over epsilon, for six questions: published mechanisms and the best ones here](images/what-is-left.svg)
"""

BOTTOM = """
## How it is done

Take any mechanism, and let g(y) be the least of its densities at output y over all private values. Privacy says that every density
lies between g and e^ε·g. For a given g the best density for x is simple: raise the outputs of least loss to e^ε·g until the
total is 1. So only g is unknown, and the least worst-case error is a linear program in g with one constraint for each x and
each loss level. It is solved by cutting planes in a second or so; the module `deniable.planning.designs.cutting_planes` says how.

The multipliers of the constraints prove the bound. They are checked for outputs anywhere in the domain, not only on the program's
grid: `deniable.planning.designs.lower_bound` says how. For worst-case absolute and squared error from ε = 3.5 on there are two
smooth programs, one for the mechanism and one for the bound; the multipliers of the second are rounded to integers, and integers
decide what they prove (`deniable.planning.designs.exact_bound`). The reference is then rounded to integers, too; rows are filled
from the integers, so the privacy of the rounded mechanism is exact, and its error is measured, not assumed.

With `--prior 3,2,1` the error counts on average under these weights of equal cells, while ε holds for all pairs of values.

At a single value x0 the question has a silly answer: always report x0. There `--prior at:X` returns the best window instead, and
says that the bound is 0.
"""


LARGE = """
## As ε grows

The least worst-case error on [0, 1] tends to a constant times e^(-ε/2) for absolute error, and to another times e^(-2ε/3) for
squared error; `proofs/large-epsilon.md` derives both, with the shape of the best reference. They are limits, not bounds:
`deniable design` shows them as predictions from ε = 6 on. Below: the errors and bounds of the first two tables, times
e^(ε/2) and e^(2ε/3).

| ε | absolute: error, bound (limit {absolute:.5f}) | squared: error, bound (limit {squared:.5f}) |
|---|---|---|
"""


def page() -> str:
    """The whole page in Markdown."""
    answers = {(title, level): answer(title, level) for title in QUESTIONS for level in LEVELS}
    parts = [TOP]
    for title in QUESTIONS:
        parts.append(f"\n## {title}\n\n| ε | published | best | bound | ratio | mechanism |\n|---|---|---|---|---|---|\n")
        parts += [line(level, answers[title, level]) for level in LEVELS]
    absolute, squared = list(QUESTIONS)[:2]
    parts.append(LARGE.format(absolute=limit_of_worst(1).constant, squared=limit_of_worst(2).constant))
    parts += [multiples(level, answers[absolute, level], answers[squared, level]) for level in LEVELS if float(level) >= LARGE_FROM]
    return "".join([*parts, BOTTOM])


def answer(title: str, level: str) -> Answer:
    """The design of one line."""
    domain, loss, prior, unbiased = QUESTIONS[title]
    return design(domain, loss, level, prior, unbiased)


def line(level: str, best: Answer) -> str:
    """One line of a table."""
    published = f"{best.published['worst_case']:.5g} (`{best.published['name']}`)"
    numbers = f"{best.worst_case:.5g} | {best.lower_bound:.5g} | {best.gap:.4f}"
    return f"| {level} | {published} | {numbers} | `{best.mechanism.name}` |\n"


def multiples(level: str, absolute: Answer, squared: Answer) -> str:
    """Errors and bounds as multiples of what they tend to fall like."""
    cells = []
    for best, rate in ((absolute, 1 / 2), (squared, 2 / 3)):
        grown = math.exp(rate * float(level))
        cells.append(f"{best.worst_case * grown:.4f}, {best.lower_bound * grown:.4f}")
    return f"| {level} | {cells[0]} | {cells[1]} |\n"
