"""Which mechanism, how much ε, how many people? python examples/planning_a_survey.py"""

from __future__ import annotations

from deniable import Categories
from deniable.planning import Question, plan


def main() -> None:
    """A thousand categories, a hundred thousand people: rank, then ask the inverse question."""
    found = plan(Question(task="frequency", domain=Categories(1000), users=100_000, epsilon=1))
    for candidate in found.candidates[:4]:
        print(f"{candidate.mechanism:11} error {candidate.predicted_error:.5f}, {candidate.bytes_per_report} bytes")
    print(f"pick: {found.pick.mechanism}")
    inverse = plan(Question(task="frequency", domain=Categories(1000), users=100_000, half_width=0.005))
    print(f"for intervals of ± 0.005 the smallest epsilon is {float(inverse.epsilon):.3f}")


if __name__ == "__main__":
    main()
