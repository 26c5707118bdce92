"""A client that trusts nobody: it rebuilds the mechanism from its recipe and checks the privacy itself."""

from __future__ import annotations

from fractions import Fraction
from threading import Lock
from typing import TYPE_CHECKING, Any

from deniable.core import (
    SYSTEM,
    Certificate,
    Epsilon,
    EpsilonLike,
    Mechanism,
    Number,
    Report,
    as_fraction,
    encode_report,
    mechanism_from_recipe,
    parse_json,
    report_to_json,
    show_fraction,
)
from deniable.errors import BudgetSpent, InvalidEpsilon, InvalidParameter, WrongRecipe
from deniable.surveys.limits import USUAL_LIMIT, allows_large, check_pairs, check_work, checked_limit

if TYPE_CHECKING:
    from deniable.core import Privacy


class Client:
    """Randomizes one person's values by a recipe from someone else, after checking what the recipe costs.

    The recipe is a mapping or its JSON text. `max_epsilon` is the most that everything this client makes may cost
    together: a recipe whose reports could cost more over its whole life is refused, and so is a report that no
    longer fits. It is 8 unless your own code says otherwise; a recipe cannot raise it. `max_delta` counts in the same way, and is
    zero unless the user accepts more. `fingerprint`, when given, must be the recipe's own. Nothing about a value is
    kept; what was spent is counted in this object (a `Session` with its `Ledger` counts across restarts).
    A recipe that leaves some pairs of values without a level is refused, unless `accepts` says which levels the user asks for:
    then the recipe's integers must keep those, whatever the recipe itself promises.

    >>> from deniable.core import RandomizedResponse
    >>> client = Client(RandomizedResponse(epsilon=1).recipe(), max_epsilon=2)
    >>> len(client.randomize(True)), client.certificate.holds, client.left
    (20, True, Fraction(1, 1))
    """

    __slots__ = ("_lock", "_reports", "certificate", "max_delta", "max_epsilon", "mechanism")
    mechanism: Mechanism
    certificate: Certificate
    max_epsilon: Fraction
    max_delta: Fraction

    def __init__(
        self,
        recipe: dict[str, Any] | str | bytes,
        *,
        max_epsilon: EpsilonLike = USUAL_LIMIT,
        max_delta: Number = 0,
        fingerprint: str | None = None,
        accepts: Privacy | None = None,
    ) -> None:
        accepted = max_epsilon.exact if isinstance(max_epsilon, Epsilon) else max_epsilon
        self.max_epsilon = checked_limit("max_epsilon", accepted)
        self.max_delta = _checked_delta(max_delta)
        document = parse_json(recipe) if isinstance(recipe, str | bytes) else recipe
        self.mechanism = mechanism_from_recipe(document, allow_large=allows_large(self.max_epsilon))
        self._check_lifetime()
        check_work(self.mechanism)
        self.certificate = self.mechanism.certificate()
        if fingerprint is not None and fingerprint != self.certificate.fingerprint:
            raise WrongRecipe("fingerprint is not that of the recipe: this is not the recipe you were promised")
        if not self.certificate.holds:
            name, rule = self.certificate.mechanism, self.certificate.inequality
            raise InvalidParameter(f"the recipe of {name} does not keep its promise: {rule}")
        check_pairs(self.mechanism, accepts)
        if self.certificate.delta > self.max_delta:
            raise InvalidParameter(
                f"the recipe promises privacy only up to delta={float(self.certificate.delta):g}; pass max_delta if you accept that"
            )
        self._reports, self._lock = 0, Lock()

    def _check_lifetime(self) -> None:
        cost, whole = self.mechanism.privacy.exact, self.mechanism.lifetime
        if whole > self.max_epsilon:
            what = "a report" if whole == cost else "the permanent layer, which repeated reports show,"
            raise InvalidEpsilon(
                f"{what} of this recipe costs epsilon={show_fraction(whole)}, more than the "
                f"max_epsilon={show_fraction(self.max_epsilon)} you accept; raise it in your own code if you mean it"
            )

    @property
    def left(self) -> Fraction:
        """What further reports may still cost."""
        return self.max_epsilon - self._reports * self.mechanism.privacy.exact

    def randomize(self, value: Any) -> bytes:
        """A private report of one value, as bytes ready to send."""
        return encode_report(self.mechanism, self._report(value))

    def randomize_json(self, value: Any) -> str:
        """A private report of one value, as JSON text."""
        return report_to_json(self.mechanism, self._report(value))

    def _report(self, value: Any) -> Report:
        self.mechanism.encode(value)  # a value that does not belong costs nothing
        with self._lock:
            after = self._reports + 1
            if after * self.mechanism.privacy.exact > self.max_epsilon or after * self.certificate.delta > self.max_delta:
                raise BudgetSpent(
                    f"another report would cost epsilon={self.mechanism.privacy} again, and of the "
                    f"max_epsilon={show_fraction(self.max_epsilon)} you accept only {show_fraction(self.left)} is left. "
                    "A Client answers for one person: make one for each, or keep the answer with Repeated or a Session"
                )
            self._reports = after
        return self.mechanism.randomize(value, SYSTEM)

    def __repr__(self) -> str:
        return f"Client({self.mechanism!r})"


def _checked_delta(value: Number) -> Fraction:
    delta = as_fraction(value)
    if delta is None or delta < 0:
        raise InvalidParameter("max_delta must be a number that is not negative")
    return delta
