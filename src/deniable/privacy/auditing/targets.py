"""What can be audited: a function, a command, an HTTP service. All of them answer "a report of each of these values"."""

from __future__ import annotations

import json
import math
import os
import shlex
import signal
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.privacy.auditing.answers import LONGEST, Answer, in_output, table_of_answers
from deniable.privacy.auditing.fields import Table, joined, table_of, table_of_array

Order = NDArray[Any]
CHUNK = 1 << 20
LINES_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Draws:
    """Reports, and what went wrong instead of a report."""

    reports: Table
    failures: Counter[str] = field(default_factory=Counter)


class Target(Protocol):
    """Anything that makes reports of values."""

    def draw(self, values: Sequence[Any], order: Order) -> Draws:
        """Ask for one report of `values[i]` for every i of the order, independent of each other."""
        ...


def draw_same(target: Target, value: Any, count: int) -> Draws:
    """So many reports of one value."""
    return target.draw([value], np.zeros(count, np.intp))


@dataclass(frozen=True)
class Vectorised:
    """A function from an array of values to as many reports (numbers, rows of numbers, text, or a list of anything).

    With `workers`, several threads call it at once: only for functions that allow that (a shared numpy Generator does not).
    """

    function: Callable[[Any], Any]
    workers: int = 1

    def draw(self, values: Sequence[Any], order: Order) -> Draws:
        """One call per million, or less when there are several workers."""
        piece = max(1, min(CHUNK, -(-len(order) // self.workers)))
        starts = range(0, len(order), piece)
        if self.workers == 1:
            answers = [self._call(values, order[start : start + piece], start) for start in starts]
        else:
            with ThreadPoolExecutor(self.workers) as pool:
                answers = list(pool.map(lambda start: self._call(values, order[start : start + piece], start), starts))
        failures = sum((answer.failures for answer in answers), Counter[str]())
        return Draws(joined([answer.reports for answer in answers if len(answer.reports)] or [_none()]), failures)

    def _call(self, values: Sequence[Any], order: Order, start: int) -> Draws:
        plain = len({type(value) for value in values}) == 1 and isinstance(values[0], bool | int | float | str)
        asked: Any = np.array(values)[order] if plain else [values[place] for place in order]
        try:
            reports = self.function(asked)
            size = len(reports) if hasattr(reports, "__len__") else -1
        except (Exception, SystemExit) as error:  # whatever somebody else's code raises
            return Draws(_none(), Counter({f"raised {type(error).__name__}": len(order)}))
        if size != len(order):
            return Draws(_none(), Counter({"gave another number of reports than values": len(order)}))
        places, positions = order.astype(np.intp, copy=False), np.arange(start, start + size)
        if isinstance(reports, np.ndarray) and reports.ndim in (1, 2):
            return Draws(table_of_array(reports, places, positions))
        return Draws(table_of(list(reports), places, positions))


@dataclass(frozen=True)
class Scalar:
    """A function from one value to one report."""

    function: Callable[[Any], Any]

    def draw(self, values: Sequence[Any], order: Order) -> Draws:
        """One call per report, in the given order; calls that raise are counted as failures."""
        reports, positions, failures = [], [], Counter[str]()
        for position, place in enumerate(order):
            try:
                reports.append(self.function(values[place]))
                positions.append(position)
            except (Exception, SystemExit) as error:  # whatever somebody else's code raises
                failures[f"raised {type(error).__name__}"] += 1
        kept = np.array(positions, np.intp)
        return Draws(table_of(reports, order[kept].astype(np.intp), kept), failures)


@dataclass(frozen=True)
class Command:
    """A program that reads a value from standard input and prints a report.

    With `lines`, one process gets many lines and prints as many. Programs that hang are ended after `timeout` seconds.
    """

    command: str | Sequence[str]
    lines: bool = False
    timeout: float = 10.0
    workers: int = 0

    def __post_init__(self) -> None:
        _check_timeout(self.timeout)
        if not self._arguments():
            raise InvalidParameter("the command is empty; give a program and its arguments")

    def _arguments(self) -> list[str]:
        if not isinstance(self.command, str):
            return list(self.command)
        try:
            return shlex.split(self.command)
        except ValueError:
            raise InvalidParameter("the command has an open quotation mark; close it") from None

    def draw(self, values: Sequence[Any], order: Order) -> Draws:
        """Several processes at a time."""
        texts = [((value if isinstance(value, str) else json.dumps(value)) + "\n").encode() for value in values]
        at_once = min(max(len(order), 1), LINES_AT_ONCE) if self.lines else 1
        pieces = [order[start : start + at_once] for start in range(0, len(order), at_once)]
        with ThreadPoolExecutor(self.workers or os.cpu_count() or 1) as pool:
            answers = list(pool.map(lambda piece: self._run(b"".join([texts[place] for place in piece]), len(piece)), pieces))
        return _collected(answers, pieces, order)

    def _run(self, text: bytes, size: int) -> tuple[list[Answer], Counter[str]]:
        try:
            # Its own session, so that children of a program that hangs are ended with it.
            process = subprocess.Popen(  # noqa: S603 - running the user's own command is the purpose
                self._arguments(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
            )
        except OSError:
            raise InvalidParameter("the command cannot be started; check its first word and its path") from None
        try:
            output, _ = process.communicate(text, timeout=self.timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return [], Counter({f"took longer than {self.timeout:g} s": size})
        if process.returncode != 0:
            return [], Counter({f"ended with code {process.returncode}": size})
        return in_output(output, size)


@dataclass(frozen=True)
class HttpClient:
    """A service that answers a POST of a JSON value with a report."""

    url: str
    timeout: float = 10.0
    workers: int = 8

    def __post_init__(self) -> None:
        if urllib.parse.urlsplit(self.url).scheme not in ("http", "https"):
            raise InvalidParameter("url must begin with http:// or https://")
        _check_timeout(self.timeout)

    def draw(self, values: Sequence[Any], order: Order) -> Draws:
        """Several requests at a time."""
        bodies = [json.dumps(value).encode() for value in values]
        with ThreadPoolExecutor(self.workers) as pool:
            answers = list(pool.map(lambda place: self._ask(bodies[place]), order))
        return _collected(answers, [order[place : place + 1] for place in range(len(order))], order)

    def _ask(self, body: bytes) -> tuple[list[Answer], Counter[str]]:
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})  # noqa: S310 - scheme checked
        try:
            with _opener(self.url).open(request, timeout=self.timeout) as answer:
                head = [
                    f"{name}: {text}" for name, text in answer.headers.items() if name.lower() not in ("date", "content-length")
                ]
                return in_output(answer.read(LONGEST + 1), 1, "\n".join([str(answer.status), *head]))
        except urllib.error.HTTPError as error:
            return [], Counter({f"answered with status {error.code}": 1})
        except TimeoutError:
            return [], Counter({f"took longer than {self.timeout:g} s": 1})
        except (urllib.error.URLError, ConnectionError, OSError):
            return [], Counter({"could not be reached": 1})


def _opener(url: str) -> urllib.request.OpenerDirector:
    """Plain HTTP goes straight to the service: a proxy that the environment names would read every report."""
    plain = urllib.parse.urlsplit(url).scheme == "http"
    return urllib.request.build_opener(urllib.request.ProxyHandler({} if plain else None))


def _collected(answers: list[tuple[list[Answer], Counter[str]]], pieces: list[Order], order: Order) -> Draws:
    """The reports of several processes or requests, in the order of asking."""
    starts = np.cumsum([0, *map(len, pieces)])[:-1]
    answered = [(start, given) for start, (given, _) in zip(starts, answers, strict=True) if given]
    kept = np.concatenate([start + np.arange(len(given)) for start, given in answered] or [np.zeros(0)]).astype(np.intp)
    failures = sum((failed for _, failed in answers), Counter[str]())
    return Draws(table_of_answers([one for _, given in answered for one in given], order[kept].astype(np.intp), kept), failures)


def _check_timeout(timeout: float) -> None:
    if not 0 < timeout < math.inf:
        raise InvalidParameter("timeout must be a positive number of seconds: how long a report may take")


def _none() -> Table:
    return table_of([], np.zeros(0, np.intp), np.zeros(0, np.intp))
