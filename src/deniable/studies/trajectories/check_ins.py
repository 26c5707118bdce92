"""Check-ins, one place of one user at one time each, to paths: sorted in memory, or in one pass when they are in order."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np

from deniable.batch import Floats
from deniable.errors import InvalidParameter
from deniable.studies.trajectories.paths import Paths
from deniable.studies.trajectories.pieces import CHUNK, Loaded, Piece, PieceStream

PLAIN = re.compile(r"[+-]?\d+(\.\d*)?")
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
WEEKDAY_TIME = re.compile(r"\w{3} (\w{3}) +(\d{1,2}) (\d\d):(\d\d):(\d\d) ([+-]\d{4}) (\d{4})")
"""As "Sat Dec 08 05:56:34 +0000 2012"; read by hand, because names of months must not depend on the machine's language."""


def seconds(text: str) -> float | None:
    """A time as a number that orders like it, or None: ISO 8601, a number, or "Sat Dec 08 05:56:34 +0000 2012".

    Times without a zone count as UTC.

    >>> seconds("1970-01-01 00:01:00"), seconds("Thu Jan 01 00:02:00 +0000 1970"), seconds("soon")
    (60.0, 120.0, None)
    """
    text = text.strip()
    try:
        return float(text) if PLAIN.fullmatch(text) else _moment(text).timestamp()
    except (ValueError, OverflowError):
        return None


def _moment(text: str) -> datetime:
    match = WEEKDAY_TIME.fullmatch(text)
    if match:
        month, day, hour, minute, second, zone, year = match.groups()
        text = f"{year}-{MONTHS.index(month.lower()) + 1:02d}-{int(day):02d}T{hour}:{minute}:{second}{zone}"
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class SortedCheckIns:
    """Collects all check-ins and orders them by user, in the order users first appear, and by time within a user."""

    def __init__(self, stream: PieceStream) -> None:
        self._stream = stream
        self._users: dict[str, int] = {}
        self._codes, self._times = array("q"), array("d")
        self._coordinates = array("d")

    def add(self, user: str, time: float, x: float, y: float) -> None:
        """Take one check-in of a user."""
        self._codes.append(self._users.setdefault(user, len(self._users)))
        self._times.append(time)
        self._coordinates.extend((x, y))

    def paths(self, *, keep_users: bool = False) -> Loaded:
        """One path per user; equal times keep the file's order."""
        codes, times = np.array(self._codes), np.array(self._times)
        order = np.lexsort((times, codes))
        places = np.array(self._coordinates).reshape(-1, 2)[order]
        kept, parts = [0], []
        bounds = np.searchsorted(codes[order], np.arange(len(self._users) + 1))
        if len(places) and self._stream.bad == "refuse":
            places = self._stream.checked(places, "the file")
            return self._loaded(Paths(places, bounds), keep_users)
        for start, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            parts.append(self._stream.checked(places[start:end], "the file"))
            kept.append(kept[-1] + len(parts[-1]))
        return self._loaded(Paths(np.concatenate(parts) if parts else places, np.array(kept)), keep_users)

    def _loaded(self, paths: Paths, keep_users: bool) -> Loaded:
        return Loaded(paths, self._stream.unit, self._stream.dropped, tuple(self._users) if keep_users else None)


class OrderedCheckIns:
    """Check-ins that are in order already, as pieces: memory for one piece and the names of the users."""

    def __init__(self, stream: PieceStream, first: int = 0) -> None:
        self._stream = stream
        self._seen: set[str] = set()
        self._user: str | None = None
        self._path, self._time = first - 1, float("-inf")
        self._coordinates = array("d")
        self._empty = True

    @property
    def paths(self) -> int:
        """The number of the next path."""
        return self._path + 1

    def add(self, user: str, time: float, x: float, y: float, where: str) -> Iterator[Piece]:
        """Take one check-in; gives a piece when one is full."""
        if user != self._user:
            if user in self._seen:
                self._stream.unordered = True
                raise InvalidParameter(f"{where}: the check-ins of a user are not together; read the whole file, which sorts them")
            yield from self.rest(where)
            self._seen.add(user)
            self._user, self._time, self._empty = user, float("-inf"), True
            self._path += 1
        if time < self._time:
            self._stream.unordered = True
            raise InvalidParameter(f"{where}: the check-ins of a user are not in time order; read the whole file, which sorts them")
        self._time = time
        self._coordinates.extend((x, y))
        if len(self._coordinates) >= 2 * CHUNK:
            yield from self._flush(where)

    def rest(self, where: str) -> Iterator[Piece]:
        """What has been taken and not given yet."""
        if self._user is not None:
            yield from self._flush(where)

    def _flush(self, where: str) -> Iterator[Piece]:
        places: Floats = np.array(self._coordinates).reshape(-1, 2)
        self._coordinates = array("d")
        places = self._stream.checked(places, f"up to {where}")
        # A user all of whose places were left out keeps an empty path.
        if len(places) or self._empty:
            yield Piece(self._path, places)
        self._empty = False
