"""How late did you arrive? Mean, quantiles and distribution of 327,346 real delays: python examples/delays.py"""

from __future__ import annotations

import numpy as np

from deniable import HybridMechanism, Interval, SquareWave
from deniable.cli.flights import flights
from deniable.estimators import distribution, mean, quantiles

EPSILON = 2
RANGE = Interval(-60, 180)


def main() -> None:
    """One question for the mean, another for the shape: each person answers one of them."""
    delays = flights().arr_delay
    delays = np.clip(delays[np.isfinite(delays)], -60, 180)
    half = len(delays) // 2
    found = mean(HybridMechanism(domain=RANGE, epsilon=EPSILON).randomize_many(delays[:half]))
    low, high = found.interval()
    print(f"mean delay {float(found.value):.2f} minutes ({float(low):.2f} to {float(high):.2f}); truth {delays[:half].mean():.2f}")
    reports = SquareWave(domain=RANGE, epsilon=EPSILON).randomize_many(delays[half:])
    levels = [0.25, 0.5, 0.75, 0.9]
    estimate = quantiles(reports, levels)
    for level, ours, real in zip(levels, np.asarray(estimate.value), np.quantile(delays[half:], levels), strict=True):
        print(f"{level:.0%} arrived within {ours:6.1f} minutes; truth {real:6.1f}")
    shape = distribution(reports, bins=24)
    print(f"the fullest of 24 bins holds {float(np.max(shape.value)):.1%} of the people")


if __name__ == "__main__":
    main()
