"""The same question every week: what a memo saves, and what an attacker who averages sees: python examples/repeated_answers.py"""

from __future__ import annotations

from deniable import Categories, KaryRandomizedResponse
from deniable.privacy import repeated

WEEKS = 52


def main() -> None:
    """One person's answers of a year, afresh and from a memo."""
    question = KaryRandomizedResponse(domain=Categories(["yes", "no"]), epsilon=1)
    cost = repeated(1, WEEKS)
    afresh = [question.randomize("yes").output for _ in range(WEEKS)]
    memo = [question.randomize("yes").output] * WEEKS
    for name, answers, epsilon in (("afresh", afresh, cost.afresh), ("memo", memo, cost.memo)):
        print(f"{name:7} 'yes' in {answers.count(0)} of {WEEKS} weeks; epsilon in all: {epsilon}")
    print("Fresh answers betray the person: the majority is right. One answer repeated stays as deniable as the first.")


if __name__ == "__main__":
    main()
