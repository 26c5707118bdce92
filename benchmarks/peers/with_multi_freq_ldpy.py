"""multi-freq-ldpy: a compiled function per user, and one that reads the list of all reports.

Its estimates are cut at zero and made to add up to one, so they are far from unbiased where users are few. The check
debiases its reports by hand; what the package itself makes of them is shown beside it.
"""

from __future__ import annotations

import math
from typing import Any

import xxhash
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client
from serving import Offer, kept_share, serve, truth_probability


class KaryResponse(Offer):
    def privatise(self, values: Any) -> Any:
        return [GRR_Client(value, self.k, self.epsilon) for value in values]

    def aggregate(self, reports: Any) -> Any:
        return GRR_Aggregator_MI(reports, self.k, self.epsilon)

    def estimate(self, reports: Any) -> float:
        return kept_share(reports.count(0) / len(reports), self.k, self.epsilon)


class OptimizedUnaryEncoding(Offer):
    optimal = True

    def privatise(self, values: Any) -> Any:
        return [UE_Client(value, self.k, self.epsilon, self.optimal) for value in values]

    def aggregate(self, reports: Any) -> Any:
        return UE_Aggregator_MI(reports, self.epsilon, self.optimal)

    def estimate(self, reports: Any) -> float:
        q = 1 / (1 + math.exp(self.epsilon if self.optimal else self.epsilon / 2))
        p = 0.5 if self.optimal else 1 - q
        return float((sum(bits[0] for bits in reports) / len(reports) - q) / (p - q))


class SymmetricUnaryEncoding(OptimizedUnaryEncoding):
    optimal = False


class LocalHashing(Offer):
    def privatise(self, values: Any) -> Any:
        return [LH_Client(value, self.k, self.epsilon) for value in values]

    def aggregate(self, reports: Any) -> Any:
        return LH_Aggregator_MI(reports, self.k, self.epsilon)

    def estimate(self, reports: Any) -> float:
        cells = round(math.exp(self.epsilon)) + 1
        supported = sum(cell == xxhash.xxh32("0", seed=int(hashed)).intdigest() % cells for cell, hashed in reports)
        p = truth_probability(cells, self.epsilon)
        return (supported / len(reports) - 1 / cells) / (p - 1 / cells)


if __name__ == "__main__":
    offers: dict[str, type[Offer]] = {
        "k-rr": KaryResponse,
        "oue": OptimizedUnaryEncoding,
        "sue": SymmetricUnaryEncoding,
        "olh": LocalHashing,
    }
    serve(offers, ["multi-freq-ldpy", "numpy", "numba", "xxhash"])
