"""deniable itself: randomize_many, and estimates with their covariance from the folded reports."""

from __future__ import annotations

from typing import Any

import numpy as np
from serving import Numeric, Offer, serve

import deniable
from deniable.batch import randomize_many
from deniable.core import make_mechanism
from deniable.estimators import mean, shares


class Ours(Offer):
    name: str

    def __init__(self, k: int, epsilon: float) -> None:
        super().__init__(k, epsilon)
        self.mechanism = make_mechanism(self.name, domain=deniable.Categories(k), epsilon=epsilon)

    def values(self, n: int) -> Any:
        values = np.arange(n) // 2 % self.k
        values[1::2] = 0
        return values

    def truth(self, n: int) -> float:
        return float((self.values(n) == 0).mean())

    def privatise(self, values: Any) -> Any:
        return randomize_many(self.mechanism, values)

    def aggregate(self, reports: Any) -> Any:
        return shares(reports).value


class OurNumeric(Numeric):
    name: str

    def __init__(self, k: int, epsilon: float) -> None:
        super().__init__(k, epsilon)
        self.mechanism = make_mechanism(self.name, epsilon=epsilon)

    def values(self, n: int) -> Any:
        return np.resize(np.asarray(super().values(101)), n)

    def privatise(self, values: Any) -> Any:
        return randomize_many(self.mechanism, values)

    def aggregate(self, reports: Any) -> Any:
        return [float(mean(reports).value)]

    def estimate(self, reports: Any) -> float:
        return float(mean(reports).value)


CATEGORICAL = ("k-rr", "oue", "sue", "olh", "hadamard")
NUMERIC = ("laplace", "pm", "sw", "window")

if __name__ == "__main__":
    offers: dict[str, type[Offer]] = {name: type(name, (Ours,), {"name": name}) for name in CATEGORICAL}
    offers |= {name: type(name, (OurNumeric,), {"name": name}) for name in NUMERIC}
    serve(offers, ["deniable", "numpy", "numba", "cryptography"])
