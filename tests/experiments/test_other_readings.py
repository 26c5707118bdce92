"""The simulations of other readings are what they say: right ones agree with the mechanisms, faulty ones have their fault."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deniable.batch.sampler import uniform_below
from deniable.experiments.artifact import Run
from deniable.experiments.data_utility import joined
from deniable.experiments.figures.figure_d_5 import exchanged, output_window, square_wave, square_wave_distance, unwrapped
from deniable.experiments.grid_variants import DOWN, NEAREST, UP, placements, tracs_errors, walks_over
from deniable.experiments.path_variants import sorted_by, tracs_c_error
from deniable.experiments.place_walks import grid_places, place_rows, released_rows
from deniable.experiments.released_places import ATPReading, Tables, released_answers
from deniable.experiments.released_walks import (
    CENTRE,
    PUBLISHED_SPLIT,
    Floats,
    Walker,
    along,
    around,
    border,
    coordinate_reports,
    distance_window,
    ogpm_parts,
    released_sectors,
    sw_parts,
)
from deniable.experiments.walks import (
    EPSILONS,
    error_rows,
    mean_error,
    random_walks,
    rectangle,
    released_strawman,
    tracs_c,
    tracs_d,
    uniforms,
)
from deniable.testing import FixedKeystream
from deniable.trajectories import Paths
from deniable.trajectories.baselines import ATP

LEVELS = (2, 6, 10)
UNIT = ((0.0, 0.0), (1.0, 1.0))
COUNT = 200_000


def walks(paths: int = 300) -> Paths:
    return random_walks(paths, 100, FixedKeystream("other readings"))


def coins(count: int = COUNT) -> tuple[Floats, Floats]:
    return uniforms(count, FixedKeystream("first coin")), uniforms(count, FixedKeystream("second coin"))


def test_the_plain_walkers_err_as_the_mechanisms_do() -> None:
    """Differences within six joint standard errors of 300 paths (false alarm below 1e-7 for all nine)."""
    square = rectangle(1, 1)
    builds = {"d": tracs_d(square), "s": released_strawman(square), "c": tracs_c(square)}
    rows = {(row["mechanism"], row["epsilon"]): row for row in error_rows(builds, walks(), LEVELS, Run(), "other readings")}
    plain: dict[str, list[float]] = {
        "d": Walker(start=CENTRE).errors(walks(), *UNIT, LEVELS, FixedKeystream("d")).tolist(),
        "s": Walker(start=CENTRE, direction=released_sectors(6)).errors(walks(), *UNIT, LEVELS, FixedKeystream("s")).tolist(),
        "c": [
            float(np.hypot(*(one - walks().places).T).mean())
            for one in coordinate_reports(walks(), *UNIT, LEVELS, FixedKeystream("c"))
        ],
    }
    for name, errors in plain.items():
        for epsilon, found in zip(LEVELS, errors, strict=True):
            row = rows[name, epsilon]
            assert abs(found - row["average_error"]) < 6 * math.sqrt(2) * row["average_error_standard_error"], (name, epsilon)


def test_reports_stay_inside_and_the_border_is_the_slab_rule() -> None:
    reports = Walker().reports(walks(20), *UNIT, (2,), FixedKeystream("inside"))
    assert reports.min() >= 0
    assert reports.max() <= 1
    far = border(np.array([[0.3, 0.4], [0.3, 0.4]]), np.array([0.0, 0.25]), np.array([1.0, 1.0]))
    assert far == pytest.approx([0.7, 0.6])


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
def test_windows_hold_their_chance_and_width(epsilon: float) -> None:
    """200,000 draws: six standard errors of a share are below 0.0068."""
    level = np.full(COUNT, epsilon)
    for parts in (ogpm_parts, sw_parts):
        width, chance = (float(part[0]) for part in parts(level))
        assert math.log((chance / width) / ((1 - chance) / (1 - width))) == pytest.approx(epsilon), "the ratio of the levels is e^ε"
        for x in (0.5, 0.01):
            found = along(np.full(COUNT, x), *parts(level), *coins())
            begin = min(max(x - width / 2, 0), 1 - width)
            assert np.mean((found >= begin) & (found < begin + width)) == pytest.approx(chance, abs=0.0068)
            turned = around(np.full(COUNT, x), *parts(level), *coins())
            apart = np.minimum(np.abs(turned - x), 1 - np.abs(turned - x))
            assert np.mean(apart < width / 2) == pytest.approx(chance, abs=0.0068)


def test_a_window_by_the_output_always_favours_both_ends() -> None:
    level = np.full(COUNT, 3.0)
    width = float(sw_parts(level)[0][0])
    found = output_window(np.full(COUNT, 0.3), level, *coins())
    dense = [np.mean((found >= low) & (found < high)) / (high - low) for low, high in ((0, width / 2), (1 - width / 2, 1))]
    middle = np.mean(np.abs(found - 0.3) < width / 2) / width
    empty = np.mean((found > 0.6) & (found < 0.8)) / 0.2
    # Densities of 200,000 draws over widths above 0.05: six standard errors are below 6 %.
    assert dense == pytest.approx([middle, middle], rel=0.08)
    assert middle / empty == pytest.approx(math.exp(3), rel=0.1)
    right = square_wave_distance(np.full(COUNT, 0.3), level, *coins())
    assert np.mean(right < width / 2) / (width / 2) < 0.2 * middle


def test_faulty_directions_have_their_fault() -> None:
    level, turns = np.full(COUNT, 6.0), np.full(COUNT, 0.999)
    right, wrong = (one(turns, level, *coins()) for one in (square_wave, unwrapped))
    apart = [float(np.minimum(np.abs(one - 0.999), 1 - np.abs(one - 0.999)).mean()) for one in (right, wrong)]
    assert apart[1] > 2 * apart[0], "an arc over the full turn is drawn from its complement"
    away = exchanged(np.full(COUNT, 0.4), level, *coins())
    near = square_wave(np.full(COUNT, 0.4), level, *coins())
    assert np.abs(away - 0.4).mean() > 2 * np.abs(near - 0.4).mean()


def test_released_sectors_lie_too_rarely() -> None:
    found = released_sectors(6)(np.full(COUNT, 0.1), np.full(COUNT, 2.0), *coins())
    lies = float(np.mean(np.floor(found * 6) != 0))
    assert lies == pytest.approx(1 / (5 + math.exp(2)), abs=0.004), "six standard errors are 0.0037"
    assert lies < 0.3 * 5 / (5 + math.exp(2))
    shares = np.bincount(np.floor(found * 6).astype(int), minlength=6)[1:] / COUNT
    assert shares == pytest.approx(np.full(5, lies / 5), abs=0.002), "all other sectors alike"


def test_released_answers_have_the_expected_error_of_their_weights() -> None:
    """20,000 draws of an error below 1.5 with spread 0.3: six standard errors are 0.013."""
    places = grid_places(10)
    true = uniform_below(100, 20_000, FixedKeystream("true")).astype(np.int64)
    rows = released_rows(Paths.of([places.coordinates]), places, 1.0, (2, 8))
    tables = Tables(places)
    for row in rows:
        name = row["mechanism"].removesuffix(" as released")
        found = released_answers(name, true, tables, 1.0, row["epsilon"], FixedKeystream("answers"))
        apart = np.hypot(*(places.coordinates[found] - places.coordinates[true]).T)
        assert float(apart.mean()) == pytest.approx(row["average_error"], abs=0.013)
        if name == "NGram":
            assert apart.max() <= 0.75 + 1e-6


def test_atp_with_our_shares_is_our_atp() -> None:
    """2,000 locations each: six joint standard errors are below 0.04."""
    places = grid_places(10)
    chosen = uniform_below(100, 2000, FixedKeystream("paths")).astype(np.int64)
    paths = Paths(places.coordinates[chosen], 100 * np.arange(21))
    ours = place_rows({"ATP": lambda e: ATP(places=places, epsilon=e)}, paths, places, (4,), Run(), "atp")[0]["average_error"]
    answers = ATPReading(1 / 5, 3 / 10, 1 / 5).answers(paths, Tables(places), 4, FixedKeystream("atp"))
    assert float(np.hypot(*(places.coordinates[answers] - paths.places).T).mean()) == pytest.approx(ours, abs=0.04)
    lying = ATPReading(1 / 5, 3 / 10, 1 / 5, released_lies=True).answers(paths, Tables(places), 4, FixedKeystream("atp"))
    assert float(np.hypot(*(places.coordinates[lying] - paths.places).T).mean()) < ours - 0.04, "rarer lies, smaller errors"


def test_one_sided_rounding_never_goes_to_the_other_side() -> None:
    found = uniforms(2000, FixedKeystream("places")).reshape(-1, 2)
    tried = placements(10, Run())
    assert (tried[DOWN][1](found) <= found + 1e-12).all()
    up = tried[UP][1](found)
    assert (up[found < 0.9] >= found[found < 0.9] - 1e-12).all()
    assert up.max() <= 0.9 + 1e-12


def test_sorted_places_are_different_and_in_order() -> None:
    paths = Paths.of([[(2, 2), (1, 5), (2, 2), (0, 9)]])
    assert sorted_by(0)(paths)[0].tolist() == [[0, 9], [1, 5], [2, 2]]
    assert sorted_by(1)(paths)[0].tolist() == [[2, 2], [1, 5], [0, 9]]


def test_parts_of_the_records_join_to_all_of_them() -> None:
    def row(rho: float, worst: float) -> dict[str, float]:
        return {"rho": rho, "low": rho, "high": rho, "empirical": rho, "worst": worst}

    assert joined([(2, [row(0.5, 0.4)])]) == [row(0.5, 0.4)]
    assert joined([(2, [row(0.5, 0.4)]), (1, [row(0.8, 0.8)])]) == [row(0.6, 0.4)]


def test_distances_are_reported_near_the_truth_at_large_epsilon() -> None:
    found = distance_window(np.full(COUNT, 0.7), np.full(COUNT, 16.0), *coins())
    assert float(np.median(np.abs(found - 0.7))) < 1e-3


def test_the_printed_ratios_on_few_points_need_one_sided_rounding() -> None:
    """10 × 10 points, 20,000 locations: six standard errors of a ratio are below 0.015."""
    printed = {("TraCS-C", "NGram"): 0.661, ("TraCS-C", "L-SRR"): 0.571, ("TraCS-D", "NGram"): 0.769, ("TraCS-D", "L-SRR"): 0.664}
    tried = placements(10, Run())
    paths = walks_over(tried[UP][0], 200, Run(), "one-sided")
    rows = released_rows(paths, tried[UP][0], 1.0, EPSILONS, most=4000)
    errors = {label: tracs_errors(paths, tried[label][1], EPSILONS, Run(), "one-sided") for label in (UP, NEAREST)}
    for (one, other), value in printed.items():
        theirs = mean_error(rows, f"{other} as released")
        assert errors[UP][one] / theirs == pytest.approx(value, abs=0.025)
    against = mean_error(rows, "NGram as released")
    assert errors[NEAREST]["TraCS-C"] / against < 0.661 - 0.05, "rounding to the nearest point does not give it"


def test_the_printed_share_of_the_square_wave_needs_two_faults() -> None:
    """10,000 locations: six standard errors of a ratio are below 0.02."""
    taken = walks(100)
    own = Walker(start=CENTRE).errors(taken, *UNIT, EPSILONS, FixedKeystream("own")).mean()
    right = Walker(square_wave, square_wave_distance, PUBLISHED_SPLIT, CENTRE)
    literal = Walker(square_wave, output_window, PUBLISHED_SPLIT, CENTRE)
    both = Walker(square_wave, output_window, 1 - PUBLISHED_SPLIT, CENTRE)
    shares = [float(own / one.errors(taken, *UNIT, EPSILONS, FixedKeystream("other")).mean()) for one in (right, literal, both)]
    assert shares[0] > 0.88
    assert 0.7 < shares[1] < 0.8
    assert shares[2] == pytest.approx(0.526, abs=0.025)


def test_a_dozen_locations_give_the_printed_ratio_on_the_short_side() -> None:
    """1,000 paths of 12 locations: six standard errors of the ratio are below 0.03."""
    one = np.stack([2 * (np.arange(12) + 0.5) / 12, np.full(12, 1e-6)], axis=1)
    paths, box = Paths.of([one] * 1000), ((0.0, 0.0), (2.0, 10.0))
    own = tracs_c_error(paths, *box, Run(), "short side")
    found = Walker(start=CENTRE).errors(paths, *box, EPSILONS, FixedKeystream("short side")).mean() / own
    assert float(found) == pytest.approx(0.498, abs=0.03)
