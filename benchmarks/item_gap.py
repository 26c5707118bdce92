"""How far the mechanisms for sets are from the best there can be: python benchmarks/item_gap.py

Shares of items are linear questions about the shares of whole sets. For few items the best channel for these questions is
designed, with a bound that no mechanism passes; the mechanisms' own errors stand beside it. All errors are mean squared errors
of an item's share, times the number of people, for people spread evenly over all sets, beyond what drawing the people adds.
"""

from __future__ import annotations

import sys

import numpy as np

from deniable.core import ItemSet, make_mechanism, mechanisms_for
from deniable.estimators import item_noise
from deniable.planning import Workload, design_workload

CASES = [(3, 1, 1.0), (3, 2, 1.0), (4, 2, 1.0), (4, 2, 2.0), (3, 3, 1.0), (4, 1, 3.0)]


def questions(domain: ItemSet) -> Workload:
    """Which sets hold each item."""
    holds = np.array(
        [[item in domain.members(index) for index in range(domain.size)] for item in range(domain.items.size)], np.int64
    )
    return Workload("items", len(holds), holds.T @ holds, lambda: holds)


def gap(items: int, most: int, epsilon: float) -> dict[str, float]:
    """Error times people of every mechanism, of the design, and the bound."""
    domain = ItemSet(items, at_most=most)
    designed = design_workload(questions(domain), epsilon)
    assert designed.lower_bound is not None
    shares = [sum(item in domain.members(index) for index in range(domain.size)) / domain.size for item in range(items)]
    errors = {}
    for kind in mechanisms_for("items", domain):
        mechanism = make_mechanism(kind.name, domain=domain, epsilon=epsilon)
        errors[kind.name] = sum(item_noise(mechanism, share) for share in shares) / items
    return {**errors, "designed": designed.error / items, "lower bound": designed.lower_bound / items}


def main() -> None:
    for items, most, epsilon in CASES:
        errors = gap(items, most, epsilon)
        least = errors["lower bound"]
        shown = "  ".join(f"{name} {error:.3f} ({error / least:.3f}x)" for name, error in errors.items())
        sys.stdout.write(f"{items} items, at most {most}, epsilon {epsilon:g}: {shown}\n")


if __name__ == "__main__":
    main()
