"""Settings of all tests."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from tests.repeatable import RepeatableBytes
from tests.tiers import mark_slow

# The first call of a kernel compiles it, and the machine may be busy: time is not what properties are about.
settings.register_profile("deniable", deadline=None, derandomize=True)
settings.load_profile("deniable")

_NUMBERS = itertools.count()
_BYTES = RepeatableBytes()
os.urandom = _BYTES


def _name_of(node: Any) -> str | None:
    """Heavy tests share databases and servers with other processes, so they draw from the system."""
    return None if node.get_closest_marker("heavy") else str(node.nodeid)


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> None:
    """What several tests share does not depend on which of them comes first."""
    name = _name_of(request.node)
    _BYTES.begin(name and f"{name} {fixturedef.argname} {getattr(request, 'param_index', 0)}")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """The test itself."""
    _BYTES.begin(_name_of(item))


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """What comes between tests."""
    _BYTES.begin(None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Before pytest chooses by marks."""
    mark_slow(items)


@pytest.fixture(scope="session")
def journals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for what `deniable submit` writes down."""
    return tmp_path_factory.mktemp("journals")


@pytest.fixture(autouse=True)
def own_journal(journals: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test submits another has not submitted before, and nothing is written into the user's folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(journals / str(next(_NUMBERS))))
