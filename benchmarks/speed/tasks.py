"""What is measured: the same work for everyone, and how many users of ours it takes to be timed well."""

from __future__ import annotations

from dataclasses import dataclass

EPSILON = 1.0
LABELS = {
    "k-rr": "k-RR",
    "oue": "OUE",
    "sue": "SUE",
    "olh": "OLH",
    "hadamard": "Hadamard",
    "laplace": "Laplace",
    "pm": "PM",
    "sw": "SW",
    "window": "window",
}
NUMERIC = ("laplace", "pm", "sw", "window")


@dataclass(frozen=True)
class Task:
    """One row of the tables."""

    do: str
    mechanism: str
    k: int
    users: int
    """Ours. A peer gets as many as it can do in a fraction of a second."""

    @property
    def label(self) -> str:
        """For people."""
        return LABELS[self.mechanism] + ("" if self.mechanism in NUMERIC else f", k={self.k:,}")

    @property
    def key(self) -> str:
        """For files and bars."""
        return f"{self.do} {self.label}"


def _tasks(do: str, quick: bool) -> list[Task]:
    scale = 10 if quick else 1
    whole = 10_000_000 // scale
    sizes = [("k-rr", 2, whole), ("k-rr", 100, whole), ("k-rr", 10_000, whole)]
    sizes += [("oue", 100, 2_000_000 // scale), ("oue", 1000, 300_000 // scale)]
    sizes += [("sue", 100, 2_000_000 // scale), ("sue", 1000, 300_000 // scale)]
    sizes += [("olh", 1000, whole if do == "privatise" else 1_000_000 // scale), ("hadamard", 1000, whole)]
    sizes += [("laplace", 2, 2_000_000 // scale), ("pm", 2, whole), ("sw", 2, whole)]
    if do == "privatise":
        sizes += [("window", 2, whole)]
    return [Task(do, *size) for size in sizes]


def privatising(quick: bool) -> list[Task]:
    """From values to reports."""
    return _tasks("privatise", quick)


def aggregating(quick: bool) -> list[Task]:
    """From reports to estimates."""
    return _tasks("aggregate", quick)


def both_ways(quick: bool) -> list[Task]:
    """From values to estimates, the same number of users for everyone."""
    users = 100_000 if quick else 1_000_000
    return [Task("both", "k-rr", 100, users), Task("both", "oue", 100, users // 10)]
