"""A collector that runs for months takes no more memory than one that just started: what is over goes at once."""

from __future__ import annotations

import gc
import ssl
import time
import urllib.request
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from deniable.collector.protocol import BoundedProtocol
from deniable.surveys import Survey

from .certificates import self_signed
from .limited import Limited, answer, connected, head, limited
from .running import call
from .test_hot_path import submission

PATIENCE = 30.0
Remembered = list[weakref.ref[BoundedProtocol]]


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> Iterator[Remembered]:
    """Every connection that is made from now on, while nobody looks for garbage: a server in use rarely does."""
    made: Remembered = []
    before = BoundedProtocol.__init__

    def noted(self: BoundedProtocol, *given: Any, **named: Any) -> None:
        before(self, *given, **named)
        made.append(weakref.ref(self))

    monkeypatch.setattr(BoundedProtocol, "__init__", noted)
    gc.collect()
    gc.disable()
    try:
        yield made
    finally:
        gc.enable()


def all_gone(made: Remembered, count: int) -> bool:
    ends = time.monotonic() + PATIENCE
    while len(made) < count or any(each() is not None for each in made):
        if time.monotonic() > ends:
            return False
        time.sleep(0.01)
    return True


@pytest.mark.slow
def test_a_closed_connection_leaves_nothing_in_memory(tmp_path: Path, connections: Remembered) -> None:
    with limited(tmp_path) as running:
        survey = Survey.from_json(call(running.survey)[1])
        for path in ("/estimates", ""):
            assert call(running.survey + path)[0] == 200
        assert call(f"{running.address}/metrics")[0] == 200
        assert call(f"{running.survey}/submissions", submission(survey))[0] == 200
        assert call(f"{running.survey}/submissions", b"{}")[0] == 400
        several_on_one(running, survey)
        in_the_middle(running, survey)
        assert all_gone(connections, 9)


def several_on_one(running: Limited, survey: Survey) -> None:
    with connected(running) as line:
        for _ in range(3):
            body = submission(survey)
            line.sendall(head(running, len(body)) + body)
            assert answer(line).startswith(b"HTTP/1.1 200")


def in_the_middle(running: Limited, survey: Survey) -> None:
    """A client that says half of something, or does not wait for the answer."""
    body = submission(survey)
    with connected(running) as line:
        line.sendall(head(running, len(body)) + body[:10])
    with connected(running) as line:
        line.sendall(head(running, len(body)) + body)


@pytest.mark.slow
def test_a_closed_encrypted_connection_leaves_nothing_in_memory(tmp_path: Path, connections: Remembered) -> None:
    certificate, key = self_signed(tmp_path)
    context = ssl.create_default_context(cafile=certificate)
    with limited(tmp_path, tls=(certificate, key)) as running:
        for _ in range(3):
            with urllib.request.urlopen(f"{running.address}/livez", context=context, timeout=30) as said:
                assert said.status == 200
        assert all_gone(connections, 3)
