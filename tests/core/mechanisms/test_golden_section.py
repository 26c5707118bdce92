"""The search for a valley's lowest place."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from deniable.core import golden_section


@pytest.mark.parametrize("steps", [1, 2, 5, 12, 30])
@pytest.mark.parametrize("lowest", ["-2", "-1.9", "0", "1.234", "4.5", "6", "7"])
def test_the_place_is_found_to_a_power_of_the_golden_ratio(lowest: str, steps: int) -> None:
    with localcontext() as context:
        context.prec = 50
        at = Decimal(lowest)
        found = golden_section(lambda x: abs(x - at) + (x - at) ** 2, Decimal(-2), Decimal(7), steps)
        assert abs(found - at) <= 9 * (Decimal(5).sqrt() / 2 - Decimal("0.5")) ** steps


def test_every_step_asks_once_and_nowhere_outside() -> None:
    asked: list[Decimal] = []

    def valley(x: Decimal) -> Decimal:
        asked.append(x)
        return (x - 3) ** 2

    golden_section(valley, Decimal(1), Decimal(4), 10)
    assert len(asked) == 12
    assert len(set(asked)) == 12
    assert all(1 < x < 4 for x in asked)
    assert abs(asked[0] - (4 - 3 * Decimal("0.618034"))) < Decimal("1e-5")
    assert abs(asked[1] - (1 + 3 * Decimal("0.618034"))) < Decimal("1e-5")


def test_floats_and_decimals_agree() -> None:
    by_float = golden_section(lambda x: (x - 0.25) ** 4, 0.0, 1.0, 20)
    by_decimal = golden_section(lambda x: (x - Decimal("0.25")) ** 4, Decimal(0), Decimal(1), 20)
    assert isinstance(by_float, float)
    assert isinstance(by_decimal, Decimal)
    assert abs(Fraction(by_float) - Fraction(by_decimal)) < Fraction(1, 10**9)


def test_on_a_plain_the_search_goes_left() -> None:
    assert golden_section(lambda x: 0.0, 0.0, 1.0, 40) < 1e-6
