"""opendp: measurements that work on a whole vector where it has them, and one call per user where it does not.

Randomized response on two values runs on one packed vector of all users' bits (make_randomized_response_bitvec), which is
hundreds of times faster than its function for one bool. Symmetric unary encoding is the same measurement on each user's
vector (weight 1), as its documentation builds RAPPOR. Laplace noise is added to one vector of all users' numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import opendp.prelude as dp
from serving import Numeric, Offer, kept_share, serve, truth_probability

dp.enable_features("contrib")


def flipping(probability: float, weight: int) -> Any:
    """Every bit is flipped with this probability; the package's own parameter is twice that."""
    return dp.m.make_randomized_response_bitvec(dp.bitvector_domain(max_weight=weight), dp.discrete_distance(), f=2 * probability)


class KaryResponse(Offer):
    aggregates = False

    def __init__(self, k: int, epsilon: float) -> None:
        super().__init__(k, epsilon)
        if k == 2:
            self.measurement = flipping(1 - truth_probability(2, epsilon), 1)
        else:
            self.measurement = dp.m.make_randomized_response(list(range(k)), truth_probability(k, epsilon))

    def values(self, n: int) -> Any:
        values = super().values(n)
        return np.packbits(values).tobytes() if self.k == 2 else values

    def privatise(self, values: Any) -> Any:
        return self.measurement(values) if self.k == 2 else [self.measurement(value) for value in values]

    def estimate(self, reports: Any) -> float:
        if self.k == 2:
            reports = np.unpackbits(np.frombuffer(reports, np.uint8))
        return kept_share(float((np.asarray(reports) == 0).mean()), self.k, self.epsilon)


class SymmetricUnaryEncoding(Offer):
    def __init__(self, k: int, epsilon: float) -> None:
        super().__init__(k, epsilon)
        self.flip = 1 / (1 + math.exp(epsilon / 2))
        self.measurement = flipping(self.flip, 1)
        # Its estimates count the bits of a byte from the lowest one.
        self.encoded = [np.packbits(row, bitorder="little").tobytes() for row in np.eye(k, dtype=np.uint8)]

    def privatise(self, values: Any) -> Any:
        return [self.measurement(self.encoded[value]) for value in values]

    def aggregate(self, reports: Any) -> Any:
        found = np.asarray(dp.m.debias_randomized_response_bitvec(reports, 2 * self.flip))
        return found[: self.k] / len(reports)


class Laplace(Numeric):
    aggregates = False

    def __init__(self, k: int, epsilon: float) -> None:
        super().__init__(k, epsilon)
        space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
        self.measurement = dp.m.make_laplace(*space, scale=1 / epsilon)

    def privatise(self, values: Any) -> Any:
        return self.measurement(values)


if __name__ == "__main__":
    serve({"k-rr": KaryResponse, "sue": SymmetricUnaryEncoding, "laplace": Laplace}, ["opendp", "numpy"])
