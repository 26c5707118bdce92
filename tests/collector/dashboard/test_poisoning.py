"""How far fake devices can move an estimate: the numbers on the privacy page are what the collector would show."""

from __future__ import annotations

import math
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the collector's packages are not installed")

from deniable.batch import accumulator_for, randomize_many
from deniable.collector.dashboard.poisoning import poisoning_of
from deniable.collector.estimates import estimates
from deniable.collector.steps import Published
from deniable.core import Report
from deniable.estimators import first_coefficient
from deniable.privacy import FixedKeystream, count_gain, mean_gain
from deniable.surveys import Survey, survey_from_toml

MIXED = """
title = "Travel"
purpose = "To plan bus lines."
epsilon = 3
strategy = "split"
[attributes.minutes]
question = "How long?"
domain = "interval:0,180,180"
mechanism = "window"
[attributes.home]
question = "Where?"
domain = "rectangle:0,10,0,8,8"
"""
POISONED = """
title = "Travel"
purpose = "To plan bus lines."
epsilon = 2
strategy = "STRATEGY"
[attributes.commute]
question = "How?"
domain = "categories:bike,bus,car,walk"
[attributes.smokes]
question = "Do you smoke?"
domain = "binary"
"""


def moved(survey: Survey) -> dict[str, Any]:
    return {found["name"]: found for found in poisoning_of(survey)}


def test_one_fake_device_in_a_hundred_moves_a_share_by_the_published_amount() -> None:
    split = survey_from_toml(POISONED.replace("STRATEGY", "split"))
    for name, found in moved(split).items():
        gain = count_gain(split.parts[name], users=99, fakes=1)
        assert math.isclose(found["moves"], gain.gain, rel_tol=1e-12)
        assert gain.exact
        assert found["proved"]
        assert f"{100 * gain.gain:.2g} percentage points" in found["words"]
    # k-rr: (1 - q)/(p - q) = 1 + 3/(e - 1) at epsilon 1.
    assert math.isclose(moved(split)["commute"]["per_fake"], 1 + 3 / (math.e - 1), rel_tol=1e-3)


def test_fake_devices_need_not_leave_the_picking_of_the_question_to_chance() -> None:
    survey = survey_from_toml(POISONED.replace("STRATEGY", "sample-one"))
    gain = count_gain(survey.parts["commute"], users=99, fakes=2)
    assert math.isclose(moved(survey)["commute"]["moves"], gain.gain, rel_tol=1e-12)
    assert "can choose which question" in moved(survey)["commute"]["words"]


@pytest.mark.parametrize("strategy", ["split", "sample-one", "fake-data"])
def test_the_bound_is_what_the_collector_would_show(strategy: str) -> None:
    toml = POISONED.replace("STRATEGY", strategy).replace('"binary"', '"categories:yes,no"')
    survey = survey_from_toml(toml)
    honest = {"commute": ["bike"] * 9900, "smokes": ["no"] * 9900}
    stream = FixedKeystream(f"poisoning {strategy}")
    worst = worst_output(survey, "bus")
    sums = accumulator_for(survey.mechanism).add(randomize_many(survey.mechanism, honest, stream))
    before = bus_share(survey, sums)
    sums.add([Report(survey.mechanism.fingerprint, worst)] * 100)
    after = bus_share(survey, sums)
    bound = moved(survey)["commute"]["moves"]
    assert after - before <= bound + 1e-9 + bound * abs(before)
    # The bound is for nobody who says so: the honest reports' own share, near 0, is thinned out a little.
    assert after - before == pytest.approx(bound - bound / survey_gain(survey) * before, rel=0.05)


def survey_gain(survey: Survey) -> float:
    return float(moved(survey)["commute"]["per_fake"])


def worst_output(survey: Survey, label: str) -> int:
    """A report that supports the label: the likeliest one that a person who says so sends."""
    drawn = survey.mechanism.randomize_many({"commute": [label] * 4000, "smokes": ["no"] * 4000})
    outputs: list[int] = drawn.ints()
    sums = {output: bus_share(survey, accumulator_for(survey.mechanism).add(_many(survey, output))) for output in set(outputs)}
    return max(sums, key=lambda output: sums[output])


def _many(survey: Survey, output: int) -> list[Report]:
    # Other answers to the sampled question, so that every field has some.
    everything = survey.mechanism.randomize_many({"commute": ["bike"] * 50, "smokes": ["no"] * 50}).ints()
    return [Report(survey.mechanism.fingerprint, number) for number in [*everything, *[output] * 50]]


def bus_share(survey: Survey, sums: Any) -> float:
    found = next(one for one in estimates(survey, Published({}, sums)).attributes if one.name == "commute")
    return next(row.value for row in found.views[0].rows if row.label == "bus")


def test_every_kind_of_estimate_has_its_sentence() -> None:
    survey = survey_from_toml(MIXED.replace('"window"', '"sw"') + '[attributes.when]\nquestion = "When?"\ndomain = "circle:24"\n')
    found = moved(survey)
    gain = mean_gain(survey.parts["minutes"], users=99, fakes=1)
    assert found["minutes"]["moves"] == pytest.approx(gain.gain)
    assert found["home"]["moves"] is None
    assert "No bound is worked out" in found["home"]["words"]
    assert found["when"]["moves"] == pytest.approx(0.01 * (1 / first_coefficient(survey.parts["when"].channel) + 1))
    window = moved(survey_from_toml(MIXED))["minutes"]
    assert not window["proved"]
    assert 0 < window["moves"] < 18
    assert "does not prove a limit" in window["words"]
