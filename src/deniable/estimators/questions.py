"""What is usually asked about answers of a kind: decided here for the command line, the collector and notebooks."""

from __future__ import annotations

from typing import Literal

from deniable.core import Binary, Categories, Circle, Domain, Interval, ItemSet, KeyValue, Text, Whole

Question = Literal[
    "frequency",
    "mean",
    "quantiles",
    "distribution",
    "direction",
    "heavy-hitters",
    "items",
    "sizes",
    "keys",
    "key-means",
    "key-distributions",
]


def usual_questions(domain: Domain) -> tuple[Question, ...]:
    """The questions that suit a domain, the most usual one first; none where only a map or a single field tells something.

    >>> from deniable.core import Categories, Interval
    >>> usual_questions(Categories(["yes", "no"]))
    ('frequency',)
    >>> usual_questions(Interval(0, 100))
    ('mean', 'quantiles', 'distribution')
    """
    if isinstance(domain, Binary | Categories):
        return ("frequency",)
    if isinstance(domain, Circle):
        return ("direction", "distribution")
    if isinstance(domain, Interval):
        return ("mean", "quantiles", "distribution")
    if isinstance(domain, Text | Whole):
        return ("heavy-hitters",)
    if isinstance(domain, ItemSet):
        return ("items", "sizes")
    if isinstance(domain, KeyValue):
        return ("keys", "key-means", "key-distributions")
    return ()
