"""What a document from outside can get out of a person: never more than the limit, whatever it says."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date, timedelta
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from deniable.core import (
    OGPM,
    Binary,
    Categories,
    Epsilon,
    KaryRandomizedResponse,
    Mechanism,
    ProductMechanism,
    RandomizedResponse,
    Rappor,
    Record,
    SampleOne,
    decode_report,
    mechanism_from_recipe,
)
from deniable.core.mechanisms.numeric.privacy_indicator import PrivacyIndicator
from deniable.errors import AlreadyAnswered, BudgetSpent, DeniableError, InvalidEpsilon, InvalidParameter, OutOfDomain
from deniable.surveys import Attribute, Client, Ledger, Memo, MockTransport, Repeated, Session, Survey

COLOURS = Categories(["red", "green", "blue"])
RED = {"colour": "red"}
LASTING = Rappor(domain=COLOURS, epsilon="1/2", permanent=Epsilon(100, allow_large=True))


def survey(epsilon: int = 1, budget: int | None = None, **changes: Any) -> Survey:
    mechanism = changes.pop("mechanism", None)
    if mechanism is None:
        mechanism = KaryRandomizedResponse(domain=COLOURS, epsilon=Epsilon(epsilon, allow_large=True))
    document = {"title": "Colours", "purpose": "Paint.", "attributes": [Attribute("colour", "Which?")], **changes}
    return Survey(mechanism=mechanism, budget=mechanism.privacy.exact if budget is None else budget, **document)


def opened(asked: Survey, ledger: Ledger) -> Session:
    return Session.open("http://localhost:1", asked.hash, ledger, transport=MockTransport(asked.to_json()))


def drawn(ledger: Ledger, surveys: list[Survey]) -> int:
    """How many surveys a device answers before its ledger refuses."""
    answered = 0
    for asked in surveys:
        try:
            opened(asked, ledger).answer(RED)
            answered += 1
        except BudgetSpent:
            break
    return answered


def test_a_permanent_level_is_a_cost_like_any_other() -> None:
    for limit in ("1/2", 8, 20, 99):
        with pytest.raises(InvalidEpsilon):
            Client(LASTING.recipe(), max_epsilon=limit)
    with pytest.raises(InvalidEpsilon, match=r"permanent layer.*epsilon=12.*max_epsilon=8"):
        Client(Rappor(epsilon="1/2", permanent=12).recipe())
    assert Client(Rappor(epsilon="1/2", permanent=8).recipe()).mechanism.lifetime == 8


def test_repeated_reports_end_before_the_value_is_known() -> None:
    """Four hundred reports of epsilon 1/2 show the value; with a limit of 4 there are eight."""
    client, seen = Client(RandomizedResponse(epsilon="1/2").recipe(), max_epsilon=4), Counter[int]()
    for _ in range(8):
        seen[decode_report(client.mechanism, client.randomize(True)).output] += 1
    for _ in range(392):
        with pytest.raises(BudgetSpent, match="of the max_epsilon=4 you accept only 0 is left"):
            client.randomize(True)
    assert seen.total() == 8
    assert client.left == 0
    with pytest.raises(BudgetSpent):
        client.randomize_json(False)


def test_a_client_without_a_limit_has_one() -> None:
    assert Client(RandomizedResponse(epsilon=8).recipe()).max_epsilon == 8
    with pytest.raises(InvalidEpsilon, match="more than the max_epsilon=8"):
        Client(RandomizedResponse(epsilon="8.01").recipe())
    assert Client(RandomizedResponse(epsilon=9).recipe(), max_epsilon=9).randomize(True)
    for wrong in (None, 0, -1, "much", float("inf"), float("nan"), True):
        with pytest.raises(InvalidEpsilon, match="max_epsilon must be a positive number"):
            Client(RandomizedResponse(epsilon=1).recipe(), max_epsilon=wrong)  # type: ignore[arg-type]


def test_a_refused_value_costs_nothing() -> None:
    client = Client(RandomizedResponse(epsilon=1).recipe(), max_epsilon=1)
    with pytest.raises(OutOfDomain):
        client.randomize("perhaps")
    assert client.randomize(True)


def test_delta_adds_up_too() -> None:
    inner = OGPM(epsilon=1)
    raw = PrivacyIndicator(domain=inner.domain, epsilon=1, mechanism=inner, delta="0.01", publish_raw_values=True)
    with pytest.raises(InvalidParameter, match="max_delta"):
        Client(raw.recipe())
    client = Client(raw.recipe(), max_delta="0.02")
    client.randomize(0.5)
    client.randomize(0.5)
    with pytest.raises(BudgetSpent):
        client.randomize(0.5)


@pytest.mark.parametrize("whole", ["product", "sample-one"])
def test_permanent_layers_of_the_parts_of_a_record_add_up(whole: str) -> None:
    record = Record({"a": COLOURS, "b": COLOURS, "c": Binary()})
    level = Fraction(1, 2) if whole == "product" else Fraction(3, 2)
    parts: dict[str, Mechanism] = {name: Rappor(domain=COLOURS, epsilon=level, permanent=6) for name in "ab"}
    parts["c"] = RandomizedResponse(epsilon=level)
    made: Mechanism = (
        ProductMechanism(domain=record, epsilon="3/2", parts=parts)
        if whole == "product"
        else SampleOne(domain=record, epsilon="3/2", parts=parts)
    )
    assert made.lifetime == 12 + level
    with pytest.raises(InvalidEpsilon, match="permanent layer"):
        Client(json.dumps(made.recipe()))
    with pytest.raises(InvalidEpsilon):
        Client(json.dumps(made.recipe()), max_epsilon=12)
    assert Client(json.dumps(made.recipe()), max_epsilon=14).mechanism == made


def test_a_document_never_allows_itself_a_level_above_twenty() -> None:
    plain, layered = RandomizedResponse(epsilon=1).recipe(), Rappor(epsilon=1, permanent=3).recipe()
    large = [{**plain, "epsilon": "100"}, {**layered, "parameters": {**layered["parameters"], "permanent": "100"}}]
    inside = ProductMechanism(domain=Record({"a": Categories(4)}), epsilon=1, parts={"a": Rappor(domain=Categories(4), epsilon=1)})
    nested = json.loads(json.dumps(inside.recipe()))
    nested["parameters"]["parts"]["a"]["parameters"]["permanent"] = "100"
    for recipe in (*large, nested):
        with pytest.raises(InvalidEpsilon, match="above 20"):
            mechanism_from_recipe(recipe)
        with pytest.raises(InvalidEpsilon, match="above 20"):
            Client(recipe, max_epsilon=20)
        # Only a number in the user's own code opens that door.
        assert Client(recipe, max_epsilon=100).mechanism.lifetime == 100
        for said in ({"allow_large": True}, {"max_epsilon": 1000}):
            with pytest.raises(InvalidParameter):
                Client({**recipe, **said})
            with pytest.raises(InvalidParameter):
                Client({**recipe, "parameters": {**recipe["parameters"], **said}})


def test_a_hostile_survey_is_refused_when_it_is_opened(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    monthly: dict[str, Any] = {"repeat": "each-window", "window": "day"}
    for asked in (
        survey(100),
        survey(100, 10**6, **monthly),
        survey(1, 10**6, **monthly),
        survey(9),
        survey(mechanism=Rappor(domain=COLOURS, epsilon="1/2", permanent=15)),
        survey(mechanism=LASTING),
    ):
        with pytest.raises((BudgetSpent, InvalidEpsilon)):
            opened(asked, ledger)
    assert ledger.spent() == 0
    with pytest.raises(BudgetSpent, match=r"epsilon=1000000 over its life \(its budget\), more than your limit 8.*limit=…"):
        opened(survey(1, 10**6, **monthly), ledger)
    # A survey of one's own is held to the same limit.
    with pytest.raises(BudgetSpent):
        Session(survey(9), ledger, "http://localhost:1")


def test_raising_the_limit_is_explicit(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db", limit=100)
    asked = opened(survey(100), ledger)
    assert "practically disclosed" in asked.explain()
    assert asked.answer(RED).delivered
    for wrong in (None, 0, -8, "all", float("inf")):
        with pytest.raises(InvalidEpsilon, match="limit must be a positive number"):
            Ledger(tmp_path / "ledger.db", limit=wrong)  # type: ignore[arg-type]


def test_many_surveys_share_one_limit_whatever_they_are_called(tmp_path: Path) -> None:
    renamed = [survey(1, title=f"Colours {number}") for number in range(50)]
    assert len({asked.hash for asked in renamed}) == 50
    ledger = Ledger(tmp_path / "ledger.db")
    assert drawn(ledger, renamed) == 8
    # Another process with the same file counts what was spent before it.
    assert drawn(Ledger(tmp_path / "ledger.db"), renamed[8:]) == 0
    assert ledger.left() == 0
    assert "of your own limit 8 for all surveys 0" in opened(renamed[9], ledger).explain()


def test_attributes_of_one_person_share_one_price(tmp_path: Path) -> None:
    record = Record({name: Binary() for name in ("one", "two", "three")})
    whole = ProductMechanism.split(record, 3)
    asked = survey(mechanism=whole, attributes=[Attribute(name, "Well?") for name in record.fields])
    ledger = Ledger(tmp_path / "ledger.db")
    opened(asked, ledger).answer({"one": True, "two": False, "three": True})
    assert ledger.spent() == 3
    alone = [survey(mechanism=RandomizedResponse(epsilon=3), attributes=[Attribute(name, "Well?")]) for name in record.fields]
    opened(alone[0], ledger).answer({"one": True})
    with pytest.raises(BudgetSpent, match="your own limit"):
        opened(alone[1], ledger).answer({"two": False})


@pytest.mark.parametrize("repeat", ["each-window", "permanent"])
def test_a_clock_that_runs_ahead_opens_no_more_than_the_budget(tmp_path: Path, repeat: str) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    device = opened(survey(1, 8, repeat=repeat, window="day"), ledger)
    answers, refused = 0, 0
    for days in (*range(0, 4000, 40), *range(4000, 0, -40)):
        value = ("red", "green", "blue")[days % 3]
        try:
            device.answer({"colour": value}, today=date(2026, 1, 1) + timedelta(days=days))
            answers += 1
        except (BudgetSpent, AlreadyAnswered):
            refused += 1
    assert ledger.spent() == (8 if repeat == "each-window" else 3)
    assert refused > 0
    assert answers == 8 or repeat == "permanent"


@pytest.mark.parametrize("window", ["second", "hour", "1", "", "survey", None, 1])
def test_windows_are_days_weeks_and_months(window: object, tmp_path: Path) -> None:
    document = survey(1, 8, repeat="each-window", window="day").document() | {"window": window}
    text = json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
    with pytest.raises(DeniableError, match="window"):
        Session.open("http://localhost:1", sha256(text).hexdigest(), Ledger(tmp_path / "ledger.db"), transport=MockTransport(text))


def test_a_budget_that_is_not_a_number_is_refused(tmp_path: Path) -> None:
    for budget in ("inf", "nan", "1e9999", "1/0", "-8", None, 10**400, [8], "8" * 500):
        document = survey(1).document() | {"budget": budget}
        text = json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
        with pytest.raises(DeniableError):
            Session.open(
                "http://localhost:1", sha256(text).hexdigest(), Ledger(tmp_path / "ledger.db"), transport=MockTransport(text)
            )


def test_a_kept_answer_costs_its_permanent_level_once_for_each_value(tmp_path: Path) -> None:
    weekly = Rappor(domain=Categories(40), epsilon=1, permanent=3)
    answers = Repeated(Client(weekly.recipe(), max_epsilon=6), Memo(tmp_path / "memo"))
    for value in (1, 2, 1, 2, 1):
        answers.report(value)
    with pytest.raises(BudgetSpent, match="of your max_epsilon 6 only 0 is left"):
        answers.report(3)
    assert answers.lifetime_level() == 6
    # Another question, another recipe: the same file, the same limit of 8.
    with pytest.raises(BudgetSpent, match="of your own limit 8 only 2 is left"):
        Repeated(weekly, Memo(tmp_path / "memo"), question="other").report(1)
    other = Rappor(domain=Categories(41), epsilon=1, permanent=2)
    Repeated(other, Memo(tmp_path / "memo")).report(1)
    with pytest.raises(BudgetSpent, match="your own limit"):
        Repeated(other, Memo(tmp_path / "memo")).report(2)


def test_a_cost_written_before_the_draw_is_written_once(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    one = Fraction(1)
    ledger.spend("with a partner", "", epsilon=one, budget=one)
    with pytest.raises(AlreadyAnswered):
        ledger.spend("with a partner", "", epsilon=one, budget=one)
    with pytest.raises(BudgetSpent, match="lifetime budget 1 only 0"):
        ledger.spend("with a partner", "again", epsilon=one, budget=one)
    assert ledger.spent() == 1
    assert ledger.left() == 7
    assert ledger.pending() == []
