"""Levels for pairs of values: what is promised, who checks it, and what happens where it is not kept."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest

from deniable.core import Categories, Epsilon, Mechanism, Pairwise, Privacy, Table, make_mechanism, mechanism_class
from deniable.errors import BudgetSpent, InvalidEpsilon, InvalidParameter
from deniable.privacy import FixedKeystream, Odometer, audit_mechanism, verify
from deniable.surveys import Attribute, Client, Ledger, MockTransport, Session, Survey

NAMES = ("urr", "urap", "pairwise")


def document(mechanism: Mechanism) -> dict[str, object]:
    return {"recipe": mechanism.recipe(), "channel": mechanism.channel.compiled(), "fingerprint": mechanism.fingerprint}


def test_levels_are_closed_along_paths() -> None:
    promise = Privacy([[None, 1, 3], [1, None, 1], [3, 1, None]])
    assert promise.level(0, 2) == Epsilon(2)
    assert promise.everywhere == Epsilon(2)
    assert Privacy.sensitive(3, [0], 1).everywhere is None
    assert Privacy.sensitive(3, [0], 1).covers(Privacy.sensitive(3, [0], 2))
    assert not Privacy.sensitive(3, [0], 1).covers(Privacy.sensitive(3, [0, 1], 1))
    assert Privacy.blocks([[0, 2], [1, 3]], 1).level(0, 1) is None
    assert Privacy.discriminative([1, 2, 3]).level(1, 2) == Epsilon(2)


@pytest.mark.parametrize("bad", [[], [[None]], [[None, 1], [1]], [[None, -1], [1, None]], [[None, None], [None, None]], "1"])
def test_tables_of_levels_that_promise_nothing_sensible_are_refused(bad: object) -> None:
    with pytest.raises((InvalidParameter, InvalidEpsilon)):
        Privacy(bad)  # type: ignore[arg-type]


def test_words_say_what_is_not_promised() -> None:
    words = Privacy.sensitive(4, [0, 1], 1).words(["HIV", "cancer", "flu", "none"])
    assert "odds of HIV, cancer against any other value by a factor of at most 2.72" in words
    assert "Nothing is promised for flu, none" in words
    mixed = Privacy([[None, 1, None], [1, None, None], [1, 1, None]]).words()
    assert "Nothing is promised for 0 against 2, 1 against 2" in mixed


@pytest.mark.parametrize("name", NAMES)
def test_published_guarantees_hold_in_integers(name: str) -> None:
    for mechanism in mechanism_class(name).examples():
        certificate = mechanism.certificate()
        assert certificate.holds
        assert verify(document(mechanism)).holds
        assert mechanism.promise is not None
        for x in range(mechanism.channel.inputs):
            for other in range(mechanism.channel.inputs):
                level = mechanism.promise.level(x, other)
                for y in range(mechanism.channel.outputs):
                    mine, theirs = mechanism.channel.weight(x, y), mechanism.channel.weight(other, y)
                    assert level is None or mine == 0 or (theirs > 0 and level.allows(Fraction(mine, theirs)))


@pytest.mark.parametrize("name", ["urr", "urap"])
def test_answers_of_sensitive_values_keep_epsilon_for_all_pairs(name: str) -> None:
    """The published definition asks for more than the promise: protected outputs bound every pair, in both directions."""
    for mechanism in mechanism_class(name).examples():
        rows = [list(mechanism.channel.row(x)) for x in range(mechanism.channel.inputs)]
        for column in zip(*rows, strict=True):
            if any(column[x] for x in mechanism.sensitive):  # type: ignore[attr-defined]
                assert mechanism.privacy.allows(Fraction(max(column), min(column)))
            else:
                assert sum(weight > 0 for weight in column) == 1


def test_urr_has_the_published_probabilities() -> None:
    channel = make_mechanism("urr", domain=Categories(5), epsilon=1, sensitive=[0, 1, 2]).channel
    raised = math.e
    assert channel.weight(0, 0) / channel.total == pytest.approx(raised / (3 + raised - 1), rel=1e-9)
    assert channel.weight(4, 0) / channel.total == pytest.approx(1 / (3 + raised - 1), rel=1e-9)
    assert channel.weight(4, 4) / channel.total == pytest.approx((raised - 1) / (3 + raised - 1), rel=1e-9)


def test_urap_has_the_published_probabilities() -> None:
    channel = make_mechanism("urap", domain=Categories(3), epsilon=1, sensitive=[0]).channel
    truth = math.exp(0.5) / (math.exp(0.5) + 1)
    other = truth / ((1 - truth) * math.e + truth)
    silent = ((1 - truth) * math.e + truth) / math.e
    assert channel.weight(0, 1) / channel.total == pytest.approx(truth, rel=1e-9)
    assert channel.weight(1, 1) / channel.total == pytest.approx(other * silent, rel=1e-9)
    assert channel.weight(1, 3) / channel.total == pytest.approx(other * (1 - silent), rel=1e-9)


def test_a_weight_that_is_rounded_up_breaks_the_certificate_and_the_verifier() -> None:
    kept = next(iter(mechanism_class("urr").examples())).channel
    rows = [list(kept.row(x)) for x in range(3)]
    levels = Privacy.sensitive(3, [0], 1).levels
    assert Pairwise(domain=Categories(3), epsilon=1, levels=levels, rows=rows).certificate().holds
    planted = [list(row) for row in rows]
    planted[0][0] += 1
    planted[1][1] += 1
    planted[2][2] += 1
    broken = Pairwise(domain=Categories(3), epsilon=1, levels=levels, rows=planted)
    assert not broken.certificate().holds
    assert verify(document(broken)).holds is False
    with pytest.raises(InvalidParameter, match="does not keep its promise"):
        Client(broken.recipe(), accepts=Privacy(levels))


def test_the_verifier_never_passes_a_promise_it_was_not_given() -> None:
    mechanism = next(iter(mechanism_class("urr").examples()))
    good = document(mechanism)
    assert "NOTHING is promised" in verify(good).reason
    assert verify(good, Fraction(1)).holds is False  # for all pairs it is unbounded
    empty = json.loads(json.dumps({"recipe": good["recipe"], "channel": good["channel"]}))
    empty["recipe"]["parameters"]["sensitive"] = []
    assert verify(empty).holds is False
    missing = json.loads(json.dumps(empty))
    del missing["recipe"]["parameters"]["sensitive"]
    assert verify(missing).holds is False


def test_clients_refuse_unprotected_values_unless_their_own_promise_is_kept() -> None:
    recipe = make_mechanism("urr", domain=Categories(3), epsilon=1, sensitive=[0]).recipe()
    with pytest.raises(InvalidParameter, match="does not protect every value"):
        Client(recipe)
    with pytest.raises(InvalidParameter, match="promise that you ask for"):
        Client(recipe, accepts=Privacy.sensitive(3, [0, 1], 1))
    with pytest.raises(InvalidParameter, match="promise that you ask for"):
        Client(recipe, accepts=Privacy.sensitive(3, [0], "0.9"))
    assert Client(recipe, accepts=Privacy.sensitive(3, [0], 1)).randomize(0)
    many = make_mechanism("oue", domain=Categories(40), epsilon=1).recipe()
    assert Client(many, accepts=Privacy.uniform(40, 1)).randomize(3)


def test_sessions_refuse_them_too_and_explain_in_words(tmp_path: Path) -> None:
    mechanism = make_mechanism("urr", domain=Categories(["ill", "well", "away"]), epsilon=1, sensitive=[0])
    survey = Survey(
        title="Health", purpose="A test.", attributes=(Attribute("state", "How are you?"),), mechanism=mechanism, budget=1
    )
    ledger = Ledger(tmp_path / "ledger.db")
    with pytest.raises(InvalidParameter, match="does not protect every value"):
        Session(survey, ledger, "http://localhost", transport=MockTransport())
    device = Session(survey, ledger, "http://localhost", transport=MockTransport(), accepts=Privacy.sensitive(3, [0], 1))
    assert "odds of ill against any other value" in device.explain()
    assert device.answer({"state": "ill"}).delivered


def test_records_do_not_take_parts_with_unprotected_values() -> None:
    from deniable.core import ProductMechanism, Record

    part = make_mechanism("urr", domain=Categories(3), epsilon=1, sensitive=[0])
    with pytest.raises(InvalidParameter, match="every pair"):
        ProductMechanism(domain=Record({"a": Categories(3)}), epsilon=1, parts={"a": part})


def test_the_odometer_adds_up_pair_by_pair() -> None:
    urr = make_mechanism("urr", domain=Categories(3), epsilon=1, sensitive=[0])
    with pytest.raises(InvalidParameter, match="Privacy as its limit"):
        Odometer(limit=5).spend(urr)
    account = Odometer(limit=Privacy.sensitive(3, [0], 2))
    account.spend(urr)
    account.spend(urr)
    with pytest.raises(BudgetSpent, match="value 0 against 1"):
        account.spend(urr)
    both = Odometer(limit=Privacy.sensitive(3, [0, 1], 5))
    with pytest.raises(BudgetSpent, match="without bound"):
        both.spend(urr)
    line = Privacy.metric([0, 1, 2], "1/2")
    assert line.plus(line).level(0, 2) == Epsilon(2)


@pytest.mark.parametrize("name", ["urr", "pairwise"])
def test_audits_leave_pairs_without_a_level_alone(name: str) -> None:
    for number, mechanism in enumerate(mechanism_class(name).examples()):
        result = audit_mechanism(mechanism, samples=40_000, keystream=FixedKeystream(number))
        assert result.violated is False


def test_audits_find_a_pair_that_breaks_its_own_level_though_not_the_largest() -> None:
    promise = Privacy([[None, "1/2", 4], ["1/2", None, 4], [4, 4, None]])
    # 0 against 1 has a ratio of 2 where e**0.5 was promised; all ratios are far below e**4.
    rows = [[8, 2, 2], [4, 6, 2], [2, 2, 8]]
    broken = Pairwise(domain=Categories(3), epsilon=4, levels=promise.levels, rows=rows)
    assert not broken.certificate().holds
    result = audit_mechanism(broken, samples=100_000, keystream=FixedKeystream(5))
    assert result.violated
    assert result.epsilon == 0.5
    assert not promise.holds(Table(rows))
