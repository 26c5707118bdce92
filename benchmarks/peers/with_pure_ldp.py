"""pure-ldp: one client object privatises user after user, one server object takes report after report."""

from __future__ import annotations

from typing import Any

from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer
from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer
from serving import Offer, serve


class PureLDP(Offer):
    """Values are numbered from 1; the estimates are counts."""

    client: Any
    server: Any

    def values(self, n: int) -> Any:
        return [value + 1 for value in super().values(n)]

    def privatise(self, values: Any) -> Any:
        privatise = self.client.privatise
        return [privatise(value) for value in values]

    def aggregate(self, reports: Any) -> Any:
        self.server.reset()
        self.server.aggregate_all(reports)
        return self.server.estimate_all(range(1, self.k + 1), suppress_warnings=True) / len(reports)


class DirectEncoding(PureLDP):
    def __init__(self, k: int, epsilon: float) -> None:
        super().__init__(k, epsilon)
        self.client, self.server = DEClient(epsilon=epsilon, d=k), DEServer(epsilon=epsilon, d=k)


class OptimizedUnaryEncoding(PureLDP):
    optimized = True

    def __init__(self, k: int, epsilon: float) -> None:
        super().__init__(k, epsilon)
        self.client, self.server = (kind(epsilon=epsilon, d=k, use_oue=self.optimized) for kind in (UEClient, UEServer))


class SymmetricUnaryEncoding(OptimizedUnaryEncoding):
    optimized = False


class LocalHashing(PureLDP):
    def __init__(self, k: int, epsilon: float) -> None:
        super().__init__(k, epsilon)
        self.client, self.server = (kind(epsilon=epsilon, d=k, use_olh=True) for kind in (LHClient, LHServer))


class HadamardResponse(PureLDP):
    def __init__(self, k: int, epsilon: float) -> None:
        super().__init__(k, epsilon)
        self.server = HadamardResponseServer(epsilon=epsilon, d=k)
        self.client = HadamardResponseClient(epsilon=epsilon, d=k, hash_funcs=self.server.get_hash_funcs())


if __name__ == "__main__":
    offers = {
        "k-rr": DirectEncoding,
        "oue": OptimizedUnaryEncoding,
        "sue": SymmetricUnaryEncoding,
        "olh": LocalHashing,
        "hadamard": HadamardResponse,
    }
    serve(offers, ["pure-ldp", "numpy", "xxhash"])
