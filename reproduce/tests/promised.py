"""The artifacts of chapters 1 to 5, appendices B and C, the poster and the lecture that must exist."""

from __future__ import annotations

FIGURES = [
    "2.1",
    "3.2",
    *(f"4.{i}" for i in range(1, 7)),
    "b.1",
    "5.2",
    "5.4",
    *(f"5.{i}" for i in range(6, 18)),
    "c.1",
    "c.2",
    "c.3",
]
TABLES = ["1.1", "4.1", "4.2", "4.3", "5.1", "5.2"]
REQUIRED = [f"figure-{number}" for number in FIGURES]
REQUIRED += [f"table-{number}" for number in TABLES]
REQUIRED += [f"example-{number}" for number in range(1, 10)]
REQUIRED += ["appendix-c-2-5", "poster-regimes", "poster-total-variation"]
REQUIRED += ["lecture-central-and-local", "lecture-one-bit", "lecture-frequency-oracle"]
REQUIRED += ["beyond-optimal-window", "beyond-joint-three-epsilons"]
