"""Chapter 6 and appendix D come out again: everything promised exists, repeats itself, and is reproduced or explained."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from reproduce.tests.checking import check, computed

from deniable.core.mechanisms.spatial.strawman import Strawman
from deniable.privacy import FixedKeystream
from deniable.studies import Paths
from deniable_reproduce.artifact import MissingData, Run
from deniable_reproduce.catalogue import find, names
from deniable_reproduce.figures.figure_6_03 import mismatches, printed, slab
from deniable_reproduce.figures.figure_6_10 import STATED_LOST
from deniable_reproduce.released_paths import ReleasedCity
from deniable_reproduce.released_runs import chicago_metrics
from deniable_reproduce.tables.table_6_2 import PRINTED
from deniable_reproduce.walks import (
    always_below,
    area,
    check_ins,
    clipped,
    different_places,
    error_rows,
    mean_error,
    random_walks,
    ratio,
    ratio_error,
    rectangle,
    released_strawman,
    strawman,
    tracs_c,
)
from tests.outside_data import FOLDER, needs

needs_data = needs("tokyo_checkins.csv")
LIGHT = [
    "figure-6.2",
    "figure-6.3",
    "figure-6.6",
    "figure-d.1",
    "figure-d.2",
    "figure-d.4",
    "figure-d.5",
    "figure-d.6",
    "table-6.1",
    "example-10",
]
HEAVY = ["figure-6.4", "figure-6.5", "figure-d-split", "beyond-disc", "figure-6.8"]
WITH_DATA = ["figure-6.7", "figure-6.9", "figure-6.10", "figure-d.7", "figure-d.8"]
TIMED = ["figure-d.3", "table-6.2"]
"""Clocks are read: their results differ from run to run in `timings` only."""


def test_every_figure_table_and_example_of_the_chapter_exists() -> None:
    promised = [f"figure-6.{i}" for i in range(2, 11)] + [f"figure-d.{i}" for i in range(1, 9)]
    promised += ["figure-d-split", "table-6.1", "table-6.2", "example-10", "beyond-disc"]
    assert set(promised) <= set(names())
    assert set(promised) == {*LIGHT, *HEAVY, *WITH_DATA, *TIMED}
    assert [find(name).name for name in promised] == promised


@pytest.mark.slow
@pytest.mark.parametrize("name", LIGHT)
def test_light_artifacts_repeat_themselves_and_are_reproduced_or_explained(name: str) -> None:
    check(name, twice=True)


@pytest.mark.heavy
@pytest.mark.parametrize("name", HEAVY)
def test_simulated_artifacts_repeat_themselves_and_are_reproduced_or_explained(name: str) -> None:
    check(name, twice=True)


@pytest.mark.heavy
@needs_data
@pytest.mark.parametrize("name", [*WITH_DATA, *TIMED])
def test_artifacts_on_real_check_ins_are_reproduced_or_explained(name: str) -> None:
    check(name, twice=name == "figure-d.8")


def test_absent_data_is_asked_for_by_name() -> None:
    with pytest.raises(MissingData, match=r"tokyo_checkins\.csv .*--data"):
        find("figure-d.8").compute(Run())


def test_the_strawman_as_released_spends_more_than_it_says() -> None:
    square = rectangle(1, 1)
    stated, real = strawman(square)(2), released_strawman(square)(2)
    assert isinstance(stated, Strawman)
    assert isinstance(real, Strawman)
    assert float(stated.epsilons[0]) == pytest.approx(1.517094, abs=1e-6)
    assert float(real.epsilons[0]) == pytest.approx(math.log(6 * (4 + math.exp(1.517093986))), rel=1e-8)
    # The distance keeps its own share.
    assert float(stated.epsilons[1]) == pytest.approx(float(real.epsilons[1]), rel=1e-9)


def test_crossings_of_the_figure_need_the_strawman_as_released() -> None:
    """At ε = 2 and 4 on 30,000 places; the differences are more than 20 standard errors."""
    square = rectangle(1, 1)
    walks = random_walks(300, 100, FixedKeystream("crossings"))
    builds = {"ours": tracs_c(square), "correct": strawman(square), "released": released_strawman(square)}
    rows = error_rows(builds, walks, (2, 4), Run(), "crossings")
    assert always_below(rows, "ours", "correct")
    assert not always_below(rows, "ours", "released")
    assert always_below(rows, "ours", "released", least=4)


def test_ratios_are_those_of_mean_errors_over_shared_levels() -> None:
    rows = [
        {"mechanism": name, "epsilon": level, "average_error": error, "average_error_standard_error": 0.1 * error}
        for name, errors in {"a": {2: 1.0, 4: 3.0, 6: 100.0}, "b": {2: 2.0, 4: 6.0}}.items()
        for level, error in errors.items()
    ]
    assert ratio(rows, "a", "b") == 0.5
    assert mean_error(rows, "a") == pytest.approx(104 / 3)
    assert ratio_error(rows, "a", "b") == pytest.approx(0.5 * math.sqrt(2) * math.sqrt(0.1) / 4, rel=1e-2)
    assert always_below(rows, "a", "b")
    assert not always_below(rows, "b", "a")
    assert not always_below(rows, "a", "b", least=6), "no shared level is no evidence"


def test_random_walks_fill_their_rectangle_and_repeat() -> None:
    first, again = (random_walks(50, 100, FixedKeystream("walks"), 2, 10) for _ in range(2))
    assert np.array_equal(first.places, again.places)
    assert first.lengths.tolist() == [100] * 50
    # Means of 5,000 uniform numbers: five standard errors are 0.0204 of the side.
    assert first.places.mean(axis=0) == pytest.approx([1, 5], abs=0.0204 * 10)
    assert first.places.min() > 0
    assert (first.places < [2, 10]).all()


def test_different_places_keep_the_order_of_first_visits() -> None:
    paths = Paths.of([[(2, 2), (1, 1), (2, 2), (0, 5)], [(3, 3)]])
    assert [path.tolist() for path in different_places(paths)] == [[[2, 2], [1, 1], [0, 5]], [[3, 3]]]


def test_clipped_places_lie_inside() -> None:
    region = area(("-87.9", "41.6", "-87.5", "42.0"))
    moved = clipped(Paths.of([[(-88.0, 41.7), (-87.6, 42.5)]]), region)
    assert (moved.places > [-87.9, 41.6]).all()
    assert (moved.places < [-87.5, 42.0]).all()


def test_printed_and_true_border_distances_agree_inside_and_not_in_a_corner() -> None:
    assert printed(0.3, 0.4, 0.1 * math.pi) == pytest.approx(slab(0.3, 0.4, 0.1 * math.pi), abs=1e-9)
    assert slab(1.0, 0.0, 0.75 * math.pi) == pytest.approx(math.sqrt(2), abs=1e-9)
    assert [mismatches(0.3, 0.4), mismatches(1.0, 0.0), mismatches(0.0, 0.0)] == [0, 16, 2]


@needs_data
def test_the_paths_of_tokyo_are_lists_of_places() -> None:
    paths = check_ins(Run(data=FOLDER), "tokyo")
    assert float(np.mean(paths.lengths)) == pytest.approx(290.14)
    assert round(float(np.mean(different_places(paths).lengths)), 1) == 112.3


@needs_data
def test_the_released_paths_of_chicago_have_the_printed_length() -> None:
    city = ReleasedCity.of(Run(data=FOLDER), "chicago")
    assert len(city.space) == 1000
    assert float(np.mean(city.taken(100, 200).lengths)) == pytest.approx(12.63)
    assert float(np.mean(city.taken(0, 100).lengths)) == pytest.approx(7.53)


@needs_data
def test_the_printed_losses_are_changes_of_counts() -> None:
    """100 paths, four times: the tolerance of the figure is three standard errors of one time."""
    found = chicago_metrics(Run(data=FOLDER), 4)
    for name, stated in STATED_LOST.items():
        assert float(np.mean(found["difference"][name])) == pytest.approx(stated, abs=0.3), name
        assert float(np.mean(found["lost"][name])) > stated + 0.4, name


def test_the_redesigned_square_wave_is_nearly_as_good() -> None:
    """The standard error of the ratio is below 0.003; 0.526 is printed."""
    result = computed("figure-d.5")
    assert next(iter(result["standard_errors"].values())) < 0.003
    assert 0.89 < result["numbers"]["TraCS-D / TraCS-D (R-SW)"] < 0.95
    assert result["numbers"]["TraCS-D / TraCS-D (R-SW), released setting"] == pytest.approx(0.526, abs=0.015)


def test_the_released_direction_error_needs_the_released_distance() -> None:
    numbers = computed("figure-6.6")["numbers"]
    assert numbers["TraCS-D at ε = 2"] == pytest.approx(math.pi / (math.e + 1), abs=0.04)
    assert numbers["TraCS-D at ε = 2, released distance"] == pytest.approx(0.62017, abs=0.03)


def test_the_printed_times_do_not_bear_out_the_printed_share() -> None:
    share = Fraction(str(PRINTED["TraCS-D"][0])) / Fraction(str(PRINTED["NGram"][0]))
    assert share > Fraction(5, 10_000)
    assert Fraction(str(PRINTED["TraCS-C"][0])) / Fraction(str(PRINTED["NGram"][0])) < Fraction(5, 10_000)
