"""Metrics between true and perturbed paths, against their definitions written out slowly."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.core import Interval, Rectangle
from deniable.errors import InvalidParameter
from deniable.studies import (
    Hotspots,
    Paths,
    average_error,
    direction_error,
    dynamic_time_warping,
    frechet_distance,
    hotspot_count_difference,
    range_query_preservation,
)

DRAWS = np.random.default_rng(5)
LENGTHS = [3, 0, 1, 7, 2]
TRUE = Paths.of([DRAWS.random((n, 2)) for n in LENGTHS])
SEEN = Paths.of([DRAWS.random((n, 2)) for n in LENGTHS])


def test_the_average_error_is_averaged_within_paths_and_then_over_them() -> None:
    slow = [np.mean([math.dist(a, b) for a, b in zip(t, s, strict=True)]) for t, s in zip(TRUE, SEEN, strict=True) if len(t)]
    error = average_error(TRUE, SEEN)
    assert error.value == pytest.approx(np.mean(slow))
    assert error.counted == 4
    assert error.standard_error == pytest.approx(np.std(slow, ddof=1) / 2)
    assert float(error) == error.value


def test_range_queries_count_places_that_stay_near() -> None:
    true = Paths.of([[(0, 0), (0, 0), (0, 0), (0, 0)], [(1, 1)]])
    seen = Paths.of([[(0.1, 0), (0, 0.3), (0.3, 0.4), (9, 9)], [(1, 1)]])
    assert range_query_preservation(true, seen, 0.5).per_path.tolist() == [75, 100]
    assert range_query_preservation(true, seen, 0.5).value == 87.5
    with pytest.raises(InvalidParameter, match="threshold"):
        range_query_preservation(true, seen, 0)


def test_hotspots_that_are_lost_are_counted() -> None:
    busy, quiet, other = (0.0, 0.0), (1.0, 1.0), (0.0, 1.0)
    true = Paths.of([[busy, busy, quiet], [busy, other], []])
    spots = Hotspots.of(true, share=1 / 3)
    assert spots.busy.sum() == 1
    # Two visits lost in the first path, one kept in the second; a gained one does not count.
    seen = Paths.of([[(0.9, 0.9), (0.1, 0.8), busy], [(0.2, 0.1), busy], []])
    found = hotspot_count_difference(true, seen, spots)
    assert found.per_path[:2].tolist() == [2, 0]
    assert math.isnan(found.per_path[2])
    assert hotspot_count_difference(true, true, spots).value == 0


def test_hotspots_on_a_grid_are_its_fullest_cells() -> None:
    square = Rectangle(Interval(0, 1, cells=2), Interval(0, 1, cells=2))
    spots = Hotspots.on_grid(Paths.of([[(0.1, 0.9), (0.2, 0.8), (0.9, 0.1)]]), square, share=0.25)
    assert spots.hit([(0.3, 0.7), (0.9, 0.1)]).tolist() == [True, False]
    with pytest.raises(InvalidParameter, match="share"):
        Hotspots.of(TRUE, share=0)


def test_directions_are_compared_around_the_circle() -> None:
    def around(*degrees: float) -> list[tuple[float, float]]:
        places = [(0.0, 0.0)]
        for angle in degrees:
            x, y = places[-1]
            places.append((x + math.cos(math.radians(angle)), y + math.sin(math.radians(angle))))
        return places

    true, seen = Paths.of([around(170, 90), around(0), [(1, 1)]]), Paths.of([around(190, 120), around(180), [(1, 1)]])
    assert np.degrees(direction_error(true, seen).per_path)[:2] == pytest.approx([25, 180])
    assert direction_error(true, seen).counted == 2


def test_steps_that_go_nowhere_have_no_direction() -> None:
    still = Paths.of([[(0, 0), (0, 0), (1, 0)], [(5, 5), (5, 5)]])
    seen = Paths.of([[(0, 0), (3, 3), (4, 3)], [(1, 1), (2, 2)]])
    error = direction_error(still, seen)
    assert error.per_path[0] == 0
    assert error.counted == 1


def slow_alignment(one: NDArray[np.float64], other: NDArray[np.float64], join: Callable[[float, float], float]) -> float:
    """The recursion of the definition."""

    @lru_cache(None)
    def best(i: int, j: int) -> float:
        step = math.dist(one[i], other[j])
        before = [best(a, b) for a, b in ((i - 1, j), (i, j - 1), (i - 1, j - 1)) if a >= 0 and b >= 0]
        return join(min(before), step) if before else step

    return best(len(one) - 1, len(other) - 1)


def test_alignments_equal_their_recursive_definitions() -> None:
    other = Paths.of([DRAWS.random((n, 2)) for n in (5, 4, 6, 1, 9)])
    for i, (t, s) in enumerate(zip(TRUE, other, strict=True)):
        warped, leash = dynamic_time_warping(TRUE, other).per_path[i], frechet_distance(TRUE, other).per_path[i]
        if len(t) == 0:
            assert math.isnan(warped)
            continue
        assert warped == pytest.approx(slow_alignment(t, s, lambda a, b: a + b))
        assert leash == pytest.approx(slow_alignment(t, s, max))


def test_alignments_of_long_paths_are_refused() -> None:
    long = Paths.of([np.zeros((100_000, 2))])
    with pytest.raises(InvalidParameter, match="every tenth"):
        dynamic_time_warping(long, long)


@pytest.mark.parametrize("metric", [average_error, direction_error])
def test_paths_that_do_not_fit_together_are_refused(metric: Callable[[Paths, Paths], object]) -> None:
    with pytest.raises(InvalidParameter, match="one for one"):
        metric(TRUE, Paths.of([[(0, 0)]]))
    broken = TRUE.with_places(np.where(TRUE.places > 0.9, np.nan, TRUE.places))
    with pytest.raises(InvalidParameter, match="not numbers"):
        metric(TRUE, broken)


def test_no_paths_have_no_average() -> None:
    nothing = Paths.of([])
    assert math.isnan(average_error(nothing, nothing).value)
    assert math.isnan(direction_error(Paths.of([[], []]), Paths.of([[], []])).value)
