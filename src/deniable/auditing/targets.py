"""What can be audited: a function, a command, an HTTP service, a mechanism. All of them answer "n reports of this value"."""

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

Reports = NDArray[Any]
LONGEST = 1 << 16
"""Answers longer than so many bytes are not reports."""
CHUNK = 1 << 20


@dataclass(frozen=True)
class Draws:
    """Reports of one value, and what went wrong instead of a report."""

    reports: Reports
    failures: Counter[str] = field(default_factory=Counter)


class Target(Protocol):
    """Anything that makes reports of a value."""

    def draw(self, value: Any, count: int) -> Draws:
        """Ask for `count` independent reports of a value."""
        ...


@dataclass(frozen=True)
class Vectorised:
    """A function from an array of equal values to as many reports (numbers, or rows of them).

    With `workers`, several threads call it at once: only for functions that allow that (a shared numpy Generator does not).
    """

    function: Callable[[Any], Any]
    workers: int = 1

    def draw(self, value: Any, count: int) -> Draws:
        """One call per million, or less when there are several workers."""
        piece = max(1, min(CHUNK, -(-count // self.workers)))
        sizes = [min(piece, count - start) for start in range(0, count, piece)]
        if self.workers == 1:
            answers = [self._call(value, size) for size in sizes]
        else:
            with ThreadPoolExecutor(self.workers) as pool:
                answers = list(pool.map(lambda size: self._call(value, size), sizes))
        parts = [answer.reports for answer in answers if len(answer.reports)]
        return Draws(_joined(parts), sum((answer.failures for answer in answers), Counter[str]()))

    def _call(self, value: Any, size: int) -> Draws:
        failures = Counter[str]()
        asked: Any = [value] * size if isinstance(value, list | tuple | dict) else np.full(size, value)
        try:
            found = np.asarray(self.function(asked))
        except (Exception, SystemExit) as error:  # whatever somebody else's code raises
            return Draws(np.empty(0), Counter({f"raised {type(error).__name__}": size}))
        if found.ndim not in (1, 2) or len(found) != size:
            return Draws(np.empty(0), Counter({"gave another number of reports than values": size}))
        return Draws(found if found.dtype.kind in "biuf" else as_reports(list(found), failures), failures)


@dataclass(frozen=True)
class Scalar:
    """A function from one value to one report."""

    function: Callable[[Any], Any]

    def draw(self, value: Any, count: int) -> Draws:
        """One call per report."""
        found, failures = [], Counter[str]()
        for _ in range(count):
            try:
                found.append(self.function(value))
            except (Exception, SystemExit) as error:  # whatever somebody else's code raises
                failures[f"raised {type(error).__name__}"] += 1
        return Draws(as_reports(found, failures), failures)


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

    def draw(self, value: Any, count: int) -> Draws:
        """Several processes at a time."""
        text = value if isinstance(value, str) else json.dumps(value)
        at_once = min(count, 1 << 16) if self.lines else 1
        sizes = [min(at_once, count - start) for start in range(0, count, at_once)]
        with ThreadPoolExecutor(self.workers or os.cpu_count() or 1) as pool:
            answers = list(pool.map(lambda size: self._run(text, size), sizes))
        failures = sum((failed for _, failed in answers), Counter[str]())
        return Draws(as_reports([report for found, _ in answers for report in found], failures), failures)

    def _run(self, text: str, size: int) -> tuple[list[Any], Counter[str]]:
        try:
            # Its own session, so that children of a program that hangs are ended with it.
            process = subprocess.Popen(  # noqa: S603 - running the user's own command is the purpose
                self._arguments(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
            )
        except OSError:
            raise InvalidParameter("the command cannot be started; check its first word and its path") from None
        try:
            output, _ = process.communicate((text + "\n").encode() * size, timeout=self.timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return [], Counter({f"took longer than {self.timeout:g} s": size})
        if process.returncode != 0:
            return [], Counter({f"ended with code {process.returncode}": size})
        return _answers(output, size)


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

    def draw(self, value: Any, count: int) -> Draws:
        """Several requests at a time."""
        with ThreadPoolExecutor(self.workers) as pool:
            answers = list(pool.map(lambda _: self._ask(value), range(count)))
        failures = sum((failed for _, failed in answers), Counter[str]())
        return Draws(as_reports([report for found, _ in answers for report in found], failures), failures)

    def _ask(self, value: Any) -> tuple[list[Any], Counter[str]]:
        body = json.dumps(value).encode()
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})  # noqa: S310 - scheme checked
        try:
            with _opener(self.url).open(request, timeout=self.timeout) as answer:
                return _answers(answer.read(LONGEST + 1), 1)
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


def _check_timeout(timeout: float) -> None:
    if not 0 < timeout < math.inf:
        raise InvalidParameter("timeout must be a positive number of seconds: how long a report may take")


def _answers(output: bytes, size: int) -> tuple[list[Any], Counter[str]]:
    """The reports in what was printed: one per line, JSON or plain words."""
    if size == 1 and len(output) > LONGEST:
        return [], Counter({"answered with too much": 1})
    try:
        lines = [line.strip() for line in output.decode().splitlines() if line.strip()]
    except UnicodeDecodeError:
        return [], Counter({"answered with something that is not text": size})
    if len(lines) != size:
        return [], Counter({"answered with another number of lines than values": size})
    return [_parsed(line) for line in lines], Counter()


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return line


def as_reports(found: Sequence[Any], failures: Counter[str]) -> Reports:
    """One array from what came back: numbers, rows of numbers, or text. What does not fit the majority is a failure."""
    shapes = [_shape(report) for report in found]
    if not shapes:
        return np.empty(0)
    usual = Counter(shapes).most_common(1)[0][0]
    kept = [report for report, shape in zip(found, shapes, strict=True) if shape == usual]
    if len(kept) < len(found):
        failures["answered in another form than most"] += len(found) - len(kept)
    if usual[0] == "text":
        return np.array([report if isinstance(report, str) else json.dumps(report, sort_keys=True, default=str) for report in kept])
    made = np.array(kept)
    return made if made.dtype.kind in "biuf" else np.array([str(report) for report in kept])


def _shape(report: Any) -> tuple[str, int]:
    if isinstance(report, bool | int | float | np.number | np.bool_):
        return ("number", 0) if report == report else ("text", 0)  # what is not a number is text
    if isinstance(report, np.ndarray) and report.ndim == 1 and report.dtype.kind in "biuf":
        return "row", len(report)
    if isinstance(report, list | tuple) and report and all(isinstance(part, bool | int | float | np.number) for part in report):
        return "row", len(report)
    return "text", 0


def _joined(parts: list[Reports]) -> Reports:
    if not parts:
        return np.empty(0)
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
