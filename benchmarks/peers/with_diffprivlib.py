"""diffprivlib: mechanism objects that randomise one value per call; it has no collector for their reports.

Binary is randomized response on two values. With the same utility for every pair, ExponentialCategorical is k-RR; it needs
every pair listed, so larger k are not tried.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

from diffprivlib.mechanisms import Binary, ExponentialCategorical
from diffprivlib.mechanisms import Laplace as LaplaceMechanism
from serving import Numeric, Offer, kept_share, serve


class KaryResponse(Offer):
    aggregates = False
    most = 200

    def __init__(self, k: int, epsilon: float) -> None:
        super().__init__(k, epsilon)
        self.labels = [f"value {i}" for i in range(k)]
        if k == 2:
            self.mechanism = Binary(epsilon=epsilon, value0=self.labels[0], value1=self.labels[1])
        else:
            pairs = [(*pair, 1.0) for pair in combinations(self.labels, 2)]
            self.mechanism = ExponentialCategorical(epsilon=epsilon, utility_list=pairs)

    def values(self, n: int) -> Any:
        return [self.labels[value] for value in super().values(n)]

    def privatise(self, values: Any) -> Any:
        randomise = self.mechanism.randomise
        return [randomise(value) for value in values]

    def estimate(self, reports: Any) -> float:
        return kept_share(reports.count(self.labels[0]) / len(reports), self.k, self.epsilon)


class Laplace(Numeric):
    aggregates = False

    def __init__(self, k: int, epsilon: float) -> None:
        super().__init__(k, epsilon)
        self.mechanism = LaplaceMechanism(epsilon=epsilon, sensitivity=1)

    def privatise(self, values: Any) -> Any:
        randomise = self.mechanism.randomise
        return [randomise(value) for value in values]


if __name__ == "__main__":
    serve({"k-rr": KaryResponse, "laplace": Laplace}, ["diffprivlib", "numpy", "scikit-learn"])
