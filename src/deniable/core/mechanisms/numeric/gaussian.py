"""Gaussian noise on a lattice: approximate privacy only."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from deniable.core.channels.profile import Profile, symmetric
from deniable.core.exact.exponential import exp_bounds
from deniable.core.exact.lattice import Grid, check_count
from deniable.core.exact.lattice import points as lattice_points
from deniable.core.exact.numbers import Number, as_fraction
from deniable.core.mechanisms.numeric._gaussian_sigma import analytic_sigma, exact_sigma, published_sigma
from deniable.core.mechanisms.numeric_base import NumericMechanism
from deniable.core.mechanisms.reading import Affine
from deniable.errors import InvalidParameter

RULES = {"published": published_sigma, "exact": exact_sigma, "analytic": analytic_sigma}
MOST_CELLS = 1 << 16
LEAST_DELTA = Fraction(1, 10**30)
TRIES = 8


@dataclass(frozen=True, kw_only=True, repr=False)
class Gaussian(NumericMechanism):
    """The value plus Gaussian noise. NOT pure epsilon-LDP: with probability about delta > 0 it reveals more.

    Law: distance d from the true point weighs e**(-d**2/(2 s**2)), in integers, up to at least 9 sigma;
    reports farther outside are clipped. `sigma` names the rule: "analytic" (Balle and Wang, the least),
    "exact" (privacy loss above epsilon with probability at most delta) or "published" (dissertation,
    Theorem 18, loose). If the lattice spends a hair more than delta, sigma is enlarged until it does not.
    The lattice has `points` steps, halved until it has at most 2**16 cells with its margins.
    Guarantee: (epsilon, delta)-LDP; `delta_exact` sums the integer weights. Any pure mechanism is better
    for one bounded number: use this only where Gaussian noise is asked for.
    Cost: one draw, 16 bits on the wire.
    Source: dissertation, Theorem 18; Balle and Wang, "Improving the Gaussian mechanism", 2018.

    >>> Gaussian(epsilon=1, delta="0.001", points=16).certificate().holds
    True
    """

    delta: Number  # type: ignore[assignment, misc]
    sigma: str = "analytic"
    points: int = 1024
    name: ClassVar[str] = "gaussian"
    source: ClassVar[str] = "Zheng, Hu 2026b; dissertation, Theorem 18; Balle, Wang 2018"

    def __post_init__(self) -> None:
        super().__post_init__()
        exact = as_fraction(self.delta)
        if exact is None or not LEAST_DELTA <= exact < Fraction(1, 2):
            raise InvalidParameter(
                "delta must be a number between 1e-30 and 1/2, such as 1e-6: Gaussian noise is never purely private"
            )
        object.__setattr__(self, "delta", exact)
        if self.sigma not in RULES:
            raise InvalidParameter(f"sigma must be one of {', '.join(RULES)}")
        check_count("points", self.points)
        if self.steps < 2:
            raise InvalidParameter("epsilon is too small for Gaussian noise: the lattice would have more than 2**16 cells")

    @cached_property
    def least_sigma(self) -> Fraction:
        """What the rule asks for, in domain widths, rounded up to a multiple of 2**-16."""
        real = RULES[self.sigma](float(self.privacy), float(Fraction(self.delta)))
        return Fraction(math.ceil(real * 65536), 65536)

    @cached_property
    def steps(self) -> int:
        """The lattice's steps from end to end."""
        steps = self.points
        while steps >= 2 and steps * (1 + 2 * self.reach) > MOST_CELLS:
            steps //= 2
        return steps

    @property
    def reach(self) -> int:
        """Domain widths of margin on either side: nine sigma and more for a tiny delta."""
        sigmas = max(9.0, 3 + math.sqrt(-2 * math.log(float(Fraction(self.delta)))))
        return max(math.ceil(sigmas * float(self.least_sigma)) - 1, 0)

    @property
    def grid(self) -> Grid:
        """steps + 1 points from end to end."""
        return lattice_points(self.steps)

    @cached_property
    def profile(self) -> Profile:
        """The first of ever wider noises whose exact delta is small enough."""
        sigma = self.least_sigma
        for i in range(TRIES):
            profile = gaussian_profile(sigma * self.steps, self.steps, self.steps * self.reach)
            if self.delta_of(profile) <= Fraction(self.delta):
                return profile
            sigma += self.least_sigma * Fraction(4**i, 4096)
        raise InvalidParameter("delta cannot be reached on this lattice; use more points")

    def delta_of(self, profile: Profile) -> Fraction:
        """The exact delta of a profile; e**epsilon rounded down, so delta is rounded up."""
        return profile.delta(self.privacy.bounds()[0])

    def build(self) -> Profile:
        """Weights of distances, clipped at the margins."""
        return self.profile

    @cached_property
    def _delta_exact(self) -> Fraction:
        return self.delta_of(self.profile)

    def delta_exact(self) -> Fraction:
        """What the weights give beside epsilon, summed exactly (rounded up)."""
        return self._delta_exact

    @cached_property
    def reading(self) -> Affine:
        """The reported point, in or outside the domain."""
        return Affine(Fraction(-self.reach), Fraction(1, self.steps))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A coarse lattice, the published noise and the default."""
        yield cls(epsilon=2, delta="0.1", points=4)
        yield cls(epsilon=1, delta="0.001", sigma="published", points=32)
        yield cls(epsilon=4, delta="1/1000000", points=256)


def gaussian_profile(spread: Fraction, steps: int, margin: int) -> Profile:
    """Weights e**(-d**2/(2 spread**2)) for distances up to steps + margin, as integers fine enough to stay log-concave."""
    last = steps + margin
    square = spread * spread
    # The smallest weight needs room for the second difference of its logarithm, 1/square, above its rounding.
    bits = 24 + math.ceil(last * last / (2 * square * Fraction(69, 100))) + 2 * math.ceil(square).bit_length()
    guard = 64
    one = 1 << (bits + guard)

    def fixed(exponent: Fraction) -> int:
        return math.floor(exp_bounds(exponent, bits + guard + 8)[0] * one)

    step, turn = fixed(-1 / (2 * square)), fixed(-1 / square)
    value, half = one, []
    for _ in range(last + 1):
        half.append(value >> guard)
        value = value * step >> (bits + guard)
        step = step * turn >> (bits + guard)
    return symmetric(half, inputs=steps + 1, margin=margin)
