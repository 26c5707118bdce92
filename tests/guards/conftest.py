"""A server that keeps every byte, and a folder that stands for a device."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.guards.wire_tap import WireTap


@pytest.fixture(scope="module")
def tap() -> Iterator[WireTap]:
    server = WireTap()
    yield server
    server.close()


@pytest.fixture
def folder() -> Iterator[Path]:
    """In memory where there is such a place: the ledger flushes often."""
    path = Path(tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
    yield path / "device"
    shutil.rmtree(path)
