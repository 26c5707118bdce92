"""A fleet of devices that report every day for three months: churn, offline days, time zones, and an upgrade of the survey.

Some of the devices run the real client with a real file on disk; the others are a model of a few bytes each, which decides
exactly as the client does (tests/test_fleet.py). No device ever exceeds a budget, and the estimates of every day are compared
with the truth.

    python examples/fleet/fleet.py                                        # 100,000 devices, 90 days, 300 real clients
    python examples/fleet/fleet.py --devices 2000 --days 20 --real 5      # in a second
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import numpy as np

from deniable.batch import Reports, SystemKeystream, draw_many
from deniable.core import Categories, FreshReports, make_mechanism
from deniable.errors import BudgetSpent
from deniable.estimators import Trend, shares
from deniable.surveys import StreamDevice

EACH, WINDOW, WINDOW_BUDGET, BUDGET = Fraction(1, 8), 7, Fraction(3, 4), Fraction(4)
"""A report costs 1/8; any seven days at most 3/4, and each of the two surveys at most 4 in all: 8 for a life."""
OPENS = date(2026, 1, 1)
COLOURS = (["red", "green", "blue", "grey"], ["red", "green", "blue", "grey", "black"])
"""The upgrade knows one answer more."""
DISKS = 64
"""Real devices write at the same time: each of them would have a disk of its own."""
OFFLINE, CHANGES, TRAVELS, LATE = 0.08, 0.01, 0.02, 5


@dataclass
class Fleet:
    """What every device is like, a few bytes each: when it joins and leaves, where it is, what it would answer."""

    devices: int
    days: int
    seed: int
    joins: np.ndarray = field(init=False)
    leaves: np.ndarray = field(init=False)
    hour: np.ndarray = field(init=False)
    zone: np.ndarray = field(init=False)
    upgraded: np.ndarray = field(init=False)
    value: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        random = np.random.default_rng(self.seed)
        late = random.random(self.devices) < 0.2  # a fifth joins later, a tenth leaves before the end
        self.joins = np.where(late, random.integers(0, self.days, self.devices), 0).astype(np.int16)
        gone = random.random(self.devices) < 0.1
        self.leaves = np.where(gone, random.integers(1, self.days + 1, self.devices), self.days).astype(np.int16)
        self.hour = random.integers(0, 24, self.devices).astype(np.int8)
        self.zone = random.integers(-11, 14, self.devices).astype(np.int8)
        self.upgraded = (self.days // 2 + random.integers(0, LATE + 1, self.devices)).astype(np.int16)
        self.value = random.choice(4, self.devices, p=self.law(0)[:4]).astype(np.int8)

    def law(self, day: int) -> np.ndarray:
        """Of the answers that are given anew on a day."""
        wave = 0.2 * np.sin(2 * np.pi * day / self.days)
        return np.array([0.4 + wave, 0.3 - wave, 0.2, 0.1, 0.0])

    def each_day(self) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
        """For every local day: who is asked, in which period in UTC, and by which survey."""
        random = np.random.default_rng(self.seed + 1)
        for day in range(self.days):
            anew = np.flatnonzero(random.random(self.devices) < CHANGES)
            law = self.law(day)
            if day >= self.days // 2:
                law = law * 0.7 + np.array([0, 0, 0, 0, 0.3])
            self.value[anew] = random.choice(5, len(anew), p=law)
            away = np.flatnonzero(random.random(self.devices) < TRAVELS)
            self.zone[away] = random.integers(-11, 14, len(away))
            online = random.random(self.devices) >= OFFLINE
            period = np.floor_divide(24 * day + self.hour.astype(np.int32) - self.zone, 24).astype(np.int16)
            second = (day >= self.upgraded).astype(np.int8)
            first_day, last_day = np.where(second, self.days // 2, 0), np.where(second, self.days, self.days // 2)
            within = (period >= first_day) & (period < last_day) & (self.value < 4 + second)
            yield day, online & (self.joins <= day) & (day < self.leaves) & within, period, second


@dataclass
class Model:
    """What a device remembers, for all devices at once: its last period, the ones before it as bits, how many reports it sent."""

    devices: int
    last: np.ndarray = field(init=False)
    lately: np.ndarray = field(init=False)
    sent: np.ndarray = field(init=False)
    survey: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.last = np.full(self.devices, -100, np.int16)
        self.lately = np.zeros(self.devices, np.uint8)
        self.sent = np.zeros((self.devices, 2), np.uint8)
        self.survey = np.zeros(self.devices, np.int8)

    def decide(self, asked: np.ndarray, period: np.ndarray, second: np.ndarray) -> np.ndarray:
        """The devices that draw a report: neither twice in a period, nor beyond a window's or a survey's budget."""
        who = np.flatnonzero(asked)
        begun = second[who] > self.survey[who]  # another survey has a file of its own
        self.last[who[begun]], self.lately[who[begun]], self.survey[who[begun]] = -100, 0, 1
        who = who[period[who] > self.last[who]]
        passed = np.minimum(period[who] - self.last[who], 8)
        seen = (self.lately[who].astype(np.uint16) << passed) & ((1 << WINDOW) - 2)  # bit 0 is this period
        cost, most, all_in = EACH, int(WINDOW_BUDGET / EACH), int(BUDGET / EACH)
        assert cost * most <= WINDOW_BUDGET
        affordable = (np.bitwise_count(seen) < most) & (self.sent[who, second[who]] < all_in)
        drawn = who[affordable]
        self.last[drawn] = period[drawn]
        self.lately[drawn] = (seen[affordable] | 1).astype(np.uint8)
        self.sent[drawn, second[drawn]] += 1
        return drawn


@dataclass
class Outcome:
    """What the collector estimates, and what the devices spent."""

    reports: int
    real_reports: int
    trends: list[Trend]
    covered: float
    most_spent: Fraction
    most_in_a_window: Fraction
    bytes_per_device: float
    seconds: float
    processor_seconds: float


def simulate(devices: int, days: int, real: int, seed: int, folder: Path, keystream: SystemKeystream | None = None) -> Outcome:
    """All days of all devices; the first `real` of them are real clients."""
    begun, used = time.perf_counter(), time.process_time()
    streams = [FreshReports(days, make_mechanism("k-rr", domain=Categories(names), epsilon=EACH)) for names in COLOURS]
    fleet, model = Fleet(devices, days, seed), Model(devices)
    clients: dict[tuple[int, int], StreamDevice] = {}
    paid = np.zeros((2, real, days), np.int64)
    counts = [np.zeros((days, len(names)), np.int64) for names in COLOURS]
    truths = [np.zeros((days, len(names)), np.int64) for names in COLOURS]
    stream, reports, real_reports = SystemKeystream() if keystream is None else keystream, 0, 0
    disks = ThreadPoolExecutor(DISKS)
    for day, asked, period, second in fleet.each_day():
        awake = np.flatnonzero(asked[:real]).tolist()
        fresh = [key for number in awake if (key := (number, int(second[number]))) not in clients]
        clients.update(disks.map(lambda key: (key, client(streams[key[1]], folder / f"{key[0]}-{key[1]}.db")), fresh))
        devices_now = [clients[number, int(second[number])] for number in awake]
        moments = [moment(fleet, day, number) for number in awake]
        for number, output in zip(awake, disks.map(ask, devices_now, fleet.value[awake].tolist(), moments), strict=True):
            if output is not None:
                survey, when = int(second[number]), int(period[number])
                paid[survey, number, when] += 1
                counts[survey][when, output] += 1
                truths[survey][when, fleet.value[number]] += 1
                real_reports += 1
        drawn = model.decide(asked, period, second)
        reports += len(drawn)
        drawn = drawn[drawn >= real]
        for survey, each in enumerate(streams):
            mine = drawn[second[drawn] == survey]
            size = len(COLOURS[survey])
            outputs = draw_many(each.mechanism.channel, fleet.value[mine].astype(np.int64), stream)
            where = period[mine].astype(np.int64) * size
            counts[survey] += np.bincount(where + outputs, minlength=days * size).reshape(days, size)
            truths[survey] += np.bincount(where + fleet.value[mine], minlength=days * size).reshape(days, size)
    disks.shutdown()
    for number in range(real):  # the model decided as the clients did
        spent = [clients[number, survey].spent() if (number, survey) in clients else Fraction(0) for survey in (0, 1)]
        assert spent == [EACH * int(count) for count in model.sent[number]]
    trends, covered = estimated(streams, counts, truths)
    windows = [int(paid[..., begin : begin + WINDOW].sum(axis=-1).max(initial=0)) for begin in range(days - WINDOW + 1)]
    held = [*vars(fleet).values(), *vars(model).values()]
    return Outcome(
        reports=reports,
        real_reports=real_reports,
        trends=trends,
        covered=covered,
        most_spent=EACH * int(model.sent.sum(axis=1).max()),
        most_in_a_window=EACH * max(windows, default=0),
        bytes_per_device=sum(array.nbytes for array in held if isinstance(array, np.ndarray)) / devices,
        seconds=time.perf_counter() - begun,
        processor_seconds=time.process_time() - used,
    )


def client(stream: FreshReports, path: Path) -> StreamDevice:
    """A real one, with its file."""
    return StreamDevice(stream, path, opens=OPENS, budget=BUDGET, window=WINDOW, window_budget=WINDOW_BUDGET)


def ask(device: StreamDevice, value: int, when: datetime) -> int | None:
    """What a device draws and pays for now; None if it has reported in this period or cannot afford it."""
    before = device.spent()
    try:
        output = device.answer(value, when)
    except BudgetSpent:
        return None
    return output if device.spent() > before else None


def moment(fleet: Fleet, day: int, number: int) -> datetime:
    """When a device is asked: at its own hour, where it is now."""
    start = datetime(OPENS.year, OPENS.month, OPENS.day, tzinfo=UTC)
    return start + timedelta(hours=24 * day + int(fleet.hour[number]) - int(fleet.zone[number]))


def estimated(streams: list[FreshReports], counts: list[np.ndarray], truths: list[np.ndarray]) -> tuple[list[Trend], float]:
    """Shares of every day with reports, and how many of the 95 % intervals hold the share among those who reported."""
    trends, inside = [], []
    for stream, counted, truth in zip(streams, counts, truths, strict=True):
        periods = [int(period) for period in np.flatnonzero(counted.sum(axis=1) >= 100)]
        estimates = []
        for period in periods:
            outputs = np.repeat(np.arange(counted.shape[1]), counted[period])
            estimates.append(shares(Reports(stream.mechanism, outputs)))
            low, high = estimates[-1].interval(0.95)
            share = truth[period] / truth[period].sum()
            inside.append((low <= share) & (share <= high))
        if periods:
            trends.append(Trend(tuple(periods), tuple(estimates), estimates[0].labels or range(counted.shape[1])))
    return trends, float(np.concatenate(inside).mean()) if inside else 1.0


def main() -> None:
    """Run a fleet and say what came of it."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, usual in (("devices", 100_000), ("days", 90), ("real", 300), ("seed", 1)):
        options.add_argument(f"--{name}", type=int, default=usual)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        done = simulate(given.devices, given.days, given.real, given.seed, Path(folder))
    print(f"{given.devices:,} devices, {given.days} days: {given.devices * given.days:,} device-days, {done.reports:,} reports")
    print(f"{given.real} real clients drew {done.real_reports:,} of them, each as the model decides")
    print(f"most spent by one device: {done.most_spent} of {2 * BUDGET}; in any {WINDOW} days of a survey: {done.most_in_a_window}")
    print(f"{100 * done.covered:.1f} % of the 95 % intervals hold")
    print(f"{done.bytes_per_device:.0f} bytes a device, {done.seconds:.1f} s ({done.processor_seconds:.1f} s of processor time)")


if __name__ == "__main__":
    main()
