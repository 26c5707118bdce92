"""The page "What is optimal?", written from designs made on the spot."""

from __future__ import annotations

from deniable.design import design
from deniable.domains import Circle, Domain, Interval

LEVELS = ("0.1", "0.5", "1", "2", "4", "6", "8", "10")
QUESTIONS: tuple[tuple[str, Domain, str, str, bool], ...] = (
    ("Worst-case absolute error on [0, 1]", Interval(0, 1), "absolute", "worst", False),
    ("Worst-case squared error on [0, 1]", Interval(0, 1), "squared", "worst", False),
    ("Average absolute error on [0, 1], uniform prior", Interval(0, 1), "absolute", "uniform", False),
    ("Average squared error on [0, 1], uniform prior", Interval(0, 1), "squared", "uniform", False),
    ("Worst-case variance of an unbiased mechanism on [0, 1]", Interval(0, 1), "squared", "worst", True),
    ("Worst-case squared error on the circle, in radians", Circle(), "squared", "worst", False),
)

TOP = """# What is optimal?

For every question below: the published mechanism, the best one this package finds, and a bound that **no** mechanism
with this ε can pass, whatever its outputs. The error is that of the integer mechanism itself, looked at for every value;
the bound is proved by the multipliers of a linear program, or in closed form. A gap of 1 is the best there is.

Ask your own question with `deniable design --domain interval --loss absolute --epsilon 2`.

Written by `deniable design --table`.
"""

BOTTOM = """
## How it is done

Take any mechanism, and let g(y) be the least of its densities at output y over all private values. Privacy says that every density
lies between g and e^ε·g. For a given g the best density for x is simple: raise the outputs of least loss to e^ε·g until the
total is 1. So only g is unknown, and the least worst-case error is a linear program in g with one constraint for each x and
each loss level. It is solved by cutting planes in a second or so; the module `deniable.design.cutting_planes` says how.

The multipliers of the constraints prove the bound. They are checked for outputs anywhere in the domain, not only on the program's
grid: `deniable.design.lower_bound` says how. The reference is then rounded to integers; rows are filled from the integers, so the
privacy of the rounded mechanism is exact, and its error is measured, not assumed.

At a single value x0 the question has a silly answer: always report x0. There `--prior at:X` returns the best window instead, and
says that the bound is 0.
"""


def page() -> str:
    """The whole page in Markdown."""
    parts = [TOP]
    for title, domain, loss, prior, unbiased in QUESTIONS:
        parts.append(f"\n## {title}\n\n| ε | published | best | bound | gap | mechanism |\n|---|---|---|---|---|---|\n")
        for level in LEVELS:
            found = design(domain, loss, level, prior, unbiased)
            published = f"{found.published['worst_case']:.5g} (`{found.published['name']}`)"
            numbers = f"{found.worst_case:.5g} | {found.lower_bound:.5g} | {found.gap:.4f}"
            parts.append(f"| {level} | {published} | {numbers} | `{found.mechanism.name}` |\n")
    return "".join([*parts, BOTTOM])
