"""Tests that are collected once and then run against many faults, each in a fork of its own."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import hypothesis
import pytest
from tests.mutation.limits import in_a_fork
from tests.mutation.mutants import Mutant
from tests.mutation.plant import PlantedImport, plant_in_place

OPTIONS = ["-q", "--no-header", "--tb=no", "-m", "not heavy", "-p", "no:cacheprovider", "-p", "no:xdist"]
"""Slow tests too: many properties are tried on hundreds of examples."""
Telling = Callable[["Fault", str], None]


class Fault(NamedTuple):
    """A fault and the module it is planted in."""

    module: str
    path: Path
    mutant: Mutant

    @property
    def label(self) -> str:
        """File and fault: the same as long as the code there is."""
        return f"{self.path.parent.name}/{self.path.name} {self.mutant.name}"


class Seen(NamedTuple):
    """What one test runs of a room (module and scope of every function), and how long it takes."""

    functions: set[tuple[str, str]]
    seconds: float


class Repeatable:
    """A pytest plugin: properties are tried on the same examples every time, and nothing is remembered or shrunk."""

    def pytest_sessionstart(self) -> None:
        """After the settings of all tests, before the tests are read."""
        phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
        hypothesis.settings.register_profile("mutation", deadline=None, derandomize=True, database=None, phases=phases)
        hypothesis.settings.load_profile("mutation")


class Session(Repeatable):
    """A pytest plugin that runs the collected tests once to see what they touch, then against every fault."""

    def __init__(self, folder: Path, faults: Sequence[Fault], tell: Telling) -> None:
        self._prefix = str(folder) + "/"
        self._faults = faults
        self._tell = tell
        self.seen: dict[str, Seen] = {}
        self.outcomes: dict[str, str] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Instead of running the tests once."""
        if session.testsfailed:
            return True
        items = {item.nodeid: item for item in session.items}
        how, answer = in_a_fork(lambda: self._watch(session), seconds=1200)
        if how != "done" or answer is None:
            raise pytest.UsageError("all tests must pass before faults are planted")
        self.seen = {test: Seen({(file, scope) for file, scope in found}, seconds) for test, (found, seconds) in answer.items()}
        for fault in self._faults:
            tests = touching(self.seen, fault)
            outcome = self._try(session, fault, [items[test] for test in tests])
            self.outcomes[fault.label] = outcome
            self._tell(fault, outcome)
        return True

    def _watch(self, session: pytest.Session) -> dict[str, Any] | None:
        """Every test with the functions it calls; None when one fails."""
        found: dict[str, Any] = {}
        called: set[tuple[str, str]] = set()
        prefix, length = self._prefix, len(self._prefix)

        def enter(frame: FrameType, event: str, argument: object) -> None:
            code = frame.f_code
            if code.co_filename.startswith(prefix):
                called.add((code.co_filename[length:], code.co_qualname))

        for item in session.items:
            called.clear()
            begin = time.process_time()
            sys.settrace(enter)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            sys.settrace(None)
            if session.testsfailed:
                return None
            found[item.nodeid] = (sorted(called), time.process_time() - begin)
        return found

    def _try(self, session: pytest.Session, fault: Fault, items: Sequence[pytest.Item]) -> str:
        """killed, survived, untouched (no test runs the function), or import: only an import can plant it."""

        def work() -> str:
            if not plant_in_place(sys.modules[fault.module], fault.mutant):
                return "import"
            return run_until_failure(session, items, self.seen)

        if fault.module not in sys.modules:
            return "untouched"
        how, answer = in_a_fork(work, seconds=600)
        return {"time": "killed (time)", "crash": "killed (crash)"}.get(how) or str(answer)


def run_until_failure(session: pytest.Session, items: Sequence[pytest.Item], seen: dict[str, Seen]) -> str:
    """Run tests one by one; "killed" at the first that fails. One that takes far longer than it should ends the process."""
    for item in items:
        signal.setitimer(signal.ITIMER_VIRTUAL, 2 + 4 * seen[item.nodeid].seconds)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        if session.testsfailed:
            return "killed"
    return "survived" if items else "untouched"


def touching(seen: dict[str, Seen], fault: Fault) -> list[str]:
    """The tests that call the faulty function, the fastest first."""
    scope = fault.mutant.scope
    touching = {
        test: known.seconds
        for test, known in seen.items()
        if any(file == fault.path.name and (name == scope or scope.startswith(f"{name}.")) for file, name in known.functions)
    }
    return sorted(touching, key=touching.__getitem__)


def run_in_place(folder: Path, places: Sequence[str], faults: Sequence[Fault], tell: Telling) -> dict[str, str]:
    """Every fault's outcome, planted in functions that are already loaded. The caller's modules stay as they are."""

    def work() -> dict[str, str]:
        plugin = Session(folder, faults, tell)
        code = pytest.main([*OPTIONS, *places], plugins=[plugin])
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            raise RuntimeError(f"the tests cannot be run: exit code {code}")
        return plugin.outcomes

    how, outcomes = in_a_fork(work, seconds=10_000)
    if how != "done":
        raise RuntimeError("the tests must pass before faults are planted")
    found: dict[str, str] = outcomes
    return found


def run_at_import(places: Sequence[str], fault: Fault) -> str:
    """One fault's outcome, planted while its module is imported: slower, and true of what runs at import too."""

    def work() -> str:
        sys.meta_path.insert(0, PlantedImport(fault.module, fault.path, fault.mutant.tree()))
        return "survived" if pytest.main([*OPTIONS, "-x", *places], plugins=[Repeatable()]) == 0 else "killed"

    how, answer = in_a_fork(work, seconds=120)
    return {"time": "killed (time)", "crash": "killed (crash)"}.get(how) or str(answer)


def preload() -> None:
    """Import all packages once, then forget our own: every fork begins with them already there."""
    import deniable.privacy.conformance  # noqa: F401

    for name in [name for name in sys.modules if name == "deniable" or name.startswith("deniable.")]:
        del sys.modules[name]
