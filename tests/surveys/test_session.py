"""A device answers within its budget, draws once, and sends until it is acknowledged."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, timezone
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from deniable.core import Categories, Epsilon, make_mechanism
from deniable.errors import AlreadyAnswered, BudgetSpent, InvalidParameter, NotDelivered, NotStored, OutOfDomain, WrongRecipe
from deniable.surveys import HttpTransport, Ledger, MockTransport, Patience, Session, Survey, survey_from_toml
from deniable.surveys.database import PrivateDatabase
from deniable.surveys.kept_layers import layers

ONCE = 'title="Colours"\npurpose="Paint."\nepsilon=1\n[attributes.colour]\nquestion="Which?"\ndomain="categories:red,green,blue"\n'
MONTHLY = ONCE.replace("epsilon=1\n", 'epsilon=1\nbudget=2\nrepeat="each-window"\nwindow="month"\n')
PERMANENT = MONTHLY.replace("each-window", "permanent")
HASTY = Patience(attempts=3, sleep=lambda seconds: None)
RED = {"colour": "red"}


def session(folder: Path, text: str = ONCE, transport: MockTransport | None = None, limit: int = 8) -> Session:
    ledger = Ledger(folder / "ledger.db", limit=limit)
    carrier = MockTransport() if transport is None else transport
    return Session(survey_from_toml(text), ledger, "http://localhost:1", transport=carrier, patience=HASTY)


def sent(device: Session) -> list[tuple[str, str]]:
    assert isinstance(device.transport, MockTransport)
    return [(body["key"], body["report"]) for body in (json.loads(item[1]) for item in device.transport.posted)]


def test_an_answer_is_sent_once(tmp_path: Path) -> None:
    device = session(tmp_path)
    receipt = device.answer(RED)
    assert (receipt.delivered, receipt.spent, receipt.left) == (True, Fraction(1), Fraction(0))
    with pytest.raises(AlreadyAnswered):
        session(tmp_path).answer(RED)
    assert len(sent(device)) == 1
    assert device.ledger.pending() == []


@pytest.mark.parametrize("hours", [14, -12])
def test_windows_end_at_midnight_in_utc_wherever_the_device_is(hours: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that is in another day already, or still, must not be given a second window."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            moment = datetime(2026, 11, 15, 23 if hours > 0 else 1, tzinfo=UTC)
            here = timezone(timedelta(hours=hours))
            return moment.astimezone(here).replace(tzinfo=None) if tz is None else moment.astimezone(tz)

    monkeypatch.setattr("deniable.surveys.session.datetime", Clock)
    device = session(tmp_path, MONTHLY.replace('window="month"', 'window="day"'))
    device.answer(RED)
    with pytest.raises(AlreadyAnswered):
        device.answer(RED, today=date(2026, 11, 15))


def test_the_report_is_forgotten_when_it_is_acknowledged(tmp_path: Path) -> None:
    device = session(tmp_path)
    device.answer(RED)
    key, report = sent(device)[0]
    stored = (tmp_path / "ledger.db").read_bytes()
    assert bytes.fromhex(report) not in stored
    assert bytes.fromhex(key) not in stored


def test_the_same_bytes_are_sent_until_acknowledged(tmp_path: Path) -> None:
    lost = NotDelivered("gone")
    device = session(tmp_path, transport=MockTransport(answers=[lost, 503, 429, lost, lost, lost, 200]))
    assert not device.answer(RED).delivered
    later = session(tmp_path, transport=device.transport)  # type: ignore[arg-type]
    # Answering again, even differently, sends what was drawn: a fresh draw would cost privacy twice.
    assert not later.answer({"colour": "blue"}).delivered
    assert later.deliver() == 1
    assert later.deliver() == 0
    assert len(set(sent(device))) == 1
    assert len(sent(device)) == 7
    assert device.ledger.spent() == 1


def test_a_refusal_is_final_and_stays_spent(tmp_path: Path) -> None:
    device = session(tmp_path, transport=MockTransport(answers=[400]))
    with pytest.raises(NotDelivered, match="refused the report permanently"):
        device.answer(RED)
    assert device.ledger.pending() == []
    assert device.ledger.spent() == 1
    with pytest.raises(AlreadyAnswered):
        device.answer(RED)


def test_the_lifetime_budget_ends_the_answers(tmp_path: Path) -> None:
    device = session(tmp_path, MONTHLY)
    for month in (1, 2):
        device.answer(RED, today=date(2026, month, 3))
    with pytest.raises(AlreadyAnswered):
        device.answer(RED, today=date(2026, 2, 20))
    with pytest.raises(BudgetSpent, match="only 0 is left"):
        device.answer(RED, today=date(2026, 3, 1))
    # A clock that goes back opens nothing again.
    with pytest.raises(AlreadyAnswered):
        device.answer(RED, today=date(2026, 1, 9))


def test_a_persons_own_limit_counts_all_surveys(tmp_path: Path) -> None:
    session(tmp_path, ONCE, limit=1).answer(RED)
    with pytest.raises(BudgetSpent, match="your own limit"):
        session(tmp_path, ONCE.replace("Paint", "Walls"), limit=1).answer(RED)


def test_permanent_answers_are_drawn_once_per_value(tmp_path: Path) -> None:
    device = session(tmp_path, PERMANENT)
    for month in range(1, 11):
        session(tmp_path, PERMANENT, device.transport).answer(RED, today=date(2026, month, 1))  # type: ignore[arg-type]
    reports = {report for _, report in sent(device)}
    keys = {key for key, _ in sent(device)}
    assert (len(reports), len(keys)) == (1, 10)
    assert device.ledger.spent() == 1
    device.answer({"colour": "blue"}, today=date(2026, 11, 1))
    assert device.ledger.spent() == 2
    with pytest.raises(BudgetSpent):
        device.answer({"colour": "green"}, today=date(2026, 12, 1))
    device.answer(RED, today=date(2026, 12, 1))
    assert len({report for _, report in sent(device)}) <= 2


@pytest.mark.parametrize("answers", [[400], [401], [302] * 5, [503] * 5, [NotDelivered("nobody")] * 5], ids=str)
def test_a_refusal_leads_to_no_second_draw_of_a_permanent_answer(tmp_path: Path, answers: list[int | Exception]) -> None:
    """Whatever became of the first report, the next window sends the same one, from another process as well."""
    first, later = MockTransport(answers=answers), MockTransport()
    with suppress(NotDelivered):
        session(tmp_path, PERMANENT, first).answer(RED, today=date(2026, 1, 1))
    device = session(tmp_path, PERMANENT, later)
    device.answer(RED, today=date(2026, 2, 1))
    reports = {json.loads(body)["report"] for _, body, _ in (*first.posted, *later.posted)}
    assert len(reports) == 1
    assert device.ledger.spent() == 1


def test_a_redirect_is_not_the_collectors_answer(tmp_path: Path) -> None:
    device = session(tmp_path, ONCE, MockTransport(answers=[302, 307, 301, 308, 303]))
    assert not device.answer(RED).delivered
    assert device.deliver() == 1
    assert len(set(sent(device))) == 1


def test_several_waiting_reports_go_together(tmp_path: Path) -> None:
    device = session(tmp_path, MONTHLY, MockTransport(answers=[503] * 6))
    device.answer(RED, today=date(2026, 1, 1))
    device.answer(RED, today=date(2026, 2, 1))
    assert device.deliver() == 2
    assert isinstance(device.transport, MockTransport)
    url, body, _ = device.transport.posted[-1]
    assert url.endswith("/batches")
    assert len(json.loads(body)["submissions"]) == 2


CRASH = """
import os, sys
from deniable.surveys import Ledger, Session
from deniable.surveys import survey_from_toml

class Crash:
    def post(self, url, body, content_type):
        print(body.decode(), flush=True)
        os._exit(9)

Session(survey_from_toml(sys.argv[1]), Ledger(sys.argv[2]), "http://localhost:1", transport=Crash()).answer({"colour": sys.argv[3]})
"""


def crash(folder: Path, colour: str) -> str:
    command = [sys.executable, "-c", CRASH, ONCE, str(folder / "ledger.db"), colour]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 9, ended.stderr
    return ended.stdout


def test_a_crash_between_ledger_and_network_never_draws_twice(tmp_path: Path) -> None:
    bodies = {crash(tmp_path, colour) for colour in ("red", "red", "blue", "green")}
    assert len(bodies) == 1
    device = session(tmp_path)
    assert device.deliver() == 1
    assert json.loads(next(iter(bodies))) == dict(zip(("key", "report"), sent(device)[0], strict=True))
    assert device.ledger.spent() == 1


def test_a_full_disk_sends_nothing(tmp_path: Path) -> None:
    device = session(
        tmp_path,
        ONCE.replace("red,green,blue", ",".join(f"colour{i}" for i in range(50_000))).replace(
            "domain=", 'mechanism="oue"\ndomain='
        ),
    )
    connect = PrivateDatabase.connect

    def full(file: PrivateDatabase) -> sqlite3.Connection:
        connection = connect(file)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PrivateDatabase, "connect", full)
        with pytest.raises(NotStored, match=r"full\. Nothing was drawn"):
            device.answer({"colour": "colour7"})
    assert device.ledger.spent() == 0
    assert sent(device) == []
    assert device.answer({"colour": "colour7"}).delivered


def test_two_processes_agree_on_one_draw(tmp_path: Path) -> None:
    command = [sys.executable, "-c", CRASH, ONCE, str(tmp_path / "ledger.db"), "red"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert len({process.communicate(timeout=60)[0] for process in both}) == 1


def test_the_survey_is_checked_when_it_is_fetched(tmp_path: Path) -> None:
    survey = survey_from_toml(ONCE)
    other = survey_from_toml(ONCE.replace("Paint", "Walls"))
    ledger = Ledger(tmp_path / "ledger.db")
    opened = Session.open("http://localhost:1", survey.hash, ledger, transport=MockTransport(survey.to_json()))
    assert opened.survey == survey
    with pytest.raises(WrongRecipe):
        Session.open("http://localhost:1", survey.hash, ledger, transport=MockTransport(other.to_json()))


def test_explanations_say_what_it_costs(tmp_path: Path) -> None:
    text = session(tmp_path).explain()
    assert "by a factor of at most 2.72" in text
    assert "1 left" in text


def test_nothing_private_is_shown_or_stored(tmp_path: Path) -> None:
    device = session(tmp_path, PERMANENT.replace("red,green,blue", "red,green,ultramarine"), MockTransport(answers=[503] * 3))
    with pytest.raises(OutOfDomain) as caught:
        device.answer({"colour": "verysecretcolour"}, today=date(2026, 1, 1))
    assert "verysecret" not in str(caught.value)
    device.answer({"colour": "ultramarine"}, today=date(2026, 1, 1))
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"ultramarine" not in stored
    assert "ultramarine" not in repr(device)


def test_dates_are_kept(tmp_path: Path) -> None:
    text = ONCE.replace("epsilon=1\n", "epsilon=1\nopens=2026-02-01\ncloses=2026-02-28\n")
    for day in (date(2026, 1, 31), date(2026, 3, 1)):
        with pytest.raises(InvalidParameter, match="survey"):
            session(tmp_path, text).answer(RED, today=day)
    assert session(tmp_path, text).answer(RED, today=date(2026, 2, 28)).delivered


def test_ledgers_are_private_files(tmp_path: Path) -> None:
    Ledger(tmp_path / "ledger.db")
    assert (tmp_path / "ledger.db").stat().st_mode & 0o777 == 0o600
    os.chmod(tmp_path / "ledger.db", 0o644)
    with pytest.raises(InvalidParameter, match="only its owner"):
        Ledger(tmp_path / "ledger.db")
    (tmp_path / "other.db").write_bytes(b"not a database, but long enough to be looked at" * 30)
    os.chmod(tmp_path / "other.db", 0o600)
    with pytest.raises(InvalidParameter, match="ledger or a new file"):
        Ledger(tmp_path / "other.db")


def test_a_ledger_has_one_name(tmp_path: Path) -> None:
    """What SQLite has to undo after a crash lies beside the name that was written under; a link would not lead to it."""
    path = tmp_path / "ledger.db"
    Ledger(path)
    (tmp_path / "link.db").symlink_to(path)
    with pytest.raises(InvalidParameter, match="symbolic link"):
        Ledger(tmp_path / "link.db")
    os.link(path, tmp_path / "second.db")
    for name in (path, tmp_path / "second.db"):
        with pytest.raises(InvalidParameter, match="one name"):
            Ledger(name)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidParameter, match="one name"):
        Ledger(tmp_path / "pipe")


def test_a_ledger_lies_where_nobody_else_can_replace_it(tmp_path: Path) -> None:
    os.chmod(tmp_path, 0o777)
    with pytest.raises(InvalidParameter, match="not everybody can write"):
        Ledger(tmp_path / "ledger.db")
    os.chmod(tmp_path, 0o1777)  # others can add files, and not replace this one
    assert Ledger(tmp_path / "ledger.db").spent() == 0


def test_a_ledger_stays_where_it_is_and_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    ledger = Ledger("a ?mode=memory&#%41.db", limit=4)
    ledger.spend("survey", "", epsilon=Fraction(1), budget=Fraction(2))
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert ledger.spent() == 1
    assert not list((tmp_path / "elsewhere").iterdir())
    ledger.path.unlink()
    with pytest.raises(NotStored):
        ledger.spend("survey", "later", epsilon=Fraction(1), budget=Fraction(2))
    assert not ledger.path.exists()


def test_plain_http_is_for_this_machine_only() -> None:
    with pytest.raises(InvalidParameter, match="https"):
        HttpTransport().get("http://example.org/v1/surveys")
    with pytest.raises(InvalidParameter, match="https"):
        HttpTransport().get("file:///etc/passwd")
    with pytest.raises(NotDelivered):
        HttpTransport(timeout=1).get("http://127.0.0.1:9/v1/surveys")


def test_waiting_grows_and_is_bounded() -> None:
    waits: list[float] = []
    patience = Patience(first=1, most=8, sleep=waits.append)
    for attempt in range(6):
        patience.wait(attempt)
    for wait, longest in zip(waits, (1, 2, 4, 8, 8, 8), strict=True):
        assert longest / 2 <= wait <= longest


def test_surveys_are_equal_when_their_hashes_are() -> None:
    assert survey_from_toml(ONCE) == Survey.from_json(survey_from_toml(ONCE).to_json())


TURNS = MONTHLY.replace("each-window", "turns:3").replace("month", "day")


def test_a_device_reports_in_its_own_turn_only(tmp_path: Path) -> None:
    """Over six days each of several devices is heard on two, three days apart, also when it is restarted every day."""
    for number in range(4):
        folder = tmp_path / str(number)
        folder.mkdir(mode=0o700)
        receipts = [session(folder, TURNS).answer(RED, today=date(2026, 11, day)) for day in range(1, 7)]
        heard = [day for day, receipt in enumerate(receipts) if not receipt.silent]
        assert len(heard) == 2
        assert heard[1] - heard[0] == 3
        assert receipts[-1].spent == 2
        assert not any(receipt.delivered for receipt in receipts if receipt.silent)


def test_one_random_window_is_one_report_in_all(tmp_path: Path) -> None:
    text = TURNS.replace("turns:3", "random-window").replace("epsilon=1", "epsilon=1\nopens=2026-11-01\ncloses=2026-11-05")
    device = session(tmp_path, text)
    assert sum(not device.answer(RED, today=date(2026, 11, day)).silent for day in range(1, 6)) == 1
    assert device.ledger.spent() == 1


@pytest.mark.parametrize("repeat", ["turns:3", "kept:2"])
def test_what_is_promised_is_said_to_be_per_device(repeat: str, tmp_path: Path) -> None:
    words = session(tmp_path, TURNS.replace("turns:3", repeat)).explain()
    assert "This holds for each device: a person with two of them spends twice." in words


def test_turns_are_spread_evenly(tmp_path: Path) -> None:
    """40 turns of three: none of one of them has a chance below 1e-6."""
    ledger = Ledger(tmp_path / "ledger.db")
    turns = [ledger.turn(f"survey {number}", 3) for number in range(40)]
    assert turns == [ledger.turn(f"survey {number}", 3) for number in range(40)]
    assert min(turns.count(turn) for turn in range(3)) >= 1


@pytest.mark.parametrize("repeat", ["turns:1", "turns:1001", "turns:", "turns:x", "random-window", "sometimes"])
def test_turns_that_are_none_are_refused(repeat: str) -> None:
    with pytest.raises(InvalidParameter):
        survey_from_toml(TURNS.replace("turns:3", repeat))


KEPT = TURNS.replace("turns:3", "kept:2").replace("budget=2", "budget=4")


@pytest.mark.parametrize(("size", "epsilon", "permanent"), [(2, "1/2", "1"), (3, "1", "2"), (40, "1/4", "7/2")])
def test_the_two_layers_of_a_kept_answer_are_exactly_the_survey_s_channel(size: int, epsilon: str, permanent: str) -> None:
    mechanism = make_mechanism("k-rr", domain=Categories(size), epsilon=epsilon)
    first, second = layers(mechanism, Fraction(permanent))
    for report in range(size):
        both = sum(
            Fraction(first.weight(1, kept) * second.weight(kept, report), first.total * second.total) for kept in range(size)
        )
        assert both == Fraction(mechanism.channel.weight(1, report), mechanism.channel.total)
    ratio = first.max_ratio()
    assert ratio is not None
    assert Epsilon(permanent).allows(ratio)


@pytest.mark.slow
def test_a_kept_answer_is_paid_for_once_and_reported_afresh(tmp_path: Path) -> None:
    """Forty days of one value: reports differ (all alike: chance below 1e-6), the cost does not; a third value is refused."""
    device = session(tmp_path, KEPT)
    for day in range(40):
        again = session(tmp_path, KEPT, transport=device.transport)  # type: ignore[arg-type]
        assert again.answer(RED, today=date(2026, 10, 1) + timedelta(days=day)).spent == 2
    assert len({report for _, report in sent(device)}) > 1
    assert device.answer({"colour": "blue"}, today=date(2026, 12, 1)).spent == 4
    assert device.answer(RED, today=date(2026, 12, 2)).spent == 4
    with pytest.raises(BudgetSpent):
        device.answer({"colour": "green"}, today=date(2026, 12, 3))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("kept:2", "kept:1"),
        ("kept:2", "kept:02"),
        ("kept:2", "kept:4/2"),
        ("kept:2", "kept:"),
        ("budget=4", "budget=1"),
        ("kept:2", "kept:5"),
    ],
)
def test_kept_answers_that_are_none_are_refused(before: str, after: str) -> None:
    with pytest.raises(InvalidParameter):
        survey_from_toml(KEPT.replace(before, after))


def test_a_kept_answer_needs_a_mechanism_of_single_values() -> None:
    with pytest.raises(InvalidParameter, match="k-rr"):
        survey_from_toml(KEPT + 'mechanism="oue"\n')
