"""`mechanism = "auto"`: the planner chooses, the document holds the choice, and the same file stays the same survey."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sqlalchemy", reason="the collector's packages are not installed")

from deniable.batch import accumulator_for, randomize_many
from deniable.collector import Store, opened, planned_survey
from deniable.collector import planned as planning
from deniable.collector.estimates import BINS, views_of
from deniable.collector.planned import chosen, readable
from deniable.core import Epsilon, make_mechanism
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import valid_half_width
from deniable.planning import Question, plan
from deniable.privacy import FixedKeystream
from deniable.surveys import Asked, Survey, parse_domain

FORM = 'title="t"\npurpose="p"\nepsilon={epsilon}\n{more}[attributes.x]\nquestion="q"\ndomain="{domain}"\n'


def survey(domain: str, epsilon: str = "1", more: str = "", rest: str = "") -> planning.Planned:
    return planned_survey(FORM.format(domain=domain, epsilon=epsilon, more=more) + rest)


CHOSEN = [
    ("binary", "1", "randomized-response"),
    ("categories:4", "2", "k-rr"),
    ("categories:1000", "1", "hadamard"),
    ("interval:0,180,180", "2", "sw"),
    ("interval:0,180,180", "4", "sw"),
    ("rectangle:0,10,0,8,8", "1", "nearest-cells"),
    ("text:6", "4", "tree-hist"),
]


@pytest.mark.parametrize(("domain", "epsilon", "name"), CHOSEN)
def test_every_kind_of_answer_gets_a_mechanism_and_a_reason(domain: str, epsilon: str, name: str) -> None:
    found = survey(domain, epsilon)
    assert found.survey.mechanism.name == name
    assert found.survey.mechanism.domain == parse_domain(domain)
    assert found.reasons["x"].startswith(f"{name}: ")
    assert "10,000 answers" in found.reasons["x"]
    assert "predicted: " in found.reasons["x"]
    assert Survey.from_json(found.survey.to_json(), hash=found.survey.hash) == found.survey


@pytest.mark.slow
@pytest.mark.parametrize("domain", ["categories:4", "categories:50", "categories:1000"])
@pytest.mark.parametrize("epsilon", ["1/2", "2", "5"])
def test_the_choice_is_within_five_percent_of_the_planners_best(domain: str, epsilon: str) -> None:
    asked = Asked("x", parse_domain(domain), Epsilon(epsilon), 20_000)
    planned = plan(Question(task="frequency", domain=asked.domain, users=20_000, epsilon=epsilon))
    mechanism, _ = chosen(asked)
    (same,) = [one for one in planned.candidates if one.mechanism == mechanism.name]
    assert same.predicted_error <= 1.05 * planned.pick.predicted_error
    assert same.bytes_per_report <= planned.pick.bytes_per_report


@pytest.mark.slow
def test_a_survey_that_wants_the_mean_gets_a_mechanism_for_means() -> None:
    shape, mean = survey("interval:0,180"), survey("interval:0,180", rest='learn = "mean"\n')
    assert (shape.survey.mechanism.name, mean.survey.mechanism.name) == ("sw", "one-bit-mean")
    assert "noise moves the mean by" in mean.reasons["x"]
    assert not readable(mean.survey.mechanism, "distribution")


def test_a_shorter_report_is_not_worth_more_than_five_percent() -> None:
    # three-outputs fits one byte, but errs about half more than pm-sub at epsilon 4.
    assert survey("interval:0,180", "4", rest='learn = "mean"\n').survey.mechanism.name == "pm-sub"


def test_how_many_answer_is_told_and_named_mechanisms_have_no_reason() -> None:
    assert "for 500 answers" in survey("categories:4", more="respondents = 500\n").reasons["x"]
    assert survey("categories:4", rest='mechanism = "oue"\n').reasons == {}


def test_where_nothing_can_be_planned_the_usual_mechanism_stands_in(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(asked: Asked) -> None:
        raise NotSupported("no way")

    monkeypatch.setattr(planning, "chosen", refuse)
    found = survey("categories:1000")
    assert found.survey.mechanism.name == "k-rr"
    assert found.reasons["x"] == "k-rr: the usual mechanism for such answers; nothing could be planned (no way)."
    monkeypatch.undo()
    with pytest.raises(InvalidParameter, match="name one"):
        survey("points:0,0;3,4;5,6")


def test_the_same_file_stays_the_same_survey_whatever_is_planned_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(f"sqlite:///{tmp_path / 'x.db'}")
    text = FORM.format(domain="categories:1000", epsilon=1, more="")
    first, created = opened(store, text)[""]
    assert created
    assert store.reasons(first.survey.hash) == first.reasons
    monkeypatch.setattr(planning, "chosen", lambda asked: (make_mechanism("oue", domain=asked.domain, epsilon=1), "oue: news"))
    assert planned_survey(text).survey != first.survey
    assert opened(store, text) == {"": (first, False)}
    changed, created = opened(store, text.replace('"q"', '"why"'))[""]
    assert created
    assert changed.survey.mechanism.name == "oue"
    store.close()


@pytest.mark.parametrize(("name", "epsilon", "users"), [("sw", 2, 5000), ("window", 1, 20_000)])
def test_the_predicted_half_width_is_that_of_the_histogram_shown(name: str, epsilon: int, users: int) -> None:
    """The coins are fixed: this cannot fail by chance."""
    mechanism = make_mechanism(name, domain=parse_domain("interval:0,180,180"), epsilon=epsilon)
    values = 180 * (np.arange(users) + 0.5) / users
    sums = accumulator_for(mechanism).add(randomize_many(mechanism, values, FixedKeystream(f"shown {name}")))
    (view,) = [view for view in views_of(mechanism, sums, sums, "") if view.what == "distribution"]
    shown = np.mean([row.high - row.low for row in view.rows]) / 2
    assert shown == pytest.approx(valid_half_width(mechanism, BINS, users), rel=0.1)


WITHOUT = """
import sys
from importlib.abc import MetaPathFinder

class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name in ("highspy", "pyscipopt"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
from deniable.collector import planned_survey
print(*planned_survey(sys.stdin.read()).reasons)
"""


@pytest.mark.slow
def test_a_survey_is_planned_without_a_solver() -> None:
    """The extras that the quick start installs bring none."""
    text = Path("examples/survey/survey.toml").read_text()
    done = subprocess.run([sys.executable, "-c", WITHOUT], input=text, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()
