"""Surveys of changes: a whole life has exactly the law of a tree of changes, wherever a device was, and costs epsilon once."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, timezone
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest

from deniable.core import Coins, RandomizedResponse, TreeOfChanges, decode_report
from deniable.errors import AlreadyAnswered, BudgetSpent, InvalidParameter, NotDelivered
from deniable.privacy import FixedCoins, exact_law
from deniable.surveys import Ledger, MockTransport, Patience, Session, Survey, survey_from_toml
from deniable.surveys.changes import mechanism_for, new_memory, next_report

HEAD = 'title="Trains"\npurpose="Timetables."\nepsilon=1\nrepeat="changes:2"\nwindow="day"\n'
TEXT = HEAD + 'opens=2026-11-01\ncloses=2026-11-06\n[attributes.train]\nquestion="By train?"\ndomain="binary"\n'
HASTY = Patience(attempts=2, sleep=lambda seconds: None)
Walk = Callable[[TreeOfChanges, tuple[int, ...], tuple[bool, ...], Coins], tuple[Any, ...]]


@dataclass(frozen=True)
class SmallTree(TreeOfChanges):
    """Weights that are small enough to try every answer of the coins."""

    @property
    def high(self) -> int:
        return 3

    @property
    def low(self) -> int:
        return 1


def walk(stream: TreeOfChanges, values: tuple[int, ...], asked: tuple[bool, ...], coins: Coins) -> tuple[Any, ...]:
    """What a device sends that is asked in some windows; after each of them it is started again."""
    text, sent = "", []
    for period, value in enumerate(values):
        memory = json.loads(text) if text else new_memory(stream, coins)
        sent.append(next_report(stream, memory, period, value, coins) if asked[period] else None)
        text = json.dumps(memory)
    return tuple(sent)


def held(values: tuple[int, ...], asked: tuple[bool, ...]) -> tuple[int, ...]:
    """What a device knows: the value when it was last asked, no before."""
    known, last = [], 0
    for value, heard in zip(values, asked, strict=True):
        last = value if heard else last
        known.append(last)
    return tuple(known)


def heard(length: int, end: int, asked: tuple[bool, ...]) -> bool:
    """Is a device heard at the end of a stretch: was it asked then, and when the stretch before ended?"""
    return asked[end] and (end < length or asked[end - length])


def promised(stream: TreeOfChanges, values: tuple[int, ...], asked: tuple[bool, ...]) -> dict[tuple[Any, ...], Fraction]:
    """The stream's own law, by its weights, for what the device knows; of every row, the reports that are heard."""
    law: dict[tuple[Any, ...], Fraction] = {}
    for row in stream.rows():
        length = next(period for period, output in enumerate(row) if output is not None) + 1
        sent = tuple(
            None if bit is None or not heard(length, period, asked) else 2 * (length.bit_length() - 1) + bit
            for period, bit in enumerate(row)
        )
        law[sent] = law.get(sent, Fraction(0)) + Fraction(stream.weight(held(values, asked), row), stream.total)
    return law


def lives(periods: int) -> list[tuple[tuple[int, ...], tuple[bool, ...]]]:
    """Every row of values, and every choice of windows in which the device is asked."""
    return list(product(product((0, 1), repeat=periods), product((False, True), repeat=periods)))


def law_of(device: Walk, stream: TreeOfChanges, values: tuple[int, ...], asked: tuple[bool, ...]) -> dict[Any, Fraction]:
    """The law of a device's reports, by all answers of its coins."""
    return exact_law(lambda coins: device(stream, values, asked, coins))


def follows(stream: TreeOfChanges, device: Walk) -> bool:
    """Has the device, in every life, exactly the promised law?"""
    return all(law_of(device, stream, *life) == promised(stream, *life) for life in lives(stream.periods))


@pytest.mark.parametrize(
    "stream", [SmallTree(2, 1, 1), SmallTree(2, 2, 1), pytest.param(SmallTree(3, 2, 1), marks=pytest.mark.slow)], ids=str
)
def test_a_life_has_exactly_the_law_of_the_stream(stream: TreeOfChanges) -> None:
    assert follows(stream, walk)


@pytest.mark.slow
def test_a_life_of_four_windows_has_exactly_the_law_of_the_stream() -> None:
    assert follows(SmallTree(4, 2, 1), walk)


@pytest.mark.parametrize("periods", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_what_is_heard_of_a_stretch_is_unbiased_whenever_a_device_was_away(periods: int) -> None:
    """By the exact law: the mean sign of every stretch that is heard is the change in it, for people who change at most twice."""
    stream = SmallTree(periods, 2, 1)
    scale = Fraction(stream.changes * (stream.high + stream.low), stream.high - stream.low)
    tried = 0
    for values, asked in lives(periods):
        if sum(a != b for a, b in pairwise((0, *values))) > stream.changes:
            continue
        law = promised(stream, values, asked)
        for bit in range(stream.lengths):
            length = 1 << bit
            for end in range(length - 1, periods, length):
                if heard(length, end, asked):
                    signs = {tag: sum((c for row, c in law.items() if row[end] == 2 * bit + tag), Fraction(0)) for tag in (0, 1)}
                    change = values[end] - (values[end - length] if end >= length else 0)
                    assert scale * (signs[1] - signs[0]) / (signs[0] + signs[1]) == change
                    tried += 1
    assert tried > 20


def forgetful(stream: TreeOfChanges, values: tuple[int, ...], asked: tuple[bool, ...], coins: Coins) -> tuple[Any, ...]:
    """The memory is lost at every restart."""
    return tuple(
        next_report(stream, {**new_memory(stream, coins), "known": period}, period, value, coins) if asked[period] else None
        for period, value in enumerate(values)
    )


def belated(stream: TreeOfChanges, values: tuple[int, ...], asked: tuple[bool, ...], coins: Coins) -> tuple[Any, ...]:
    """A change that could not be told at the end of its stretch is told at the end of a later one."""
    memory, sent = new_memory(stream, coins), []
    for period, value in enumerate(values):
        bit = stream.report(memory, period, value, coins) if asked[period] else None
        sent.append(None if bit is None else 2 * (memory["length"].bit_length() - 1) + bit)
    return tuple(sent)


@dataclass(frozen=True)
class EveryChangeSpeaks(SmallTree):
    def report(self, memory: dict[str, Any], period: int, value: int, coins: Coins) -> Any:
        memory["number"] = memory["seen"]
        return super().report(memory, period, value, coins)


def talkative(stream: TreeOfChanges, values: tuple[int, ...], asked: tuple[bool, ...], coins: Coins) -> tuple[Any, ...]:
    return walk(EveryChangeSpeaks(stream.periods, stream.changes, stream.epsilon), values, asked, coins)


@pytest.mark.parametrize("fault", [forgetful, belated, talkative])
def test_devices_that_forget_or_tell_later_or_tell_everything_are_caught(fault: Walk) -> None:
    assert not follows(SmallTree(3, 2, 1), fault)


def test_every_change_that_speaks_costs_more_than_epsilon_over_a_life() -> None:
    """What the planted fault would cost: two lives differ by a factor of 6, where e**epsilon allows 3."""
    stream, always = SmallTree(2, 2, 1), (True, True)
    for device, ratio in ((walk, Fraction(5, 2)), (talkative, Fraction(6))):
        laws = [law_of(device, stream, values, always) for values in product((0, 1), repeat=2)]
        assert max(Fraction(one[row]) / other[row] for one in laws for other in laws for row in one) == ratio


@pytest.mark.parametrize(("epsilon", "tags"), [("1/2", 3), (2, 5)])
def test_one_report_is_a_randomized_sign_beside_an_even_tag(epsilon: Any, tags: int) -> None:
    stream = TreeOfChanges(1 << (tags - 1), changes=1, epsilon=epsilon)
    mechanism = mechanism_for(stream)
    assert mechanism.channel.outputs == 2 * tags
    for bit, output in product((0, 1), range(2 * tags)):
        weight = stream.high if output % 2 == bit else stream.low
        assert Fraction(mechanism.channel.weight(bit, output), mechanism.channel.total) == Fraction(
            weight, tags * (stream.high + stream.low)
        )
    assert mechanism.certificate().holds


# --- devices with a ledger


def device_in(folder: Path, transport: MockTransport | None = None, text: str = TEXT) -> Session:
    carrier = MockTransport() if transport is None else transport
    return Session(survey_from_toml(text), Ledger(folder / "ledger.db"), "http://localhost:1", transport=carrier, patience=HASTY)


def sent(device: Session) -> list[int]:
    assert isinstance(device.transport, MockTransport)
    bodies = (json.loads(item[1]) for item in device.transport.posted)
    return [decode_report(device.survey.mechanism, bytes.fromhex(body["report"])).output for body in bodies]


def day(number: int) -> date:
    return date(2026, 11, 1) + timedelta(days=number)


@pytest.mark.slow
def test_a_session_sends_what_the_stream_says_and_spends_epsilon_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On fixed coins, started again in every window: the reports are those of the stream from the same coins."""
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir(mode=0o700)
        monkeypatch.setattr("deniable.surveys.session.SYSTEM", FixedCoins(number))
        transport, values = MockTransport(), (0, 1, 1, 0, 0, 0)
        for period, value in enumerate(values):
            receipt = device_in(folder, transport).answer({"train": bool(value)}, today=day(period))
            assert (receipt.spent, receipt.left) == (Fraction(1), Fraction(0))
            assert receipt.silent != receipt.delivered
        stream = device_in(folder).survey.changes
        assert stream is not None
        coins = FixedCoins(number)
        memory = stream.start(coins)
        bits = [stream.report(memory, period, value, coins) for period, value in enumerate(values)]
        tag = memory["length"].bit_length() - 1
        assert sent(device_in(folder, transport)) == [2 * tag + bit for bit in bits if bit is not None]


def test_the_memory_is_on_disk_before_anything_is_sent(tmp_path: Path) -> None:
    """A collector that cannot be reached: the report waits, the memory is there, and the same window gives the same bytes."""
    gone = MockTransport(answers=[NotDelivered("gone")] * 40)
    for period in range(6):
        receipt = device_in(tmp_path, gone).answer({"train": True}, today=day(period))
        if not receipt.silent:
            break
    waiting = Ledger(tmp_path / "ledger.db").pending()
    assert [item.period for item in waiting] == [day(period).isoformat()]
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as connection:
        (kept,) = connection.execute("SELECT report FROM kept").fetchone()
    assert json.loads(kept)["asked"] == period
    again = device_in(tmp_path)
    assert again.answer({"train": False}, today=day(period)).delivered
    assert sent(again) == [decode_report(again.survey.mechanism, waiting[0].report).output]
    assert again.ledger.spent() == 1


def test_a_device_keeps_one_answer_and_no_report_that_was_counted(tmp_path: Path) -> None:
    device = device_in(tmp_path)
    for period, value in enumerate((0, 1, 0, 0)):
        device.answer({"train": bool(value)}, today=day(period))
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as connection:
        ((kept,),) = connection.execute("SELECT report FROM kept").fetchall()
    memory = json.loads(kept)
    assert sorted(memory) == ["asked", "before", "begun", "known", "length", "number", "seen", "sign"]
    assert (memory["before"], memory["seen"], memory["asked"]) == (0, 2, 3)
    assert device.transport.posted  # type: ignore[attr-defined]
    written = (tmp_path / "ledger.db").read_bytes()
    for item in device.transport.posted:  # type: ignore[attr-defined]
        assert bytes.fromhex(json.loads(item[1])["report"]) not in written


def test_a_report_whose_window_is_over_is_forgotten(tmp_path: Path) -> None:
    """The collector counts reports in the window in which they come: a late one would tell of another stretch."""
    gone = MockTransport(answers=[NotDelivered("gone")] * 40)
    for period in range(6):
        if not device_in(tmp_path, gone).answer({"train": True}, today=day(period)).silent:
            break
    late = device_in(tmp_path)
    assert late.deliver(today=day(period + 1)) == 0
    assert (sent(late), late.ledger.pending()) == ([], [])
    with pytest.raises(AlreadyAnswered):
        late.answer({"train": True}, today=day(period))


@pytest.mark.parametrize("hours", [14, -12])
def test_a_report_waits_until_midnight_in_utc_wherever_the_device_is(
    hours: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = MockTransport(answers=[NotDelivered("gone")] * 40)
    for period in range(6):
        if not device_in(tmp_path, gone).answer({"train": True}, today=day(period)).silent:
            break

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            moment = datetime.combine(day(period), datetime.min.time(), UTC) + timedelta(hours=23 if hours > 0 else 1)
            return moment.astimezone(timezone(timedelta(hours=hours))).replace(tzinfo=None) if tz is None else moment.astimezone(tz)

    monkeypatch.setattr("deniable.surveys.session.datetime", Clock)
    late = device_in(tmp_path)
    assert late.deliver() == 1
    assert len(sent(late)) == 1


def test_a_window_counts_once_and_a_clock_that_goes_back_draws_nothing(tmp_path: Path) -> None:
    device = device_in(tmp_path)
    assert device.answer({"train": False}, today=day(4)).silent
    before = (tmp_path / "ledger.db").read_bytes()
    assert device.answer({"train": True}, today=day(4)).silent
    assert (tmp_path / "ledger.db").read_bytes() == before
    with pytest.raises(AlreadyAnswered, match="goes back"):
        device.answer({"train": True}, today=day(3))
    assert (tmp_path / "ledger.db").read_bytes() == before
    assert device.ledger.spent() == 1


@pytest.mark.parametrize("hours", [14, -12])
def test_windows_end_at_midnight_in_utc_wherever_the_device_is(hours: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            moment = datetime(2026, 11, 3, 23 if hours > 0 else 1, tzinfo=UTC)
            here = timezone(timedelta(hours=hours))
            return moment.astimezone(here).replace(tzinfo=None) if tz is None else moment.astimezone(tz)

    monkeypatch.setattr("deniable.surveys.session.datetime", Clock)
    device_in(tmp_path).answer({"train": False})
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as connection:
        (kept,) = connection.execute("SELECT report FROM kept").fetchone()
    assert json.loads(kept)["asked"] == 2


def test_a_person_who_has_spent_everything_takes_no_part(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db", limit=1)
    ledger.spend("another survey", "", epsilon=Fraction(1, 2), budget=Fraction(1))
    device = Session(survey_from_toml(TEXT), ledger, "http://localhost:1", transport=MockTransport())
    with pytest.raises(BudgetSpent):
        device.answer({"train": True}, today=day(0))
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as connection:
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)


def test_a_device_says_what_it_promises(tmp_path: Path) -> None:
    words = device_in(tmp_path).explain()
    assert "All its reports together cost epsilon once, and changes are hidden, too." in words
    assert "This holds for each device: a person with two of them spends twice." in words


def test_the_document_is_read_back_and_ends_with_the_survey(tmp_path: Path) -> None:
    survey = survey_from_toml(TEXT)
    assert Survey.from_json(survey.to_json(), hash=survey.hash) == survey
    assert survey.changes == TreeOfChanges(6, changes=2, epsilon=1)
    for outside in (day(-1), day(6)):
        with pytest.raises(InvalidParameter):
            device_in(tmp_path).answer({"train": True}, today=outside)


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("changes:2", "changes:0", "how many times"),
        ("changes:2", "changes:02", "how many times"),
        ("changes:2", "changes:", "how many times"),
        ("changes:2", "changes:7", "cannot change 7 times"),
        ('repeat="changes:2"', 'repeat=["changes:2"]', "repeat must be one of"),
        ("closes=2026-11-06", "", "needs opens and closes"),
        ("closes=2026-11-06", 'closes="soon"', "closes must be a date"),
        ("closes=2026-11-06", "closes=2026-11-01", "2 to 1000 windows"),
        ("epsilon=1", "epsilon=1\nbudget=2", "leave out budget"),
        ("epsilon=1", "epsilon=1\nkeep_reports=true", "leave out keep_reports"),
        ('domain="binary"', 'domain="categories:2"', "must be binary"),
        ('domain="binary"', 'domain="binary"\nmechanism="randomized-response"', "one attribute that is a yes or no"),
        ("[attributes.train]", '[attributes.bus]\nquestion="?"\ndomain="binary"\n[attributes.train]', "one attribute"),
    ],
)
def test_surveys_of_changes_that_are_none_are_refused(before: str, after: str, why: str) -> None:
    assert before in TEXT
    with pytest.raises(InvalidParameter, match=why):
        survey_from_toml(TEXT.replace(before, after))


def test_a_survey_s_own_word_does_not_change_how_reports_of_changes_are_drawn() -> None:
    survey = survey_from_toml(TEXT)
    others: list[dict[str, Any]] = [{"closes": "2026-11-09"}, {"mechanism": RandomizedResponse(epsilon=1)}]
    for changed in others:
        with pytest.raises(InvalidParameter):
            replace(survey, **changed)
