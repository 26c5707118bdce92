"""Two people lie together so that their errors cancel; what does a partner learn? python examples/joint_answers.py"""

from __future__ import annotations

import numpy as np

from deniable.cli.flights import flights
from deniable.studies import account, answer_in_pairs, bounded_pair, estimate_ones, random_pairing


def main() -> None:
    """Was your flight more than an hour late? Pairs of real passengers, all three privacy numbers."""
    delays = flights().arr_delay
    late = (delays[np.isfinite(delays)] > 60).astype(np.uint8)
    late = late[: len(late) // 2 * 2]
    pair = bounded_pair(1, 2)
    reports = answer_in_pairs(pair, late[random_pairing(len(late))])
    found = estimate_ones(pair, int(reports.sum()), len(late))
    low, high = found.interval()
    print(f"{len(late):,} people, {late.sum():,} were late; estimate {found.value[1]:,.0f} ({low[1]:,.0f} to {high[1]:,.0f})")
    privacy = account(pair, len(late), len(late) // 100)
    print(
        f"epsilon against strangers {privacy.epsilon_marginal:.3f}, against 1 % colluders who do not know the pairs "
        f"{privacy.epsilon_secret_pairing:.3f}, against your partner {privacy.epsilon_known_pairing:.3f}"
    )


if __name__ == "__main__":
    main()
