"""The fleet of the example: real clients and the compact model decide alike, and no budget is ever exceeded."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tracemalloc
from datetime import UTC, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.core import Categories, FreshReports, make_mechanism
from deniable.errors import BudgetSpent
from deniable.privacy import FixedCoins, FixedKeystream

ROOT = Path(__file__).parents[1]


def example() -> Any:
    place = importlib.util.spec_from_file_location("fleet_example", ROOT / "examples" / "fleet" / "fleet.py")
    assert place is not None
    assert place.loader is not None
    module = importlib.util.module_from_spec(place)
    sys.modules["fleet_example"] = module
    place.loader.exec_module(module)
    return module


fleet = example()


@pytest.fixture
def travelling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleet, "TRAVELS", 0.4)


def walk(module: Any, clients: int, days: int, folder: Path, seed: int, moment: Any = None) -> tuple[Any, Any]:
    """On which periods real clients and the model draw a report, of travellers, until the survey is upgraded halfway."""
    stream = FreshReports(days, make_mechanism("k-rr", domain=Categories(5), epsilon=module.EACH))
    people, model = module.Fleet(clients, days, seed), module.Model(clients)
    people.joins[:], people.leaves[:] = 0, days
    people.upgraded[:] = days + 1
    devices = [module.client(stream, folder / f"{number}.db") for number in range(clients)]
    real, modelled = np.zeros((clients, days), int), np.zeros((clients, days), int)
    when = module.moment if moment is None else moment
    for day, asked, period, second in people.each_day():
        for number in np.flatnonzero(asked).tolist():
            before = devices[number].spent()
            try:
                devices[number].answer(int(people.value[number]), when(people, day, number), FixedCoins(day))
            except BudgetSpent:
                continue
            real[number, period[number]] += devices[number].spent() > before
        drawn = model.decide(asked, period, second)
        modelled[drawn, period[drawn]] += 1
    return real, modelled


@pytest.mark.slow
@pytest.mark.usefixtures("travelling")
def test_the_model_decides_exactly_as_the_real_client(tmp_path: Path) -> None:
    real, modelled = walk(fleet, 6, 24, tmp_path, 3)
    assert (real == modelled).all()
    assert real.sum() > 30


@pytest.mark.slow
@pytest.mark.usefixtures("travelling")
def test_the_model_decides_exactly_as_the_real_client_until_the_budget_is_spent(tmp_path: Path) -> None:
    real, modelled = walk(fleet, 4, 140, tmp_path, 4)
    assert (real == modelled).all()
    assert real.sum(axis=1).max() == fleet.BUDGET / fleet.EACH


@pytest.mark.usefixtures("travelling")
def test_a_client_on_local_days_is_told_from_the_model(tmp_path: Path) -> None:
    """The planted fault: a day that begins at midnight where the device is, so that a budget is refreshed by travelling."""

    def local(people: Any, day: int, number: int) -> Any:
        there = timezone(timedelta(hours=int(people.zone[number])))
        return fleet.moment(people, day, number).astimezone(there).replace(tzinfo=UTC)

    real, modelled = walk(fleet, 6, 24, tmp_path, 3, local)
    assert (real != modelled).any()


@pytest.mark.slow
def test_the_page_shows_a_fleet_that_runs() -> None:
    page = (ROOT / "docs" / "repeated-collection.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^\$ python (examples/fleet/fleet.py .*)$", page, re.MULTILINE)
    run = subprocess.run([sys.executable, *command.split()], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    assert "2,000 devices, 20 days: 40,000 device-days" in run.stdout
    assert "each as the model decides" in run.stdout


@pytest.mark.slow
def test_no_budget_is_exceeded_and_the_intervals_hold(tmp_path: Path) -> None:
    """Two surveys of ten days; of about 80 intervals at 95 %, fewer than 60 that hold have a chance below 1e-8."""
    done = fleet.simulate(3000, 20, 1, 5, tmp_path, FixedKeystream(6))
    assert done.most_spent <= 2 * fleet.BUDGET
    assert done.most_in_a_window <= fleet.WINDOW_BUDGET
    assert done.covered >= 0.75
    assert done.bytes_per_device <= 200
    assert done.reports > 30_000


@pytest.mark.slow
def test_another_device_takes_at_most_200_bytes(tmp_path: Path) -> None:
    """At the peak, with all that a day needs meanwhile."""
    fleet.simulate(500, 8, 0, 1, tmp_path, FixedKeystream(1))  # what is loaded once
    peaks = []
    for devices in (2000, 22_000):
        tracemalloc.start()
        fleet.simulate(devices, 8, 0, 1, tmp_path, FixedKeystream(1))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] <= 200 * 20_000


def test_no_device_of_a_large_fleet_spends_more_in_a_window_than_promised() -> None:
    people, model, most = fleet.Fleet(3000, 40, 7), fleet.Model(3000), 0
    sent = np.zeros((2, 3000, 40), int)
    for _, asked, period, second in people.each_day():
        drawn = model.decide(asked, period, second)
        sent[second[drawn], drawn, period[drawn]] += 1
    for begin in range(40 - fleet.WINDOW + 1):
        most = max(most, int(sent[..., begin : begin + fleet.WINDOW].sum(axis=-1).max()))
    assert fleet.EACH * most == fleet.WINDOW_BUDGET
    assert sent.max() == 1
    assert fleet.EACH * int(sent.sum(axis=(0, 2)).max()) <= 2 * fleet.BUDGET
