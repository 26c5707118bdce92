"""A running account of one person's privacy: what was spent, and on what."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from deniable.core import Mechanism, Number, as_fraction, show_fraction
from deniable.errors import BudgetSpent, InvalidParameter
from deniable.privacy.composition import composed_epsilon


@dataclass
class Odometer:
    """Adds up answers; refuses the one that would pass `limit`. What a device keeps for good is `deniable.surveys.Ledger`.

    >>> account = Odometer(limit=2)
    >>> account.spend(1, "commute"), account.spend("1/2", "income")
    (Fraction(1, 1), Fraction(3, 2))
    >>> account.left
    Fraction(1, 2)
    """

    limit: Number | None = None
    entries: list[tuple[Fraction, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.limit is not None:
            exact = as_fraction(self.limit)
            if exact is None or exact <= 0:
                raise InvalidParameter("limit must be a positive number, or None")
            self.limit = exact

    @property
    def spent(self) -> Fraction:
        """The epsilons of all entries, added exactly."""
        return sum((epsilon for epsilon, _ in self.entries), start=Fraction(0))

    @property
    def left(self) -> Fraction | None:
        """What is left of the limit; None without one."""
        return None if self.limit is None else Fraction(self.limit) - self.spent

    def spend(self, cost: Number | Mechanism, what: str = "") -> Fraction:
        """Write down an answer, by its epsilon or its mechanism; returns what is spent now."""
        if isinstance(cost, Mechanism):
            if cost.delta:
                raise InvalidParameter("the odometer counts pure privacy: the mechanism's delta must be 0")
            epsilon: Fraction | None = cost.privacy.exact
        else:
            epsilon = as_fraction(cost)
        if epsilon is None or epsilon <= 0:
            raise InvalidParameter("cost must be a positive epsilon or a mechanism")
        if self.left is not None and epsilon > self.left:
            raise BudgetSpent(f"this costs epsilon={show_fraction(epsilon)}, and only {show_fraction(self.left)} is left")
        self.entries.append((epsilon, what))
        return self.spent

    def at(self, delta: float) -> float:
        """The same spending as an (epsilon, delta): smaller than the sum when there are many small answers."""
        return composed_epsilon([epsilon for epsilon, _ in self.entries], delta) if self.entries else 0.0
