"""Make walks.csv again: 120 made-up people in a made-up town, who walk between a station, a market and a park.

Run it here: python examples/trajectories/make_walks.py
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

CENTRES = {"station": (10.012, 50.008), "market": (10.035, 50.018), "park": (10.055, 50.034)}
WEST, SOUTH, EAST, NORTH = 10.0, 50.0, 10.07, 50.045
PEOPLE, STOPS = 120, (8, 30)
MINUTES = 25


def main() -> None:
    """Homes at random; every walk goes from home to one centre after the other, with a few steps in between."""
    drawn = np.random.default_rng(2026)
    centres = list(CENTRES.values())
    path = Path(__file__).with_name("walks.csv")
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["user", "latitude", "longitude", "time"])
        for person in range(PEOPLE):
            at = np.array([drawn.uniform(WEST, EAST), drawn.uniform(SOUTH, NORTH)])
            goal = np.array(centres[drawn.integers(3)])
            minute = int(drawn.integers(6 * 60, 11 * 60))
            for _ in range(int(drawn.integers(*STOPS))):
                place = np.clip(at + drawn.normal(0, 0.0012, 2), (WEST, SOUTH), (EAST, NORTH))
                clock = f"2026-05-{4 + minute // 1440:02d}T{minute // 60 % 24:02d}:{minute % 60:02d}:00Z"
                rows.writerow([f"person-{person:03d}", f"{place[1]:.5f}", f"{place[0]:.5f}", clock])
                at = at + 0.35 * (goal - at)
                if np.abs(goal - at).max() < 0.002:
                    goal = np.array(centres[drawn.integers(3)])
                minute += int(drawn.integers(5, MINUTES))
    print(f"{path.name}: {sum(1 for _ in path.open(encoding='utf-8')) - 1:,} places of {PEOPLE} people")


if __name__ == "__main__":
    main()
