"""Distributions are planned by what will be shown: intervals of bins, or the distance from the truth."""

from __future__ import annotations

import pytest

from deniable.core import Circle, Epsilon, Interval, make_mechanism
from deniable.errors import InvalidParameter, NotSupported
from deniable.planning import Question, Way, plan, ways
from deniable.planning.shown import fitted_distance, predicted_half_width
from deniable.privacy import FixedKeystream


def asked(**more: object) -> Question:
    return Question(**{"task": "distribution", "domain": Interval(0, 1), "users": 5000, "epsilon": 1, **more})  # type: ignore[arg-type]


def way_of(question: Question, name: str) -> Way:
    return next(
        way for way in ways(question, Epsilon(question.epsilon or 1), slow=False) if isinstance(way, Way) and way.name == name
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sw", "window", "pm-c", "subset", "hierarchical-histogram"])
@pytest.mark.parametrize("epsilon", [1, 4])
def test_predicted_half_widths_are_those_of_surveys(name: str, epsilon: int) -> None:
    """Fixed coins; ten percent is what is promised."""
    way = way_of(asked(epsilon=epsilon, users=2000, bins=16), name)
    simulated = way.simulated(2000, 4, FixedKeystream(f"shown {name} {epsilon}"))
    assert simulated.error == pytest.approx(way.predict(2000).error, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sw", "pm-c", "subset"])
def test_predicted_distances_are_those_of_surveys(name: str) -> None:
    """Ten percent is what is promised; as many surveys as leave 4 % of noise or so, and fixed coins."""
    way = way_of(asked(bins=16, metric="wasserstein"), name)
    simulated = way.simulated(5000, 150, FixedKeystream(f"distance {name}"))
    assert simulated.error == pytest.approx(way.predict(5000).error, rel=0.1)


@pytest.mark.slow
def test_twelve_bins_at_epsilon_1_are_asked_for_as_categories() -> None:
    """Valid intervals of a square wave's bins are three times as wide."""
    planned = plan(asked(bins=12))
    assert planned.pick.mechanism == "subset"
    assert planned.pick.predicted_error == pytest.approx(0.0482, rel=0.01)
    wave = predicted_half_width(make_mechanism("sw", epsilon=1), 12, 5000)
    assert 2.5 < wave / planned.pick.predicted_error < 3.5
    assert "half-width" in planned.error_means


@pytest.mark.slow
def test_the_distance_falls_with_the_number_of_people() -> None:
    few, many = (fitted_distance(make_mechanism("sw", epsilon=4), n) for n in (1000, 100_000))
    assert many < few / 4


def test_a_metric_is_one_of_two_and_fits_the_domain() -> None:
    with pytest.raises(NotSupported, match="interval"):
        asked(domain=Circle(cells=360), metric="wasserstein")
    with pytest.raises(InvalidParameter, match="metric"):
        asked(metric="guess")
