"""A client that trusts nobody: it rebuilds the mechanism from its recipe and checks the privacy itself."""

from __future__ import annotations

from typing import Any

from deniable.errors import InvalidEpsilon, InvalidParameter, WrongRecipe
from deniable.exact import Epsilon, EpsilonLike, Number, as_fraction
from deniable.mechanisms import Certificate, Mechanism, mechanism_from_recipe
from deniable.randomness import SYSTEM
from deniable.wire import encode_report, parse_json, report_to_json


class Client:
    """Randomizes private values by a recipe from someone else, after checking what the recipe costs.

    The recipe is a mapping or its JSON text. `max_epsilon` is the most the user accepts; `max_delta`
    is zero unless the user accepts more; `fingerprint`, when given, must be the recipe's own. Nothing
    about a value is kept.

    >>> from deniable.mechanisms.binary.randomized_response import RandomizedResponse
    >>> client = Client(RandomizedResponse(epsilon=1).recipe(), max_epsilon=2)
    >>> len(client.randomize(True)), client.certificate.holds
    (20, True)
    """

    __slots__ = ("certificate", "mechanism")
    mechanism: Mechanism
    certificate: Certificate

    def __init__(
        self,
        recipe: dict[str, Any] | str | bytes,
        *,
        max_epsilon: EpsilonLike | None = None,
        max_delta: Number = 0,
        fingerprint: str | None = None,
    ) -> None:
        document = parse_json(recipe) if isinstance(recipe, str | bytes) else recipe
        self.mechanism = mechanism_from_recipe(document)
        self.certificate = self.mechanism.certificate()
        if fingerprint is not None and fingerprint != self.certificate.fingerprint:
            raise WrongRecipe("fingerprint is not that of the recipe: this is not the recipe you were promised")
        _check(self.certificate, max_epsilon, max_delta)

    def randomize(self, value: Any) -> bytes:
        """A private report of one value, as bytes ready to send."""
        return encode_report(self.mechanism, self.mechanism.randomize(value, SYSTEM))

    def randomize_json(self, value: Any) -> str:
        """A private report of one value, as JSON text."""
        return report_to_json(self.mechanism, self.mechanism.randomize(value, SYSTEM))

    def __repr__(self) -> str:
        return f"Client({self.mechanism!r})"


def _check(certificate: Certificate, max_epsilon: EpsilonLike | None, max_delta: Number) -> None:
    """Refuse a recipe whose claim is false, or larger than the user accepts."""
    if not certificate.holds:
        raise InvalidParameter(f"the recipe of {certificate.mechanism} does not keep its promise: {certificate.inequality}")
    most = None if max_epsilon is None else Epsilon(max_epsilon, allow_large=True)
    if most is not None and certificate.epsilon > most:
        raise InvalidEpsilon(f"the recipe spends epsilon={certificate.epsilon}, more than the max_epsilon={most} you accept")
    delta = as_fraction(max_delta)
    if delta is None or delta < 0:
        raise InvalidParameter("max_delta must be a number that is not negative")
    if certificate.delta > delta:
        raise InvalidParameter(
            f"the recipe promises privacy only up to delta={float(certificate.delta):g}; pass max_delta if you accept that"
        )
