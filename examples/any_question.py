"""Ranges of ages of bank customers, and census answers of which some are sensitive: python examples/any_question.py [FOLDER]

The two files are not part of the project (docs/reproduce.md says where they are published). FOLDER is ../shared/data beside the
repository when it is left out, or what DENIABLE_DATA names; without the files the example says so and ends.
"""

from __future__ import annotations

import csv
import os
import sys
from pathlib import Path

import numpy as np

from deniable import Categories, Privacy
from deniable.estimators import answers, combined_shares, tree_sums
from deniable.planning import best_hierarchy, design_unequal, workload

EPSILON = 1
YOUNGEST, AGES = 18, 64
SENSITIVE = (2, 3)
"""Group quarters: 0 household, 1 other household, 2 institution, 3 other group quarters."""


def column(path: Path, name: str) -> list[int]:
    """One column of whole numbers."""
    with path.open(encoding="utf-8", newline="") as file:
        return [int(float(row[name])) for row in csv.DictReader(file)]


def ages(folder: Path) -> None:
    """How many customers are between two ages? One report each answers every such question."""
    people = np.clip(column(folder / "bank_attrition.csv", "Age"), YOUNGEST, YOUNGEST + AGES - 1) - YOUNGEST
    tree = best_hierarchy("ranges", EPSILON, size=AGES)
    sums = tree_sums(tree.mechanism.randomize_many(people))
    print(f"bank: {len(people):,} customers, epsilon {EPSILON}, {tree.mechanism.name} with fan-outs {tree.mechanism.fan_outs}")
    print(f"  error {tree.error:.0f}; {tree.equal_shares:.0f} if every level were asked as often")
    for low, high in ((18, 30), (30, 45), (45, 65)):
        estimated = sums.range_share(low - YOUNGEST, high - YOUNGEST)
        first, last = (float(end) for end in estimated.interval())
        truth = float(((people >= low - YOUNGEST) & (people < high - YOUNGEST)).mean())
        print(f"  {low} to {high - 1}: {float(estimated.value):.3f}, 95 % interval {first:.3f} to {last:.3f}; true {truth:.3f}")


def quarters(folder: Path) -> None:
    """Living in an institution is nobody's business; living in a household is no secret."""
    people = np.array(column(folder / "census_2010_sample.csv", "GQ")) - 1
    promise = Privacy.sensitive(4, SENSITIVE, EPSILON)
    unequal = design_unequal("histogram", promise)
    equal = design_unequal("histogram", Privacy.uniform(4, EPSILON))
    print(f"census: {len(people):,} people")
    print("  " + promise.words(["household", "other household", "institution", "other quarters"]).replace("\n", "\n  "))
    print(f"  error {unequal.error:.3f} (no mechanism with this promise is below {unequal.lower_bound:.3f});")
    print(f"  if every answer were protected: {equal.error:.3f}")
    estimated = answers(unequal.mechanism.randomize_many(people), workload("histogram", 4))
    low, high = estimated.interval(method="exact")
    for value, share in enumerate(np.bincount(people, minlength=4) / len(people)):
        print(f"  {value}: {estimated.value[value]:.4f}, {low[value]:.4f} to {high[value]:.4f}; true {share:.4f}")
    # Half of the people accept a larger epsilon for all answers: both halves count, each by what it tells.
    domain = Categories(4)
    halves = [people[::2], people[1::2]]
    levels = [design_unequal("histogram", Privacy.uniform(4, level), domain=domain).mechanism for level in (EPSILON, 3)]
    both = combined_shares([one.randomize_many(half) for one, half in zip(levels, halves, strict=True)])
    print(
        f"  two levels, combined: {np.round(both.value, 4).tolist()}, standard errors {np.round(both.standard_error, 4).tolist()}"
    )


def main() -> None:
    """Both questions, on the files that are there."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("DENIABLE_DATA", beside))
    for name, show in (("bank_attrition.csv", ages), ("census_2010_sample.csv", quarters)):
        if (folder / name).exists():
            show(folder)
        else:
            print(f"{name} is not in the folder: give the folder that holds it; docs/reproduce.md says where it is published")


if __name__ == "__main__":
    main()
