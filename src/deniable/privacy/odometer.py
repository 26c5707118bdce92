"""A running account of one person's privacy: what was spent, and on what."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from deniable.core import Mechanism, Number, Privacy, as_fraction, show_fraction
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

    A `limit` that is a `Privacy` is kept pair by pair: levels of every pair of values add up.

    >>> from deniable.core import Privacy
    >>> account = Odometer(limit=Privacy.sensitive(3, [0], 2))
    >>> account.spend(Privacy.sensitive(3, [0, 1], "3/2"), "illness")
    Fraction(3, 2)
    >>> account.spend(Privacy.uniform(3, 1), "sport")
    Traceback (most recent call last):
    deniable.errors.BudgetSpent: together this costs epsilon=2.5 for value 0 against 1, more than the 2 that the limit allows
    """

    limit: Number | Privacy | None = None
    entries: list[tuple[Fraction, str]] = field(default_factory=list)
    pairs: Privacy | None = None
    """What was spent pair by pair, where the limit is kept in this way."""

    def __post_init__(self) -> None:
        if self.limit is not None and not isinstance(self.limit, Privacy):
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
        """What is left of the limit; None without one, or where every pair of values has its own."""
        return None if self.limit is None or isinstance(self.limit, Privacy) else Fraction(self.limit) - self.spent

    def spend(self, cost: Number | Mechanism | Privacy, what: str = "") -> Fraction:
        """Write down an answer, by its epsilon, its promise or its mechanism; returns what is spent now."""
        if isinstance(cost, Mechanism) and cost.delta:
            raise InvalidParameter("the odometer counts pure privacy: the mechanism's delta must be 0")
        if isinstance(self.limit, Privacy):
            return self._spend_pairs(self.limit, cost, what)
        if isinstance(cost, Privacy) or (isinstance(cost, Mechanism) and not cost.protects_all):
            level = cost.everywhere if isinstance(cost, Privacy) else None
            if level is None:
                raise InvalidParameter("some pairs of values have no level: give the odometer a Privacy as its limit")
            epsilon: Fraction | None = level.exact
        elif isinstance(cost, Mechanism):
            epsilon = cost.privacy.exact
        else:
            epsilon = as_fraction(cost)
        if epsilon is None or epsilon <= 0:
            raise InvalidParameter("cost must be a positive epsilon or a mechanism")
        if self.left is not None and epsilon > self.left:
            raise BudgetSpent(f"this costs epsilon={show_fraction(epsilon)}, and only {show_fraction(self.left)} is left")
        self.entries.append((epsilon, what))
        return self.spent

    def _spend_pairs(self, limit: Privacy, cost: Number | Mechanism | Privacy, what: str) -> Fraction:
        """Levels add up pair by pair; refused where a pair that the limit protects would pass its level."""
        if isinstance(cost, Mechanism):
            promise = cost.promise or Privacy.uniform(limit.size, cost.privacy)
        else:
            promise = cost if isinstance(cost, Privacy) else Privacy.uniform(limit.size, cost)
        together = promise if self.pairs is None else self.pairs.plus(promise)
        if together.size != limit.size:
            raise InvalidParameter(f"the limit is about {limit.size} values, the cost about {together.size}")
        for x, row in enumerate(limit.closed):
            for y, most in enumerate(row):
                spent = together.closed[x][y]
                if most is not None and (spent is None or spent > most):
                    shown = "without bound" if spent is None else show_fraction(spent)
                    raise BudgetSpent(
                        f"together this costs epsilon={shown} for value {x} against {y}, more than the {show_fraction(most)} "
                        "that the limit allows"
                    )
        self.pairs = together
        self.entries.append((promise.largest.exact, what))
        return together.largest.exact

    def at(self, delta: float) -> float:
        """The same spending as an (epsilon, delta): smaller than the sum when there are many small answers."""
        return composed_epsilon([epsilon for epsilon, _ in self.entries], delta) if self.entries else 0.0
