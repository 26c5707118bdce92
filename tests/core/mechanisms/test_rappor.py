"""RAPPOR: two layers multiply out to the bits of one report, and a lifetime of reports stays within `permanent`."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction

import pytest

from deniable.core import LAYER, Bits, Categories, Epsilon, Rappor, column_ratio, make_mechanism, mechanism_from_recipe
from deniable.errors import InvalidEpsilon, InvalidParameter
from deniable.estimators import support
from deniable.privacy import FixedCoins, binomial_tail

SYMMETRIC = Rappor(domain=Categories(3), epsilon=1, permanent=2)
PUBLISHED = Rappor(domain=Categories(3), epsilon=0.5, permanent=2, false_ones="1/2")


@pytest.mark.parametrize("mechanism", [SYMMETRIC, PUBLISHED])
def test_one_report_is_the_two_layers_multiplied_out(mechanism: Rappor) -> None:
    first = mechanism.first_layer
    for index, output in itertools.product(range(3), range(8)):
        chance = Fraction(0)
        for kept in range(8):
            again = Fraction(1)
            for bit in range(3):
                one = Fraction(mechanism.ones if kept >> bit & 1 else mechanism.zeros, LAYER)
                again *= one if output >> bit & 1 else 1 - one
            chance += Fraction(first.weight(index, kept), first.total) * again
        assert chance == Fraction(mechanism.channel.weight(index, output), mechanism.channel.total)


@pytest.mark.parametrize("mechanism", [SYMMETRIC, PUBLISHED])
def test_one_report_has_epsilon_and_the_kept_bits_have_permanent(mechanism: Rappor) -> None:
    assert mechanism.channel.max_ratio() == column_ratio(mechanism.channel)
    assert mechanism.certificate().holds
    assert float(mechanism.privacy) - mechanism.certificate().epsilon_exact < 1e-7
    ratio = column_ratio(mechanism.first_layer)
    assert ratio is not None
    assert Epsilon(mechanism.lifetime).allows(ratio)
    assert math.log(ratio) > float(mechanism.lifetime) - 1e-7


@pytest.mark.parametrize("mechanism", [SYMMETRIC, PUBLISHED])
@pytest.mark.parametrize("reports", [1, 2, 3])
def test_the_level_of_several_reports_is_what_trying_everything_finds(mechanism: Rappor, reports: int) -> None:
    def likelihood(true: bool, seen: tuple[int, ...]) -> Fraction:
        kept = Fraction(mechanism.kept if true else LAYER - mechanism.kept, LAYER)
        chances = []
        for chance, one in ((kept, mechanism.ones), (1 - kept, mechanism.zeros)):
            chances.append(chance * math.prod(Fraction(one if bit else LAYER - one, LAYER) for bit in seen))
        return sum(chances, start=Fraction(0))

    rows = list(itertools.product((0, 1), repeat=reports))
    up = max(likelihood(True, seen) / likelihood(False, seen) for seen in rows)
    down = max(likelihood(False, seen) / likelihood(True, seen) for seen in rows)
    assert mechanism.ratio_of(reports) == up * down
    if reports == 1:
        assert mechanism.ratio_of(1) == mechanism.channel.max_ratio()


def test_the_level_grows_to_permanent_and_never_beyond() -> None:
    levels = [SYMMETRIC.level_of(m) for m in (1, 2, 5, 20, 200)]
    assert levels == sorted(levels)
    assert 1.999 < levels[-1] <= 2
    assert all(Epsilon(2).allows(SYMMETRIC.ratio_of(m)) for m in (1, 10, 300))
    with pytest.raises(InvalidParameter, match="reports"):
        SYMMETRIC.ratio_of(0)


def test_the_published_parameters_are_found_again() -> None:
    # The paper's f = 1/2, p = 1/2, q = 3/4, for one bit per value: permanent 2 ln 3, one report 0.5343...
    q_star, p_star = Fraction(3, 4) * Fraction(3, 4) + Fraction(1, 8), Fraction(1, 4) * Fraction(3, 4) + Fraction(3, 8)
    single = math.log(q_star * (1 - p_star) / (p_star * (1 - q_star)))
    found = Rappor(domain=Categories(5), epsilon=single, permanent=2 * math.log(3), false_ones="1/2")
    assert found.kept / LAYER == pytest.approx(0.75, abs=1e-8)
    assert found.ones / LAYER == pytest.approx(0.75, abs=1e-7)
    assert found.zeros * 2 == LAYER


def test_support_is_chained() -> None:
    law = support(SYMMETRIC)
    kept, one, zero = (Fraction(part, LAYER) for part in (SYMMETRIC.kept, SYMMETRIC.ones, SYMMETRIC.zeros))
    assert law.p == kept * one + (1 - kept) * zero
    assert law.q == (1 - kept) * one + kept * zero


def test_reports_of_kept_bits_follow_the_second_layer() -> None:
    # 3 bits, each a binomial tail below 1e-8.
    coins = FixedCoins(4)
    outputs = [SYMMETRIC.report_kept(0b101, coins).output for _ in range(4000)]
    for bit, one in enumerate((SYMMETRIC.ones, SYMMETRIC.zeros, SYMMETRIC.ones)):
        assert binomial_tail(sum(y >> bit & 1 for y in outputs), 4000, one / LAYER) > 1e-8
    with pytest.raises(InvalidParameter):
        SYMMETRIC.report_kept(8)


def test_kept_bits_follow_the_first_layer() -> None:
    coins = FixedCoins(5)
    kept = [SYMMETRIC.draw_permanent(1, coins) for _ in range(4000)]
    for bit in range(3):
        chance = (SYMMETRIC.kept if bit == 1 else LAYER - SYMMETRIC.kept) / LAYER
        assert binomial_tail(sum(y >> bit & 1 for y in kept), 4000, chance) > 1e-8


def test_levels_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="permanent must be above epsilon"):
        Rappor(epsilon=2, permanent=2)
    with pytest.raises(InvalidParameter, match="too small"):
        Rappor(epsilon=1e-8, permanent=1)
    # The first layer never keeps every bit: what does not fit its steps is rounded toward privacy.
    assert Rappor(epsilon=1, permanent=Epsilon(90, allow_large=True)).kept == LAYER - 1
    with pytest.raises(InvalidEpsilon):
        Rappor(epsilon=1, permanent=-1)
    for share in (0, 1, "1/3", "x"):
        with pytest.raises(InvalidParameter, match="false_ones"):
            Rappor(epsilon=1, permanent=3, false_ones=share)


def test_a_large_lifetime_survives_the_recipe() -> None:
    mechanism = Rappor(epsilon=12)
    assert mechanism.lifetime == 24
    recipe = json.loads(json.dumps(mechanism.recipe()))
    assert mechanism_from_recipe(recipe, allow_large=True) == mechanism
    with pytest.raises(InvalidEpsilon, match="above 20"):
        mechanism_from_recipe(recipe)


def test_the_batch_room_draws_with_its_kernel() -> None:
    mechanism = make_mechanism("rappor", domain=Categories(100), epsilon=1, permanent=3)
    assert isinstance(mechanism.channel, Bits)
    assert mechanism.channel.scale == 1 << 60
