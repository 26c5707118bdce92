"""With the output of the draw and the system's generator fixed, nothing that leaves a device or stays on it tells its answer."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import shutil
from datetime import date
from pathlib import Path

import pytest
from tests.guards.emissions import Run, assert_nothing_told, run
from tests.guards.scenarios import an_output, answer_once, answers_of, bodies, keys, least_private, life, lives, survey_of
from tests.guards.wire_tap import WireTap

from deniable.core import Categories, Circle, Domain, Interval, SystemCoins, make_mechanism, names
from deniable.privacy import FixedCoins
from deniable.surveys import Ledger, survey_from_toml

PURE = [name for name in names() if not least_private(name).certificate().delta]
"""Surveys take purely private mechanisms only."""


@pytest.mark.parametrize("name", PURE)
def test_a_sessions_life_is_the_same_for_every_answer(name: str, folder: Path, tap: WireTap) -> None:
    survey = survey_of(least_private(name))
    runs = lives(survey, answers_of(survey), folder, tap)
    assert_nothing_told(runs)
    assert runs[0].draws == 4
    assert [len(body.get("submissions", [body])) for body in bodies(runs[0].wire)] == [1] * 7 + [2] * 3 + [1]


@pytest.mark.parametrize(
    "domain", [Categories(9), Interval(0, 8, cells=9), Circle(cells=9)], ids=["categories", "interval", "circle"]
)
def test_every_value_of_a_small_domain_leaves_the_same(domain: Domain, folder: Path, tap: WireTap) -> None:
    name = "k-rr" if isinstance(domain, Categories) else "window" if isinstance(domain, Interval) else "circular-window"
    survey = survey_of(make_mechanism(name, domain=domain, epsilon=1))
    assert_nothing_told(lives(survey, answers_of(survey, 9), folder, tap))


@pytest.mark.parametrize("strategy", ["split", "sample-one", "fake-data"])
def test_the_order_in_which_attributes_are_given_is_not_told(strategy: str, folder: Path, tap: WireTap) -> None:
    fields = {"bread": "categories:rye,oat,malt", "age": "categories:10", "smokes": "binary"}
    asked = "".join(f'[attributes.{name}]\nquestion="?"\ndomain="{domain}"\n' for name, domain in fields.items())
    head = 'title="T"\npurpose="P"\nepsilon=1\nbudget=4\nrepeat="each-window"\nwindow="day"\n'
    survey = survey_from_toml(f'{head}strategy="{strategy}"\n{asked}')
    given = [("bread", "oat"), ("age", 7), ("smokes", True)]
    other = [("smokes", False), ("bread", "malt"), ("age", 0)]
    orders = [dict(order) for values in (given, other) for order in itertools.permutations(values)]
    assert_nothing_told(lives(survey, [*orders[:3], *orders[-3:]], folder, tap))


@pytest.mark.parametrize("name", ["randomized-response", "k-rr", "oue", "duchi", "three-outputs", "hadamard"])
def test_answers_that_happen_to_give_the_same_report_leave_the_same(name: str, folder: Path, tap: WireTap) -> None:
    """The draws are real here: for every answer, coins are looked for that lead to the same output."""
    survey = survey_of(least_private(name))
    mechanism = survey.mechanism
    target = an_output(mechanism)
    runs = {}
    for place, answers in enumerate([*answers_of(survey)[:1], *answers_of(survey)]):
        value = survey.value(answers)
        seed = next(seed for seed in itertools.count() if mechanism.randomize(value, FixedCoins(seed)).output == target)
        with pytest.MonkeyPatch.context() as patch:
            coins = FixedCoins(seed)
            patch.setattr(SystemCoins, "below", lambda self, n, coins=coins: coins.below(n))
            runs[place] = run(answer_once(survey, answers), folder, tap=tap, output=None)
    del runs[0]  # what is imported or cached on first use
    assert_nothing_told(runs)


def test_permanent_answers_leave_the_same_but_for_their_tag(folder: Path, tap: WireTap) -> None:
    """The file tells equal answers from different ones; that is what it is for. Nothing else in it may tell them."""
    survey = survey_of(make_mechanism("k-rr", domain=Categories(9), epsilon=1), "permanent")
    runs = lives(survey, answers_of(survey, 9), folder, tap)
    for left in runs.values():
        secret = left.given[0]
        index = list(runs.values()).index(left)
        tag = hmac.new(secret, survey.hash.encode() + b"\0" + str(index).encode(), hashlib.sha256).digest()
        mode, data = left.files["here/ledger.db"]
        assert data.count(tag) == 1
        left.files["here/ledger.db"] = (mode, data.replace(tag, bytes(32)))
    assert_nothing_told(runs)
    assert runs[0].draws == 1


def test_keys_are_exactly_what_the_generator_gave(folder: Path, tap: WireTap) -> None:
    """So their bits say nothing about the answer, the ledger or the day, as little as the generator knows of them."""
    survey = survey_of(make_mechanism("k-rr", domain=Categories(5), epsilon=1))
    sent = {}
    for day, generator in itertools.product((date(2026, 3, 1), date(2027, 5, 9)), ("one", "other")):
        for place, answers in enumerate(answers_of(survey, 5)):
            left = run(life(survey, answers, day), folder, tap=tap, output=0, generator=generator)
            pieces = [piece for piece in left.given if len(piece) == 16]
            assert keys(left.wire) == pieces
            assert len(set(pieces)) == 4
            sent[generator, day, place] = pieces
    assert len({tuple(pieces) for (name, *_), pieces in sent.items() if name == "one"}) == 1
    assert not {key for (name, *_), pieces in sent.items() for key in pieces if name == "one"} & set(
        sent["other", date(2026, 3, 1), 0]
    )


def test_a_key_does_not_come_from_the_ledger(folder: Path, tap: WireTap) -> None:
    """Two devices with the same ledger, on the same day, with different randomness have no key in common."""
    survey = survey_of(make_mechanism("k-rr", domain=Categories(5), epsilon=1))
    kept = folder.parent / "ledger.db"
    Ledger(kept)

    def scenario(seen: Run) -> None:
        shutil.copy2(kept, seen.folder / "ledger.db")
        life(survey, answers_of(survey)[0])(seen)

    found = [set(keys(run(scenario, folder, tap=tap, output=0, generator=name).wire)) for name in ("one", "other")]
    assert len(found[0] | found[1]) == 8
