"""A process that is killed between any two steps of the client, or between any two steps of its database."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any

from tests.guards.device import PERMANENT, WEEKLY
from tests.guards.siblings import in_children

from deniable import surveys as client
from deniable.core import SYSTEM
from deniable.errors import AlreadyAnswered
from deniable.surveys import Ledger, Memo, Repeated, Session, Survey
from deniable.surveys.database import PrivateDatabase

HOME = str(Path(client.__file__).parent)
ONCE = replace(PERMANENT, repeat="once", window="survey")
Arm = Callable[[int], None]


def at_a_line(number: int) -> None:
    """From now on this process dies before the line with this number that it runs in the client's files."""
    left = [number]

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(HOME):
            return None
        if event == "line":
            left[0] -= 1
            if left[0] <= 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)


def at_a_step_of_the_database(number: int) -> None:
    """From now on this process dies at the step with this number of its database's machine."""
    left = [number]
    honest = PrivateDatabase.connect

    def step() -> int:
        left[0] -= 1
        if left[0] <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return 0

    def connect(self: PrivateDatabase) -> sqlite3.Connection:
        connection = honest(self)
        connection.set_progress_handler(step, 1)
        return connection

    PrivateDatabase.connect = connect  # type: ignore[method-assign]


def every_crash(arm: Arm, job: Callable[[Path], None], folder: Path, stride: int = 1) -> Iterator[Path]:
    """Run the job in a child that dies at step 1, 1 + stride, …, each time in a folder of its own, which is then yielded.

    The last one is that of the child that did not die.
    """
    number, killed = 1, True
    while killed:
        path = folder / str(number)
        path.mkdir()
        killed = _killed(arm, number, lambda path=path: job(path))  # type: ignore[misc]
        yield path
        number += stride


def _killed(arm: Arm, number: int, job: Callable[[], None]) -> bool:
    child = os.fork()
    if child == 0:
        status = 1
        try:
            arm(number)
            job()
            status = 0
        finally:
            sys.settrace(None)
            os._exit(status)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return True
    assert os.WEXITSTATUS(status) == 0, "the child failed"
    return False


class Posts:
    """A transport that writes every body to a file, as a network would take it: what is there has left the device."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def get(self, url: str) -> tuple[int, bytes]:
        raise NotImplementedError

    def post(self, url: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        append(self.path, body)
        return 200, b"{}"


def append(path: Path, line: bytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(file, line + b"\n")
    os.close(file)


def check_one_draw(arm: Arm, folder: Path, stride: int = 1) -> int:
    """However a device dies, what it sent before and after is one report under one key, and it cost once."""

    def first(path: Path) -> None:
        _device(path, ONCE).answer({"it": 7})

    def after(path: Path) -> tuple[Fraction, int]:
        device = _device(path, ONCE)
        with suppress(AlreadyAnswered):
            device.answer({"it": 8})  # another answer changes nothing, once there was a draw
        device.deliver()
        return device.ledger.spent(), len(device.ledger.pending())

    deaths = 0
    for path in every_crash(arm, first, folder, stride):
        outcome = in_children([lambda path=path: after(path)])[0]  # type: ignore[misc]
        bodies = (path / "sent").read_bytes().splitlines()
        assert len(set(bodies)) == 1, f"two different reports were sent after a death at step {path.name}"
        assert outcome == (1, 0), f"spent and waiting after a death at step {path.name}: {outcome}"
        deaths += 1
    return deaths - 1


def check_one_permanent_draw(arm: Arm, folder: Path, stride: int = 1) -> int:
    """However a device dies, the same answer on the next day is the same report and costs nothing more."""

    def day(path: Path, number: int) -> Fraction:
        device = _device(path, PERMANENT)
        device.answer({"it": 7}, today=date(2026, 3, number))
        append(path / "bits", str(Repeated(WEEKLY, Memo(path / "memo.db"))._kept(7, SYSTEM)).encode())
        device.deliver()
        return device.ledger.spent()

    deaths = 0
    for path in every_crash(arm, lambda path: ignore(day(path, 1)), folder, stride):
        spent = in_children([lambda path=path: day(path, 2)])[0]  # type: ignore[misc]
        bodies = [json.loads(line) for line in (path / "sent").read_bytes().splitlines()]
        reports = {item["report"] for body in bodies for item in body.get("submissions", [body])}
        bits = set((path / "bits").read_bytes().splitlines())
        assert (len(reports), len(bits), spent) == (1, 1, 1), f"drawn afresh after a death at step {path.name}"
        deaths += 1
    return deaths - 1


def ignore(result: object) -> None:
    del result


def _device(path: Path, survey: Survey) -> Session:
    return Session(survey, Ledger(path / "ledger.db"), "http://localhost:1", transport=Posts(path / "sent"))
