"""Settings of all tests."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import settings
from tests.tiers import mark_slow

# The first call of a kernel compiles it, and the machine may be busy: time is not what properties are about.
settings.register_profile("deniable", deadline=None, derandomize=True)
settings.load_profile("deniable")

_NUMBERS = itertools.count()


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
