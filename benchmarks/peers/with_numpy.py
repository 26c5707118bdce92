"""Naive numpy: what one would write in ten minutes, with float thresholds and numpy's own generator.

Vectorised, but neither exact nor from a secure generator. The window mechanisms have deniable's own parameters, as floats.
The counting of k-RR and the bits of unary encoding are numpy's own passes over the same arrays.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from serving import Numeric, Offer, serve, truth_probability

from deniable.core import make_mechanism

GENERATOR = np.random.Generator(np.random.PCG64())


class Array(Offer):
    def values(self, n: int) -> Any:
        values = np.arange(n) // 2 % self.k
        values[1::2] = 0
        return values

    def truth(self, n: int) -> float:
        return float((self.values(n) == 0).mean())


class KaryResponse(Array):
    def privatise(self, values: Any) -> Any:
        others = GENERATOR.integers(0, self.k - 1, len(values))
        others += others >= values
        return np.where(GENERATOR.random(len(values)) < truth_probability(self.k, self.epsilon), values, others)

    def aggregate(self, reports: Any) -> Any:
        p = truth_probability(self.k, self.epsilon)
        q = (1 - p) / (self.k - 1)
        return (np.bincount(reports, minlength=self.k) / len(reports) - q) / (p - q)


class Unary(Array):
    def probabilities(self) -> tuple[float, float]:
        return 0.5, 1 / (math.exp(self.epsilon) + 1)

    def privatise(self, values: Any) -> Any:
        p, q = self.probabilities()
        bits = GENERATOR.random((len(values), self.k)) < q
        bits[np.arange(len(values)), values] = GENERATOR.random(len(values)) < p
        return bits

    def aggregate(self, reports: Any) -> Any:
        p, q = self.probabilities()
        return (reports.mean(axis=0) - q) / (p - q)


class SymmetricUnaryEncoding(Unary):
    def probabilities(self) -> tuple[float, float]:
        q = 1 / (math.exp(self.epsilon / 2) + 1)
        return 1 - q, q


class Piecewise(Numeric):
    """With probability `inside` anywhere in the window around the value, else anywhere outside it."""

    aggregates = False
    name: str

    def __init__(self, k: int, epsilon: float) -> None:
        super().__init__(k, epsilon)
        mechanism: Any = make_mechanism(self.name, epsilon=epsilon)
        channel = mechanism.window if self.name == "pm" else mechanism.channel
        sets = channel.sets
        self.width = sets.members / sets.outputs
        self.inside = channel.high * sets.members / (channel.high * sets.members + channel.low * sets.others)
        self.move, self.start = sets.inputs / sets.outputs, sets.offset / sets.outputs
        self.least, self.last = sets.first / sets.outputs, sets.last / sets.outputs

    def values(self, n: int) -> Any:
        return np.resize(np.asarray(super().values(101)), n)

    def truth(self, n: int) -> float:
        """The share of reports within their windows: the mean of a sliding window is biased."""
        return float(self.inside)

    def estimate(self, reports: Any) -> float:
        left = self.left(self.values(len(reports)))
        return float(((reports >= left) & (reports < left + self.width)).mean())

    def left(self, values: Any) -> Any:
        """Where each window begins, as a share of the outputs."""
        return np.clip(values * self.move + self.start, self.least, self.last)

    def privatise(self, values: Any) -> Any:
        left = self.left(values)
        inside = left + self.width * GENERATOR.random(len(values))
        outside = (1 - self.width) * GENERATOR.random(len(values))
        outside = np.where(outside < left, outside, outside + self.width)
        return np.where(GENERATOR.random(len(values)) < self.inside, inside, outside)


class Laplace(Numeric):
    aggregates = False

    def values(self, n: int) -> Any:
        return np.resize(np.asarray(super().values(101)), n)

    def privatise(self, values: Any) -> Any:
        return values + GENERATOR.laplace(0, 1 / self.epsilon, len(values))


if __name__ == "__main__":
    offers: dict[str, type[Offer]] = {"k-rr": KaryResponse, "oue": Unary, "sue": SymmetricUnaryEncoding, "laplace": Laplace}
    offers |= {name: type(name, (Piecewise,), {"name": name}) for name in ("window", "pm", "sw")}
    serve(offers, ["numpy"])
