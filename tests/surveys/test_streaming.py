"""A stream's device: its memory and its budgets outlive restarts, clocks and time zones."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from deniable.core import (
    FreshReports,
    KeptAnswer,
    KeptBits,
    RandomizedResponse,
    RandomPeriod,
    Stream,
    TakingTurns,
    TreeOfChanges,
    WhenAsked,
)
from deniable.errors import AlreadyAnswered, BudgetSpent, InvalidParameter
from deniable.privacy import FixedCoins
from deniable.surveys import StreamDevice

START = date(2026, 3, 1)
COIN = RandomizedResponse(epsilon=1)


def day(number: int) -> date:
    return START + timedelta(days=number)


def device(stream: Stream, folder: Path, **options: Any) -> StreamDevice:
    return StreamDevice(stream, folder / "stream.db", opens=START, **options)


def test_what_is_kept_outlives_a_restart(tmp_path: Path) -> None:
    """The planted fault draws it again; the law of the stream forbids it (tests/core/streams)."""
    stream, coins = KeptAnswer(60, 4, epsilon=1, permanent=2), FixedCoins(1)
    device(stream, tmp_path, budget=2).answer(3, day(0), coins)
    for number in range(1, 5):
        again = device(stream, tmp_path, budget=2)
        again.answer(3, day(number), coins)
        assert again.spent() == 2
    with pytest.raises(BudgetSpent):
        device(stream, tmp_path, budget=2).answer(1, day(30), coins)


def test_a_value_that_comes_back_is_not_paid_for_twice(tmp_path: Path) -> None:
    stream, coins = KeptAnswer(60, 4, epsilon=1, permanent=2), FixedCoins(2)
    mine = device(stream, tmp_path, budget=4)
    for number, value in enumerate([0, 1, 0, 1, 1, 0]):
        mine.answer(value, day(number), coins)
    assert mine.spent() == 4


@pytest.mark.parametrize(
    "stream", [FreshReports(9, COIN), TakingTurns(9, COIN, turns=2), RandomPeriod(9, COIN), TreeOfChanges(8, 2, 1)]
)
def test_asked_twice_a_device_gives_the_same_report(stream: Stream, tmp_path: Path) -> None:
    mine, coins = device(stream, tmp_path, budget=20), FixedCoins(3)
    for number in range(3):
        first, spent = mine.answer(1, day(number), coins), mine.spent()
        assert [device(stream, tmp_path, budget=20).answer(0, day(number), coins) for _ in range(2)] == [first] * 2
        assert mine.spent() == spent


@pytest.fixture(params=["UTC", "Pacific/Auckland", "Pacific/Honolulu"])
def machine_zone(request: pytest.FixtureRequest) -> Iterator[None]:
    """The machine itself is in another time zone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", request.param)
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("machine_zone")
def test_a_budget_is_not_refreshed_at_midnight_in_another_time_zone(tmp_path: Path) -> None:
    mine, coins = device(FreshReports(30, COIN), tmp_path, budget=30, window=1, window_budget=1), FixedCoins(4)
    auckland, honolulu = timezone(timedelta(hours=13)), timezone(timedelta(hours=-10))
    noon = datetime(2026, 3, 5, 12, tzinfo=UTC)
    first = mine.answer(1, noon - timedelta(hours=1), coins)
    # Half past eleven and half past midnight in Auckland, and the evening before in Honolulu: one day in UTC.
    for moment in (datetime(2026, 3, 5, 23, 59, tzinfo=auckland), datetime(2026, 3, 6, 0, 30, tzinfo=auckland)):
        assert mine.period(moment) == mine.period(noon)
        assert mine.answer(0, moment, coins) == first
    assert mine.answer(0, datetime(2026, 3, 5, 1, tzinfo=honolulu), coins) == first
    assert mine.spent() == 1
    with pytest.raises(InvalidParameter, match="time zone"):
        mine.answer(1, datetime(2026, 3, 6, 12))  # noqa: DTZ001  # that is what is refused


def test_a_device_that_counts_local_days_would_be_caught(tmp_path: Path) -> None:
    class LocalDays(StreamDevice):
        def period(self, now: Any = None) -> int:
            return int((now.date() - self.opens).days)

    auckland = timezone(timedelta(hours=13))
    moments = [datetime(2026, 3, 5, 23, 30, tzinfo=auckland), datetime(2026, 3, 6, 0, 30, tzinfo=auckland)]
    spent = {}
    for kind in (StreamDevice, LocalDays):
        mine = kind(FreshReports(30, COIN), tmp_path / f"{kind.__name__}.db", opens=START, budget=30)
        for moment in moments:
            mine.answer(1, moment, FixedCoins(5))
        spent[kind] = mine.spent()
    assert spent == {StreamDevice: 1, LocalDays: 2}


def test_a_clock_that_goes_back_draws_nothing(tmp_path: Path) -> None:
    mine = device(FreshReports(9, COIN), tmp_path, budget=9)
    mine.answer(1, day(4))
    with pytest.raises(AlreadyAnswered):
        mine.answer(1, day(3))
    assert mine.spent() == 1


def test_no_window_ever_costs_more_than_its_budget(tmp_path: Path) -> None:
    mine, coins = device(FreshReports(20, COIN), tmp_path, budget=20, window=7, window_budget=3), FixedCoins(6)
    paid = [0] * 20
    for number in range(20):
        if number % 5 == 2:
            continue  # offline
        try:
            mine.answer(1, day(number), coins)
            paid[number] = 1
        except BudgetSpent:
            pass
    assert max(sum(paid[begin : begin + 7]) for begin in range(14)) == 3
    assert mine.spent() == sum(paid)


@pytest.mark.parametrize("seed", range(2))
def test_streams_cost_what_they_promise(seed: int, tmp_path: Path) -> None:
    for number, (stream, most) in enumerate(
        [(RandomPeriod(16, COIN), 1), (TreeOfChanges(16, 3, 1), 1), (TakingTurns(16, COIN, turns=5), 4)]
    ):
        mine = StreamDevice(stream, tmp_path / f"{number}.db", opens=START, budget=most)
        coins = FixedCoins(seed)
        for period in range(3, 16, 2):
            mine.answer(period % 2, day(period), coins)
        assert mine.spent() <= most
        assert number == 2 or mine.spent() in (0, 1)


@pytest.mark.slow
def test_a_greedy_collector_gets_no_more_than_a_window_allows(tmp_path: Path) -> None:
    """Asked for everything in every period, a device gives it once in seven; asked for parts, never more than all of them."""
    for number, (parts, wanted) in enumerate([(1, [1] * 20), (14, [5, 1, 9, 3, 14, 1, 1, 2, 7, 1] * 2)]):
        stream = WhenAsked(20, COIN, window=7, parts=parts)
        path, paid, coins = tmp_path / f"{number}.db", [], FixedCoins(9)
        for period, asked in enumerate(wanted):
            mine = StreamDevice(stream, path, opens=START, window=7, window_budget=1)  # as after a restart
            before = mine.spent()
            mine.answer(1, day(period), coins, asked=asked)
            paid.append(mine.spent() - before)
        assert max(sum(paid[begin : begin + 7]) for begin in range(14)) == 1
    with pytest.raises(InvalidParameter, match="asked"):
        device(FreshReports(9, COIN), tmp_path).answer(1, day(0), asked=1)


def test_kept_bits_are_paid_for_once(tmp_path: Path) -> None:
    stream, coins = KeptBits(60, 8, bits=2, epsilon=1), FixedCoins(2)
    reports: dict[int, set[int | None]] = {value: set() for value in range(8)}
    for number in range(0, 24, 2):
        reports[number % 8].add(device(stream, tmp_path, budget=3).answer(number % 8, day(number), coins))
    assert all(len(each) == 1 for value, each in reports.items() if value % 2 == 0)
    assert device(stream, tmp_path, budget=3).spent() <= 3


def test_another_stream_needs_another_file(tmp_path: Path) -> None:
    device(FreshReports(9, COIN), tmp_path).answer(0, day(0))
    with pytest.raises(InvalidParameter, match="another stream"):
        device(RandomPeriod(9, COIN), tmp_path)
    (tmp_path / "other.db").write_bytes(b"something else entirely")
    (tmp_path / "other.db").chmod(0o600)
    with pytest.raises(InvalidParameter):
        StreamDevice(FreshReports(9, COIN), tmp_path / "other.db", opens=START)


def test_periods_outside_the_stream_and_odd_options_are_refused(tmp_path: Path) -> None:
    mine = device(FreshReports(9, COIN), tmp_path)
    for number in (-1, 9):
        with pytest.raises(InvalidParameter, match="9 periods"):
            mine.answer(0, day(number))
    for options in ({"days": 0}, {"window": 3}, {"window_budget": 1}, {"window": True, "window_budget": 1}, {"budget": 0}):
        with pytest.raises((InvalidParameter, ValueError)):
            device(FreshReports(9, COIN), tmp_path, **options)


def test_the_value_is_not_in_the_file_of_a_fresh_stream(tmp_path: Path) -> None:
    files = []
    for value in (0, 1):
        mine = StreamDevice(FreshReports(9, COIN), tmp_path / f"{value}.db", opens=START)
        # Coins whose report is the same for both values: nothing else of the file may differ.
        mine.answer(value, day(0), FixedCoins(8))
        with mine._file.reading() as connection:
            files.append(list(connection.iterdump()))
    first, second = ([line for line in lines if 'INTO "sent"' not in line] for lines in files)
    assert first == second
    assert Fraction(1) == mine.spent()


def test_kept_values_are_in_the_file_under_a_tag_only(tmp_path: Path) -> None:
    stream = KeptAnswer(9, 40_000, epsilon=1, permanent=2)
    mine = device(stream, tmp_path)
    mine.answer(31_416, day(0))
    mine.answer(27_183, day(1))
    with mine._file.reading() as connection:
        memory = json.loads(connection.execute("SELECT state FROM memory").fetchone()[0])
    assert len(memory["kept"]) == 2
    assert all(len(tag) == 64 for tag in memory["kept"])
