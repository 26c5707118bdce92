"""Claims about the mechanism on places."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.channels import TwoLevel
from deniable.domains import Disc, Interval, Rectangle
from deniable.errors import InvalidParameter
from deniable.exact import Epsilon
from deniable.mechanisms.spatial.nearest_cells import BEST_AREAS, NearestCellsMechanism, best_area

GOLDEN: dict[str, dict[str, Any]] = {
    row["id"]: row for row in json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())
}


def square(cells: int) -> Rectangle:
    return Rectangle(Interval(0, 1, cells=cells), Interval(0, 1, cells=cells))


def favoured(mechanism: NearestCellsMechanism, index: int) -> set[int]:
    channel = mechanism.channel
    assert isinstance(channel, TwoLevel)
    return {y for y, weight in enumerate(channel.row(index)) if weight == channel.high}


@pytest.mark.parametrize("mechanism", list(NearestCellsMechanism.examples())[:3], ids=["rectangle", "disc", "area"])
def test_the_favoured_cells_are_as_many_everywhere_and_none_outside_is_nearer(mechanism: NearestCellsMechanism) -> None:
    places = np.array([mechanism.decode(y) for y in range(mechanism.domain.size)])
    for x in range(mechanism.domain.size):
        near = sorted(favoured(mechanism, x))
        assert len(near) == mechanism.members
        assert x in near
        distances = np.hypot(*(places - places[x]).T)
        assert distances[near].max() <= np.delete(distances, near).min() + 1e-9


@pytest.mark.parametrize(("epsilon", "published"), [(2, 0.336), (4, 0.192), (6, 0.103)])
def test_the_average_error_on_the_unit_square_is_the_one_stated(epsilon: int, published: float) -> None:
    mechanism = NearestCellsMechanism(domain=square(32), epsilon=epsilon)
    channel = mechanism.channel
    assert isinstance(channel, TwoLevel)
    places = np.array([mechanism.decode(y) for y in range(1024)])
    total = 0.0
    for x in range(1024):
        distances = np.hypot(*(places - places[x]).T)
        near = sorted(favoured(mechanism, x))
        total += channel.low * distances.sum() + (channel.high - channel.low) * distances[near].sum()
    assert total / channel.total / 1024 == pytest.approx(published, abs=0.004)
    if epsilon == 2:
        assert total / channel.total / 1024 == pytest.approx(GOLDEN["TraCS.AE.eps2"]["value"]["disc"], abs=0.004)


@pytest.mark.parametrize(("epsilon", "area"), BEST_AREAS)
def test_the_best_area_is_the_known_one_at_the_known_epsilons(epsilon: int, area: str) -> None:
    assert best_area(Epsilon(epsilon)) == Fraction(area)


def test_the_best_area_shrinks_with_epsilon_and_stays_within_bounds() -> None:
    areas = [best_area(Epsilon(Fraction(i, 4))) for i in range(1, 81)]
    assert areas == sorted(areas, reverse=True)
    assert all(0 < area <= Fraction(9, 10) for area in areas)
    assert float(best_area(Epsilon(3))) == pytest.approx((0.239 * 0.091) ** 0.5, rel=1e-12)


def test_even_an_extreme_area_leaves_a_cell_on_either_side() -> None:
    assert NearestCellsMechanism(domain=square(4), epsilon=15).members == 1
    assert NearestCellsMechanism(domain=square(4), epsilon=1, area="0.999").members == 15


def test_a_place_comes_back_as_the_middle_of_its_cell() -> None:
    mechanism = NearestCellsMechanism(domain=Disc((10, 20), 2, cells=8), epsilon=1)
    assert mechanism.decode(mechanism.encode((10.1, 20.1))) == pytest.approx((10.25, 20.25))


@pytest.mark.parametrize("area", [0, 1, -0.1, "much", float("nan")])
def test_a_bad_area_is_refused_by_name(area: Any) -> None:
    with pytest.raises(InvalidParameter, match="area"):
        NearestCellsMechanism(epsilon=1, area=area)


def test_too_many_cells_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="domain"):
        NearestCellsMechanism(domain=square(257), epsilon=1)
