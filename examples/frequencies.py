"""Which airline did you fly with? Four mechanisms at the same ε, on 336,776 real flights: python examples/frequencies.py"""

from __future__ import annotations

import numpy as np

from deniable import Categories, HadamardResponse, KaryRandomizedResponse, OptimizedUnaryEncoding, SubsetSelection
from deniable.cli.flights import flights
from deniable.estimators import shares

EPSILON = 1


def main() -> None:
    """Ask everyone, estimate, compare with the truth."""
    truth = flights().carrier
    airlines = Categories(sorted(set(truth.tolist())))
    real = np.array([(truth == name).mean() for name in airlines.labels or ()])
    print(f"{len(truth):,} people, {airlines.size} airlines, epsilon = {EPSILON}")
    for kind in (KaryRandomizedResponse, HadamardResponse, OptimizedUnaryEncoding, SubsetSelection):
        question = kind(domain=airlines, epsilon=EPSILON)
        estimate = shares(question.randomize_many(truth))
        low, high = estimate.interval()
        inside = int(((low <= real) & (real <= high)).sum())
        error = float(np.sqrt(np.mean((estimate.value - real) ** 2)))
        print(
            f"{question.name:9} root mean squared error {error:.5f}, {inside} of {airlines.size} truths inside their 95 % intervals"
        )


if __name__ == "__main__":
    main()
