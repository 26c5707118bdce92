"""Devices audited over whole windows: correct ones are not accused, and every fault of the field is found."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from deniable.core import (
    Coins,
    FreshReports,
    ItemSet,
    KeptAnswer,
    KeptBits,
    RandomizedResponse,
    RandomPeriod,
    Stream,
    TakingTurns,
    TreeOfChanges,
    WhenAsked,
    make_mechanism,
)
from deniable.errors import InvalidParameter
from deniable.privacy import FixedCoins, FixedKeystream, window_test
from deniable.surveys import StreamDevice

COIN = RandomizedResponse(epsilon=1)
SAMPLES = 3000
CONFIDENCE = 1 - 1e-6

Lives = list[tuple[Any, ...]]


def found(device: Stream | Callable[[], Any], rows: Lives, epsilon: Any, samples: int = SAMPLES, seed: int = 1) -> bool | None:
    """The verdict, on fixed coins; a correct device is accused with probability below 1e-6."""
    return window_test(
        device, rows, epsilon=epsilon, samples=samples, confidence=CONFIDENCE, coins=FixedCoins(seed), order=FixedKeystream(seed)
    ).violated


STREAMS: list[tuple[Stream, Lives, Any]] = [
    (FreshReports(4, COIN), [(0,) * 4, (1,) * 4], 4),
    (TakingTurns(6, COIN, turns=3), [(0,) * 6, (1,) * 6], 2),
    (RandomPeriod(4, COIN), [(0,) * 4, (1,) * 4], 1),
    (WhenAsked(4, COIN, window=4, parts=4), [(0,) * 4, (1,) * 4], 1),
    (KeptAnswer(6, 2, epsilon=1, permanent=2), [(0,) * 6, (1,) * 6], 2),
    (KeptBits(6, 4, bits=2, epsilon=2), [(0,) * 6, (3,) * 6], 2),
    (TreeOfChanges(4, changes=1, epsilon=2), [(1, 1, 1, 1), (0, 0, 1, 1)], 2),
]


@pytest.mark.slow
@pytest.mark.parametrize(("stream", "rows", "epsilon"), STREAMS, ids=lambda one: type(one).__name__)
def test_streams_keep_what_they_promise_and_nothing_less_is_true(stream: Stream, rows: Lives, epsilon: Any) -> None:
    """At the level that is promised nothing is found; at a quarter of it the same draws show a violation."""
    assert found(stream, rows, epsilon, 10_000) is False
    assert found(stream, rows, epsilon / 4, 10_000) is True


def restarting(stream: Stream, coins: Coins, *, keeps: bool) -> Callable[[], Any]:
    """Devices that are switched off after every report; what they remember is in a file, or is not."""

    def new_device() -> Any:
        memory: list[dict[str, Any]] = [stream.start(coins)]

        def report(period: int, value: int) -> Any:
            memory[0] = memory[0] if keeps else stream.start(coins)
            return stream.report(memory[0], period, value, coins)

        return report

    return new_device


@pytest.mark.slow
@pytest.mark.parametrize("keeps", [True, False])
def test_a_memo_that_is_lost_at_restart_is_found(keeps: bool) -> None:
    stream = KeptAnswer(12, 2, epsilon=1, permanent=2)
    device = restarting(stream, FixedCoins(3), keeps=keeps)
    assert found(device, [(0,) * 12, (1,) * 12], 2) is (not keeps)


class LocalDays(StreamDevice):
    """The fault: days are counted where the device is, so that some come twice."""

    def period(self, now: Any = None) -> int:
        return int((now.date() - self.opens).days)


@pytest.mark.heavy
@pytest.mark.parametrize("kind", [StreamDevice, LocalDays])
def test_a_budget_that_is_refreshed_at_midnight_elsewhere_is_found(kind: type[StreamDevice], tmp_path: Path) -> None:
    """Real devices with real files, asked before and after midnight in Auckland: one day in UTC, for which 1 is promised."""
    auckland, number, coins = timezone(timedelta(hours=13)), count(), FixedCoins(4)
    noon = datetime(2026, 3, 5, 12, tzinfo=auckland).astimezone(UTC)
    moments = [noon + timedelta(hours=11), noon + timedelta(hours=13)]

    def new_device() -> Any:
        path = tmp_path / f"{next(number)}.db"
        device = kind(FreshReports(9, COIN), path, opens=date(2026, 3, 1), budget=9, window=1, window_budget=1)
        return lambda step, value: device.answer(value, moments[step].astimezone(auckland), coins)

    assert moments[0].date() == moments[1].date()
    assert found(new_device, [(0, 0), (1, 1)], 1, 1200) is (kind is LocalDays)


class CountsAChangeTwice(TreeOfChanges):
    """The fault: the sign of a change is told again in the next stretch."""

    def report(self, memory: dict[str, Any], period: int, value: int, coins: Coins) -> Any:
        seen = memory["seen"]
        output = super().report(memory, period, value, coins)
        if memory["seen"] > seen == memory["number"]:
            memory["sign"] = 1 if value else -1
        return output


@pytest.mark.slow
@pytest.mark.parametrize("kind", [TreeOfChanges, CountsAChangeTwice])
def test_a_change_that_is_counted_twice_is_found(kind: type[TreeOfChanges]) -> None:
    """Two people who change once, one of them two periods later."""
    stream = kind(4, changes=1, epsilon=1)
    assert found(stream, [(1, 1, 1, 1), (0, 0, 1, 1)], 1, 20_000) is (kind is CountsAChangeTwice)


@pytest.mark.slow
@pytest.mark.parametrize("tells", [False, True])
def test_padding_that_tells_the_size_of_a_set_is_found(tells: bool) -> None:
    """A week of sets of no item and of two; the fault adds how many places were padded."""
    mechanism, coins = make_mechanism("padding-sampling", domain=ItemSet(3, at_most=2), epsilon=1), FixedCoins(5)

    def new_device() -> Any:
        def report(period: int, value: list[int]) -> Any:
            output = mechanism.randomize(value, coins).output
            return 2 * output + (len(value) < 2) if tells else output

        return report

    assert found(new_device, [([], [], []), ([0, 1], [0, 1], [0, 1])], 3) is tells


def test_rows_that_cannot_be_compared_are_refused() -> None:
    for rows in ([(0,), (0, 1)], [], [(), ()]):
        with pytest.raises(InvalidParameter, match="rows"):
            window_test(FreshReports(3, COIN), rows, epsilon=1)
    with pytest.raises(InvalidParameter, match="3 periods"):
        window_test(FreshReports(3, COIN), [(0,) * 4, (1,) * 4], epsilon=1)
