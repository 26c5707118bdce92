"""A function that two compute and one keys (RFC 9497, VOPRF on P-384): blind, evaluate with a proof, finalize."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from deniable.errors import BadMessage
from deniable.privacy.anonymity.p384 import (
    GENERATOR,
    ORDER,
    SIZE,
    Point,
    hash_to_point,
    hash_to_scalar,
    random_scalar,
    scalar_from_bytes,
)

_CONTEXT = b"OPRFV1-\x01-P384-SHA384"
_TO_SCALAR, _TO_POINT = b"HashToScalar-" + _CONTEXT, b"HashToGroup-" + _CONTEXT
PROOF = 2 * SIZE


def _sized(*parts: bytes) -> bytes:
    return b"".join(len(part).to_bytes(2, "big") + part for part in parts)


@dataclass(frozen=True)
class BlindedInput:
    """What goes to the issuer, and what opens its answer."""

    element: Point
    value: bytes = field(repr=False)
    blind: int = field(repr=False)


def blind(value: bytes, *, factor: int | None = None) -> BlindedInput:
    """Hide an input. `factor` is for published test vectors only."""
    factor = random_scalar() if factor is None else factor
    return BlindedInput(hash_to_point(value, _TO_POINT) * factor, value, factor)


def _output(value: bytes, element: Point) -> bytes:
    return hashlib.sha384(_sized(value, element.to_bytes()) + b"Finalize").digest()


def _composites(public: bytes, blinded: Sequence[Point], evaluated: Sequence[Point]) -> list[int]:
    seed = hashlib.sha384(_sized(public, b"Seed-" + _CONTEXT)).digest()
    return [
        hash_to_scalar(
            _sized(seed) + number.to_bytes(2, "big") + _sized(one.to_bytes(), other.to_bytes()) + b"Composite", _TO_SCALAR
        )
        for number, (one, other) in enumerate(zip(blinded, evaluated, strict=True))
    ]


def _combined(weights: Sequence[int], points: Sequence[Point]) -> Point:
    total = points[0] * weights[0]
    for weight, point in zip(weights[1:], points[1:], strict=True):
        total += point * weight
    return total


def _challenge(public: bytes, *points: Point) -> int:
    return hash_to_scalar(_sized(public, *(point.to_bytes() for point in points)) + b"Challenge", _TO_SCALAR)


@dataclass(frozen=True)
class EvaluationKey:
    """The issuer's secret number."""

    secret: int = field(repr=False)

    @classmethod
    def generate(cls) -> EvaluationKey:
        """A new key from the system's generator."""
        return cls(random_scalar())

    @classmethod
    def derived(cls, material: bytes, info: bytes) -> EvaluationKey:
        """The key that belongs to 32 random bytes and a label."""
        for counter in range(256):
            secret = hash_to_scalar(material + _sized(info) + bytes([counter]), b"DeriveKeyPair" + _CONTEXT)
            if secret:
                return cls(secret)
        raise BadMessage("no key belongs to these bytes")

    @property
    def public(self) -> Point:
        """What clients check proofs with."""
        return GENERATOR * self.secret

    def evaluate(self, blinded: Sequence[Point], *, nonce: int | None = None) -> tuple[list[Point], bytes]:
        """Evaluations, and one proof that all used this key. `nonce` is for published test vectors only."""
        evaluated = [element * self.secret for element in blinded]
        public = self.public.to_bytes()
        one = _combined(_composites(public, blinded, evaluated), blinded)
        nonce = random_scalar() if nonce is None else nonce
        challenge = _challenge(public, one, one * self.secret, GENERATOR * nonce, one * nonce)
        answer = (nonce - challenge * self.secret) % ORDER
        return evaluated, challenge.to_bytes(SIZE, "big") + answer.to_bytes(SIZE, "big")

    def output(self, value: bytes) -> bytes:
        """The function's value, computed by whoever has the key."""
        return _output(value, hash_to_point(value, _TO_POINT) * self.secret)


def finalize(inputs: Sequence[BlindedInput], evaluated: Sequence[Point], proof: bytes, public: Point) -> list[bytes]:
    """The function's values, or BadMessage where the proof does not show that the published key was used."""
    if len(proof) != PROOF or len(inputs) != len(evaluated) or not inputs:
        raise BadMessage("an evaluation is cut off")
    challenge, answer = scalar_from_bytes(proof[:SIZE]), scalar_from_bytes(proof[SIZE:])
    blinded = [one.element for one in inputs]
    key = public.to_bytes()
    weights = _composites(key, blinded, evaluated)
    one, other = _combined(weights, blinded), _combined(weights, evaluated)
    if _challenge(key, one, other, GENERATOR * answer + public * challenge, one * answer + other * challenge) != challenge:
        raise BadMessage("the issuer did not use the key it published")
    return [_output(mine.value, element * pow(mine.blind, -1, ORDER)) for mine, element in zip(inputs, evaluated, strict=True)]
