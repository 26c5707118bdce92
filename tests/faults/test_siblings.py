"""Randomness that two processes or threads share, or that is not the system's, is caught."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.guards.doors import DOORS
from tests.guards.preloading import FAULT, check_workers
from tests.guards.siblings import (
    check_every_byte_counts,
    check_grandchildren,
    check_siblings,
    check_the_generator_decides,
    check_threads,
)

from deniable.batch import CipherKeystream, KeystreamCoins, SystemKeystream, keystream
from deniable.core import SystemCoins, below_from_bytes
from deniable.core.randomness import coins

Check = Callable[..., None]
NOTICED = r"drew the same|beside the system's generator|too little|does not count"


def assert_caught(check: Check, door: str) -> None:
    opened, stretch = DOORS[door]
    draw = opened()
    with pytest.raises(AssertionError, match=NOTICED):
        check(draw) if check is check_every_byte_counts else check(draw, stretch=stretch)


def rekeyed(key: Callable[[], bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """After a fork a stream gets its key from `key`."""

    def fill(self: SystemKeystream, buffer: object) -> None:
        if os.getpid() != self._process[1]:
            self._rekey(key())
            self._process = keystream.process()
        CipherKeystream.fill(self, buffer)  # type: ignore[arg-type]

    monkeypatch.setattr(SystemKeystream, "fill", fill)


def the_second() -> bytes:
    return hashlib.sha256(str(int(time.time())).encode()).digest()


@pytest.fixture(autouse=True)
def one_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything happens in one second, as it mostly does."""
    monkeypatch.setattr(time, "time", lambda: 1.8e9)


def test_a_batch_keyed_from_the_clock_after_a_fork_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    rekeyed(the_second, monkeypatch)
    assert_caught(check_siblings, "kept keystream")
    assert_caught(check_the_generator_decides, "kept keystream")


def the_moment_and_the_process() -> bytes:
    return hashlib.sha256(f"{time.time_ns()} {os.getpid()} {id(object())}".encode()).digest()


def test_a_key_that_is_only_different_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Siblings draw differently, but whoever knows the moment and the process's number knows the key."""
    rekeyed(the_moment_and_the_process, monkeypatch)
    assert_caught(check_the_generator_decides, "kept keystream")


def test_a_key_of_too_few_bytes_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    rekeyed(lambda: hashlib.sha256(os.urandom(3)).digest(), monkeypatch)
    assert_caught(check_the_generator_decides, "kept keystream")


def test_a_key_most_of_which_is_thrown_away_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    rekeyed(lambda: hashlib.sha256(os.urandom(32)[:3]).digest(), monkeypatch)
    assert_caught(check_every_byte_counts, "kept keystream")


def test_a_stream_that_goes_by_the_processs_number_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keystream, "process", lambda: (0, os.getpid()))
    monkeypatch.setattr(os, "getpid", lambda: 1)
    assert_caught(check_siblings, "kept keystream")
    assert_caught(check_grandchildren, "kept keystream coins")


def test_a_seed_from_import_time_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    seed, counter = os.urandom(32), itertools.count()

    def source(count: int) -> bytes:
        return hashlib.shake_256(seed + next(counter).to_bytes(8, "big")).digest(count)

    monkeypatch.setattr(SystemCoins, "below", lambda self, n: below_from_bytes(n, source))
    for door in ("system coins", "small coins", "reports"):
        assert_caught(check_siblings, door)
        assert_caught(check_the_generator_decides, door)


class ReadsAhead:
    """Asks the system for 4 KB at a time, as if nobody ever forked."""

    def __init__(self) -> None:
        self.ready = b""

    def __call__(self, count: int) -> bytes:
        if len(self.ready) < count:
            self.ready = os.urandom(4096)
        taken, self.ready = self.ready[:count], self.ready[count:]
        return taken


def test_coins_that_read_ahead_across_a_fork_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    ahead = ReadsAhead()
    monkeypatch.setattr(SystemCoins, "below", lambda self, n: below_from_bytes(n, ahead))
    assert_caught(check_siblings, "small coins")


def test_pooled_coins_that_forget_the_fork_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    take = KeystreamCoins._take

    def kept(self: KeystreamCoins, count: int) -> bytes:
        self._process = keystream.process()
        return take(self, count)

    monkeypatch.setattr(KeystreamCoins, "_take", kept)
    assert_caught(check_siblings, "kept keystream coins")


def test_threads_that_share_a_seed_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SystemKeystream, "spawn", lambda self: keystream_of_the_second())
    assert_caught(check_threads, "spawned keystream")


def keystream_of_the_second() -> CipherKeystream:
    return CipherKeystream(the_second())


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "forkserver"])
def test_a_seed_from_import_time_under_a_preloading_server_is_caught(method: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.guards.preloading", method],
        cwd=Path(__file__).parents[2],
        env={**os.environ, FAULT: "tests.faults.import_time_seed"},
        capture_output=True,
        check=True,
        timeout=300,
    )
    drawn = json.loads(done.stdout)
    with pytest.raises(AssertionError, match=NOTICED):
        check_workers(drawn)
    assert coins.SystemCoins.below.__module__ == "deniable.core.randomness.coins"  # planted there, not here
