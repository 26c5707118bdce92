"""One person's stream on one device: what it remembers and what it spent, on disk before anything is sent."""

from __future__ import annotations

import json
import os
import sqlite3
from datetime import UTC, date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from deniable.core import SYSTEM, Coins, Number, Stream
from deniable.errors import AlreadyAnswered, InvalidParameter
from deniable.surveys.database import PrivateDatabase, is_new, stamp
from deniable.surveys.limits import USUAL_LIMIT, check_cost, checked_limit

APPLICATION = 0x646E7374
"""'dnst' in the file's header: what tells a stream's file from other SQLite files."""
VERSION = 1

SCHEMA = """
CREATE TABLE memory (one INTEGER PRIMARY KEY CHECK (one = 1), stream TEXT NOT NULL, state TEXT NOT NULL);
CREATE TABLE sent (period INTEGER PRIMARY KEY, output TEXT, epsilon TEXT NOT NULL);
"""


class StreamDevice:
    """Reports one person's values, period by period, within a budget for life and, if given, one for every window of periods.

    A period is `days` days long and counted in UTC from the day the stream `opens`, wherever the device is: no midnight comes
    twice. What is drawn, what it cost and what the device remembers are committed and flushed together before a report is
    returned. Asked twice in one period, it gives the same report; a clock that was set back draws nothing.

    `budget` bounds everything this stream ever costs. `window_budget` bounds what any `window` neighbouring periods cost. Both
    are promises of this one device: a person with two devices spends twice.

    >>> import tempfile
    >>> from deniable.core import KeptAnswer
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     weekly = KeptAnswer(52, size=5, epsilon=1, permanent=2)
    ...     device = StreamDevice(weekly, folder + "/stream.db", opens=date(2026, 1, 5), days=7, budget=4)
    ...     reports = [device.answer(3, date(2026, 1, 5 + 7 * week)) for week in range(3)]
    ...     device.spent()
    Fraction(2, 1)
    """

    __slots__ = ("_file", "_name", "budget", "days", "opens", "stream", "window", "window_budget")

    def __init__(
        self,
        stream: Stream,
        path: str | os.PathLike[str],
        *,
        opens: date,
        days: int = 1,
        budget: Number = USUAL_LIMIT,
        window: int | None = None,
        window_budget: Number | None = None,
    ) -> None:
        if not isinstance(stream, Stream):
            raise InvalidParameter(f"stream must be a Stream, got {type(stream).__name__}")
        if not isinstance(opens, date) or isinstance(opens, datetime):
            raise InvalidParameter("opens must be a date: the first day of the first period, in UTC")
        for name, count in (("days", days), ("window", 1 if window is None else window)):
            if isinstance(count, bool) or not isinstance(count, int) or count < 1:
                raise InvalidParameter(f"{name} must be a whole number, at least 1")
        if (window is None) != (window_budget is None):
            raise InvalidParameter("window and window_budget go together: how many periods, and the most they may cost")
        self.stream, self.opens, self.days, self.window = stream, opens, days, window
        self.budget = checked_limit("budget", budget)
        self.window_budget = None if window_budget is None else checked_limit("window_budget", window_budget)
        self._name = repr(stream)
        self._file = PrivateDatabase(path)
        self._file.identify("stream", self._checked)

    @property
    def path(self) -> Path:
        """The file on disk, which must not be deleted: what is remembered would be drawn again."""
        return self._file.path

    def period(self, now: date | datetime | None = None) -> int:
        """The number of the period that a moment lies in; a moment needs a time zone, a date is one in UTC."""
        if isinstance(now, datetime) and now.tzinfo is None:
            raise InvalidParameter("now must have a time zone: a time of day alone may lie in two periods")
        moment = datetime.now(UTC) if now is None else now
        day = moment.astimezone(UTC).date() if isinstance(moment, datetime) else moment
        number = (day - self.opens).days // self.days
        if not 0 <= number < self.stream.periods:
            raise InvalidParameter(f"the stream has {self.stream.periods} periods of {self.days} days from {self.opens}")
        return number

    def answer(
        self, value: int, now: date | datetime | None = None, coins: Coins = SYSTEM, *, asked: int | None = None
    ) -> int | None:
        """The report of this period, or None where the stream is silent; refused when it would cost too much.

        `asked` is for `WhenAsked`: how many parts of epsilon the collector asks for in this period.
        """
        period = self.period(now)
        self.stream.check(period, value)
        with self._file.writing() as connection:
            rows = connection.execute("SELECT period, output, epsilon FROM sent ORDER BY period").fetchall()
            if rows and rows[-1][0] > period:
                raise AlreadyAnswered("a later period was already answered; a clock that goes back draws nothing")
            if rows and rows[-1][0] == period:
                return _read(rows[-1][1])
            memory: dict[str, Any] = self._memory(connection, coins)
            if asked is not None:
                if "asked" not in memory:
                    raise InvalidParameter("asked is for streams that report when they are asked (WhenAsked)")
                memory["asked"] = asked
            price = self.stream.price(memory, period, value)
            limits = [("the stream's budget", sum((Fraction(row[2]) for row in rows), Fraction(0)), self.budget)]
            if self.window is not None and self.window_budget is not None:
                near = [Fraction(row[2]) for row in rows if row[0] > period - self.window]
                limits.append((f"the budget of {self.window} periods", sum(near, Fraction(0)), self.window_budget))
            check_cost(price, *limits)
            output = self.stream.report(memory, period, value, coins)
            connection.execute("UPDATE memory SET state = ?", (json.dumps(memory, sort_keys=True),))
            connection.execute("INSERT INTO sent VALUES (?, ?, ?)", (period, _written(output), str(price)))
        return output

    def spent(self) -> Fraction:
        """The epsilons of everything drawn so far, added exactly."""
        with self._file.reading() as connection:
            rows = connection.execute("SELECT epsilon FROM sent").fetchall()
        return sum((Fraction(row[0]) for row in rows), start=Fraction(0))

    def _memory(self, connection: sqlite3.Connection, coins: Coins) -> dict[str, Any]:
        row = connection.execute("SELECT state FROM memory").fetchone()
        if row is None:
            memory = self.stream.start(coins)
            connection.execute("INSERT INTO memory VALUES (1, ?, ?)", (self._name, json.dumps(memory, sort_keys=True)))
            return memory
        state: dict[str, Any] = json.loads(row[0])
        return state

    def _checked(self, connection: sqlite3.Connection) -> None:
        if is_new(connection, SCHEMA, APPLICATION, VERSION):
            return
        if stamp(connection) != (APPLICATION, VERSION):
            raise InvalidParameter(f"path must be a stream of version {VERSION} or a new file; this is another database")
        row = connection.execute("SELECT stream FROM memory").fetchone()
        if row is not None and row[0] != self._name:
            raise InvalidParameter("path holds another stream; every stream needs a file of its own")

    def __repr__(self) -> str:
        return f"StreamDevice({self.stream!r}, {str(self.path)!r})"


def _written(output: int | None) -> str | None:
    return None if output is None else str(output)


def _read(output: str | None) -> int | None:
    return None if output is None else int(output)
