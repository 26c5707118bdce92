"""The best possible mechanism for a number, and how far the published ones are from it: python examples/optimal_design.py"""

from __future__ import annotations

from deniable import OGPM, Interval, Laplace
from deniable.estimators import worst_case
from deniable.planning import design


def main() -> None:
    """Worst-case absolute error at ε = 2: closed forms, the optimum, and the bound."""
    unit = Interval(0, 1)
    best = design(domain=unit, loss="absolute", epsilon=2)
    for mechanism in (Laplace(domain=unit, epsilon=2), OGPM(domain=unit, epsilon=2)):
        print(f"{mechanism.name:18} {worst_case(mechanism).error:.5f}")
    print(f"{'designed':18} {best.worst_case:.5f}")
    print(f"{'no mechanism below':18} {best.lower_bound:.5f}")


if __name__ == "__main__":
    main()
