"""p, q and count variances equal sums over all outputs."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from deniable.core import Bits, Categories, TwoLevel, mechanism_class
from deniable.errors import NotSupported
from deniable.estimators import closed_form, support


def made(name: str, **parameters: Any) -> Any:
    """A mechanism by its wire name."""
    return mechanism_class(name)(**parameters)


SETS = ["k-rr", "hadamard", "projective", "subset"]
UNARY = ["sue", "oue", "sign-bits"]


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("epsilon", [0.3, 1, 3])
def test_p_and_q_are_sums_of_weights(name: str, epsilon: float) -> None:
    mechanism = made(name, domain=Categories(7), epsilon=epsilon)
    channel = mechanism.channel
    assert isinstance(channel, TwoLevel)

    def chance(x: int, v: int) -> Fraction:
        ours = (y for y in range(channel.outputs) if channel.sets.possible(y) and channel.sets.contains(v, y))
        return Fraction(sum(channel.weight(x, y) for y in ours), channel.total)

    found = support(mechanism)
    assert {chance(v, v) for v in range(7)} == {found.p}
    assert {chance(x, v) for v in range(7) for x in range(7) if x != v} == {found.q}


@pytest.mark.parametrize("name", UNARY)
def test_unary_bits_are_the_supports(name: str) -> None:
    mechanism = made(name, domain=Categories(4), epsilon=1)
    channel = mechanism.channel
    assert isinstance(channel, Bits)
    for v, wanted in ((1, support(mechanism).p), (2, support(mechanism).q)):
        assert Fraction(sum(channel.weight(1, y) for y in range(16) if y >> v & 1), channel.total) == wanted


@pytest.mark.parametrize("name", ["blh", "olh"])
def test_hashing_supports_others_once_in_g(name: str) -> None:
    mechanism = made(name, domain=Categories(50), epsilon=2)
    found, buckets = support(mechanism), 2 if name == "blh" else math.floor(math.exp(2)) + 1
    assert found.q == Fraction(1, buckets)
    assert float(found.p) == pytest.approx(math.exp(2) / (math.exp(2) + buckets - 1), rel=1e-9)


@pytest.mark.parametrize("name", ["randomized-response", *SETS, *UNARY, "blh", "olh"])
@pytest.mark.parametrize("epsilon", [0.1, 1, 4])
def test_count_variance_equals_the_published_formula(name: str, epsilon: float) -> None:
    parameters = {} if name == "randomized-response" else {"domain": Categories(50)}
    mechanism = made(name, epsilon=epsilon, **parameters)
    for n, n_v in ((1000, 0), (1000, 200), (1000, 1000)):
        assert support(mechanism).variance(n, n_v) == pytest.approx(
            closed_form(mechanism, "count_variance", n=n, n_v=n_v), rel=1e-6
        )


def test_numbers_have_no_support() -> None:
    with pytest.raises(NotSupported, match="p and q"):
        support(made("ogpm", epsilon=1))
