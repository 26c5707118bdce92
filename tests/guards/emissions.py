"""Everything a device gives away or leaves behind while it answers, as one value that can be compared.

The output of every draw is fixed, and so is the system's generator. Then nothing may depend on the answer any more.
"""

from __future__ import annotations

import gc
import io
import logging
import os
import pickle
import re
import shutil
import socket
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from tests.guards.generator import ScriptedGenerator, install
from tests.guards.wire_tap import WireTap

from deniable.core import Channel
from deniable.surveys import Patience

WATCHED = ("open", "os.", "socket.", "sqlite3.", "subprocess.", "shutil.", "tempfile.", "urllib.", "http.", "time.sleep", "ctypes.")


@dataclass
class Left:
    """What others could see of one run."""

    wire: tuple[bytes, ...] = ()
    """The bytes of every connection."""
    asked: list[int] = field(default_factory=list)
    """How many bytes the system's generator was asked for, each time."""
    draws: int = 0
    waits: list[float] = field(default_factory=list)
    files: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    """Mode and content of every file in the folder, the home and the temporary folder."""
    said: str = ""
    """Standard output and error, warnings, and every line of a log."""
    shown: list[str] = field(default_factory=list)
    """Returned values, representations, pickles and errors."""
    events: list[str] = field(default_factory=list)
    """What the interpreter saw the thread do: files, sockets, databases, processes, waits."""
    handed: list[str] = field(default_factory=list)
    """In which pieces bytes were given to sockets, with which options, and every thread that was begun."""
    given: list[bytes] = field(default_factory=list, compare=False)
    """What the system's generator gave."""


def differences(one: Left, other: Left) -> list[str]:
    """Which parts differ. They are named, and not shown: failures of this check are about secrets."""
    return [part.name for part in fields(Left) if part.compare and getattr(one, part.name) != getattr(other, part.name)]


def assert_nothing_told(runs: Mapping[Any, Left]) -> None:
    """Every run left the same."""
    first = next(iter(runs.values()))
    for value, run in runs.items():
        found = differences(first, run)
        assert not found, f"the answer number {list(runs).index(value)} can be told from the first by: {', '.join(found)}"


class _Watch:
    """An audit hook, which stays for good once it is set: it looks only while a run is on, and only at its thread."""

    def __init__(self) -> None:
        self.thread: int | None = None
        self.events: list[str] = []

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.thread is None or threading.get_ident() != self.thread or not event.startswith(WATCHED):
            return
        if not _importing(sys._getframe()):  # what is imported when is a matter of what ran before
            simple = [repr(item) for item in arguments if isinstance(item, str | bytes | int | float | tuple | dict | None)]
            self.events.append(f"{event}({', '.join(simple)})")


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


@contextmanager
def _watched() -> Iterator[list[str]]:
    watch = _installed_watch()
    # What is collected when, and what that closes or removes, is a matter of what ran before: not now.
    gc.freeze()
    gc.disable()
    watch.events, watch.thread = [], threading.get_ident()
    try:
        yield watch.events
    finally:
        watch.thread = None
        gc.enable()
        gc.collect()  # of this run: an error may hold a connection, and the server waits for its end
        gc.unfreeze()


_watches: list[_Watch] = []


def _installed_watch() -> _Watch:
    if not _watches:
        _watches.append(_Watch())
        sys.addaudithook(_watches[0])
    return _watches[0]


class _Heard(logging.Handler):
    def __init__(self, lines: list[str]) -> None:
        super().__init__(0)
        self.lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.name} {record.levelname} {record.getMessage()}")


@contextmanager
def _heard(lines: list[str]) -> Iterator[None]:
    root, handler = logging.getLogger(), _Heard(lines)
    level = root.level
    root.addHandler(handler)
    root.setLevel(0)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


class Run:
    """One run of a scenario: `show` what it returns, `attempt` what may fail."""

    def __init__(self, folder: Path, tap: WireTap | None) -> None:
        self.folder = folder
        self.tap = tap
        self.left = Left()
        self._thread, self._sleep = threading.get_ident(), time.sleep

    def sleep(self, seconds: float) -> None:
        """Waits are written down, not waited; other threads wait as ever."""
        if threading.get_ident() == self._thread:
            self.left.waits.append(seconds)
        else:
            self._sleep(seconds)

    def show(self, *things: Any) -> None:
        for thing in things:
            self.left.shown.append(_shown(thing))
            self.left.shown.append(_pickled(thing))
            self.left.shown.append(_state(thing))

    def attempt(self, action: Callable[[], Any]) -> None:
        """Show what it returns, or how it fails: text, arguments, causes and notes."""
        try:
            self.show(action())
        except Exception as error:
            texts = ["".join(traceback.format_exception_only(error)), repr(error.args), repr(getattr(error, "__notes__", []))]
            self.left.shown += [*texts, _shown(error.__cause__), _shown(error.__context__), _state(error)]


def _shown(thing: Any) -> str:
    """Its representation, without the place in memory."""
    return re.sub(r"0x[0-9a-f]{6,}", "0x…", repr(thing))


def _pickled(thing: Any) -> str:
    try:
        return pickle.dumps(thing).hex()
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        return type(error).__name__


def _state(thing: Any) -> str:
    """Every field of an object, also those it does not show."""
    named = dict(getattr(thing, "__dict__", {}))
    for kind in type(thing).__mro__:
        for slot in getattr(kind, "__slots__", ()):
            if hasattr(thing, slot):
                named[slot] = getattr(thing, slot)
    return repr(sorted((name, _shown(value)) for name, value in named.items() if not callable(value)))


def run(
    scenario: Callable[[Run], None], folder: Path, *, tap: WireTap | None = None, output: int | None = 0, generator: str = "one"
) -> Left:
    """Run a scenario in an empty folder. `output` is what every channel draws; None leaves the draws as they are."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("home", "temporary", "here"):
        (folder / name).mkdir(parents=True)
    found = Run(folder / "here", tap)
    said, lines = io.StringIO(), list[str]()
    source = ScriptedGenerator(generator)
    with pytest.MonkeyPatch.context() as patch:
        install(source, patch)
        patch.setenv("HOME", str(folder / "home"))
        patch.setenv("TMPDIR", str(folder / "temporary"))
        patch.chdir(folder / "here")
        patch.setattr(time, "sleep", found.sleep)
        wait = Patience.wait
        patch.setattr(Patience, "wait", lambda patience, attempt: wait(replace(patience, sleep=found.sleep), attempt))
        _note_calls(found.left, patch)
        if output is not None:
            _fix_draws(output, found.left, patch)
        before = dict(os.environ)
        with redirect_stdout(said), redirect_stderr(said), _heard(lines), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with _watched() as events:
                scenario(found)
        assert dict(os.environ) == before, "the environment was changed"
    left = found.left
    left.wire = () if tap is None else tap.heard()
    left.asked, left.given = source.sizes, source.given
    left.said = "\n".join([said.getvalue(), *lines, *(str(item.message) for item in caught)])
    left.events = list(events)
    left.files = {
        str(path.relative_to(folder)): (path.stat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.rglob("*"))
    }
    return left


def _note_calls(left: Left, patch: pytest.MonkeyPatch) -> None:
    """The interpreter's hook does not see in which pieces a request is sent, which shows on the network, nor what threads do."""
    own = threading.get_ident()

    def noted(kind: type[Any], name: str) -> None:
        honest = getattr(kind, name)

        def call(self: Any, *arguments: Any) -> Any:
            if threading.get_ident() == own:
                sizes = [len(item) if isinstance(item, bytes | bytearray | memoryview) else repr(item) for item in arguments]
                left.handed.append(f"{name} {sizes}")
            return honest(self, *arguments)

        patch.setattr(kind, name, call)

    for name in ("send", "sendall", "sendto", "sendmsg", "setsockopt", "shutdown", "settimeout"):
        noted(socket.socket, name)
    noted(threading.Thread, "start")


def _fix_draws(output: int, left: Left, patch: pytest.MonkeyPatch) -> None:
    """Every channel gives `output`, whatever goes in; how often it was asked is counted."""

    def draw(self: Channel, index: int, coins: Any) -> int:
        left.draws += 1
        return output

    for kind in _kinds(Channel):
        if "draw" in vars(kind):
            patch.setattr(kind, "draw", draw)
    if "deniable.batch.randomize" in sys.modules:
        batch = sys.modules["deniable.batch.randomize"]
        build = batch.sampler_for
        patch.setattr(batch, "sampler_for", lambda channel: _FixedSampler(build(channel), output, left))


class _FixedSampler:
    """A sampler for arrays that gives one output, whatever goes in."""

    def __init__(self, sound: Any, output: int, left: Left) -> None:
        self._sound, self._output, self._left = sound, output, left
        self.chunk = sound.chunk

    def allocate(self, count: int) -> Any:
        return self._sound.allocate(count)

    def draw(self, indices: Any, out: Any, keystream: Any) -> None:
        self._left.draws += len(indices)
        out[...] = self._output


def _kinds(kind: type[Any]) -> Iterator[type[Any]]:
    for below in kind.__subclasses__():
        yield below
        yield from _kinds(below)
