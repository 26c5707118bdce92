"""Projective geometry response: hyperplanes of a finite projective space as favoured sets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import count, islice
from typing import ClassVar, Self

from deniable.core.channels.projective import Projective, is_prime
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.categories import Categories
from deniable.core.exact.epsilon import Epsilon
from deniable.core.mechanisms.categorical_base import CategoricalMechanism
from deniable.errors import InvalidParameter

MOST_EPSILON = 20
MOST_POINTS = 1 << 62
NEIGHBOURS = 4


@dataclass(frozen=True, kw_only=True, repr=False)
class ProjectiveGeometryResponse(CategoricalMechanism):
    """Answer with a point of a finite projective space, more likely one on the true category's hyperplane.

    Law: of the (q**t - 1)/(q - 1) points, those on the hyperplane of x weigh `high`, the rest `low`.
    The prime q and the dimension t are the ones with the least total variance over all k categories,
    among the primes around E + 1 (what is published) and the smallest ones that hold k points.
    Guarantee: epsilon-LDP, exactly ln(high/low).
    Variance per user of a rare category: about 4E/(E-1)**2, E = e**epsilon, as `oue`.
    Cost: one draw, log2(k) to log2(k q) bits on the wire. The best of both for many categories.
    Source: Feldman, Nelson, Nguyen and Talwar, "Private frequency estimation via projective geometry", 2022.

    >>> ProjectiveGeometryResponse(domain=Categories(1000), epsilon=2).space
    (7, 5)
    """

    name: ClassVar[str] = "projective"
    source: ClassVar[str] = "Feldman, Nelson, Nguyen, Talwar 2022"
    tasks: ClassVar[tuple[str, ...]] = ("frequency",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.privacy > MOST_EPSILON:
            raise InvalidParameter(
                f"epsilon must be at most {MOST_EPSILON} for projective, whose field grows as e**epsilon; use k-rr"
            )
        prime, dimension = self.space
        if points_of(prime, dimension) >= MOST_POINTS:
            raise InvalidParameter(
                "the projective space for this many categories has more than 2**62 points; lower epsilon or use olh"
            )

    @cached_property
    def space(self) -> tuple[int, int]:
        """The prime q and the dimension t."""
        return best_space(self.domain.size, self.privacy)

    def build(self) -> TwoLevel:
        """All points, those on the category's hyperplane favoured."""
        return TwoLevel.at(Projective(self.domain.size, *self.space), self.privacy)

    def decode(self, output: int) -> tuple[int, ...]:
        """The reported point's digits: it speaks for every category whose hyperplane holds it."""
        self.channel.check(0, output)
        return tuple(Projective(self.domain.size, *self.space).vector(output))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Two, a few and many categories."""
        yield cls(domain=Categories(2), epsilon=0.5)
        yield cls(domain=Categories([f"page {i}" for i in range(13)]), epsilon=0.7)
        yield cls(domain=Categories(1000), epsilon=2)


def points_of(prime: int, dimension: int) -> int:
    """How many points the projective space has: 1 + q + … + q**(t-1)."""
    return int((prime**dimension - 1) // (prime - 1))


def total_variance(size: int, prime: int, dimension: int, odds: Fraction) -> Fraction:
    """The variances of all k estimated counts, summed, per user: the same whatever the users' data are."""
    outputs, members = points_of(prime, dimension), points_of(prime, dimension - 1)
    shared = points_of(prime, dimension - 2)
    mass = outputs - members + members * odds
    truth = members * odds / mass
    chance = (members - shared + shared * odds) / mass
    return size * chance * (1 - chance) / (truth - chance) ** 2 + (1 - truth - chance) / (truth - chance)


def best_space(size: int, epsilon: Epsilon) -> tuple[int, int]:
    """The prime and the smallest dimension (at least 2) for it with the least total variance.

    >>> best_space(100, Epsilon(3))
    (17, 3)
    """
    odds = epsilon.bounds()[0]
    middle = epsilon.floor(1) + 1
    primes = set(islice((n for n in count(middle) if is_prime(n)), NEIGHBOURS))
    primes |= set(islice((n for n in range(middle, 1, -1) if is_prime(n)), NEIGHBOURS))
    # Where k is smaller than E the space should be no larger than needed: PG(t-1, q) with the least q per t.
    primes |= {_least_prime(size, dimension) for dimension in range(2, size.bit_length() + 2)}
    spaces = [(prime, _dimension(size, prime)) for prime in sorted(primes)]
    return min(spaces, key=lambda space: total_variance(size, space[0], space[1], odds))


def _dimension(size: int, prime: int) -> int:
    """The least dimension, at least 2, with as many points as categories."""
    return next(t for t in count(2) if points_of(prime, t) >= size)


def _least_prime(size: int, dimension: int) -> int:
    """The least prime whose space of this dimension has as many points as categories."""
    low, high = 2, max(2, size)
    while low < high:
        middle = (low + high) // 2
        if points_of(middle, dimension) >= size:
            high = middle
        else:
            low = middle + 1
    return next(n for n in count(low) if is_prime(n))
