"""What several answers cost, and what a crowd adds: python examples/accounting.py"""

from __future__ import annotations

from deniable import RandomizedResponse
from deniable.privacy import attained_epsilon, basic, composed_epsilon, in_words, shuffled_epsilon


def main() -> None:
    """A hundred answers of one person; then a million people whose senders are taken off."""
    levels = ["0.1"] * 100
    print(
        f"100 answers at 0.1: epsilon {float(basic(levels)):g} always, {composed_epsilon(levels, 1e-6):.3f} save once in a million"
    )
    upper, lower = shuffled_epsilon(RandomizedResponse(epsilon=1), 1_000_000, 1e-6), attained_epsilon(2, 1, 1_000_000, 1e-6)
    print(f"a million yes-or-no reports at epsilon 1, shuffled: at most {upper:.4f}; nothing below {lower:.4f} is true")
    print("\n".join(in_words(1)))


if __name__ == "__main__":
    main()
