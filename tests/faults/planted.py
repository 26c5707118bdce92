"""A mechanism that passes every check: faults are planted in copies of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from deniable.core import Categories, Channel, Domain, Mechanism, Singleton, TwoLevel
from deniable.privacy import check_mechanism

SPARE = {"check_recipe_round_trip"}  # a planted mechanism is not registered, so its recipe finds the sound one


def outcomes(mechanism: Mechanism) -> dict[str, str]:
    return {finding.check: finding.outcome for finding in check_mechanism(mechanism) if finding.check not in SPARE}


def assert_caught(mechanism: Mechanism, *checks: str) -> None:
    found = outcomes(mechanism)
    for check in checks:
        assert found[check] == "failed", f"{check} did not see the fault: {found[check]}"


@dataclass(frozen=True, kw_only=True, repr=False)
class Planted(Mechanism):
    """Five categories and a channel given by the subclass."""

    domain: Categories = Categories(5)
    epsilon: Any = 1
    name: ClassVar[str] = "k-rr"
    domain_types: ClassVar[tuple[type[Domain], ...]] = (Categories,)

    def build(self) -> Channel:
        return TwoLevel.at(Singleton(self.domain.size), self.privacy)

    def decode(self, output: int) -> Any:
        return output

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
