"""Processes of one parent, and threads of one process, share no randomness, however they were started."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.guards.doors import DOORS, ONE_THREAD, REJECTING
from tests.guards.preloading import check_workers
from tests.guards.siblings import (
    check_every_byte_counts,
    check_grandchildren,
    check_siblings,
    check_the_generator_decides,
    check_threads,
)

from deniable.batch import SystemKeystream, draw_many, encode_many, output_ints
from deniable.core import Mechanism, mechanism_class, names
from deniable.privacy.conformance.values import few_values

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="only POSIX forks")
ROOT = Path(__file__).parents[2]
EVERY = pytest.mark.parametrize("door", DOORS)


@EVERY
def test_siblings_share_nothing(door: str) -> None:
    opened, stretch = DOORS[door]
    check_siblings(opened(), stretch=stretch)


@EVERY
def test_children_with_their_parents_number_share_nothing(door: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a new pid namespace, where parent and child may both be number 1."""
    monkeypatch.setattr(os, "getpid", lambda: 1)
    opened, stretch = DOORS[door]
    draw = opened()
    check_siblings(draw, stretch=stretch)
    check_grandchildren(draw, stretch=stretch)


@EVERY
def test_what_a_child_draws_follows_from_the_systems_generator_alone(door: str) -> None:
    opened, stretch = DOORS[door]
    draw = opened()
    check_the_generator_decides(draw, stretch=stretch)
    if isinstance(draw(), bytes) and door not in REJECTING:  # reports hide what they were drawn from: that is their purpose
        check_every_byte_counts(draw)


@pytest.mark.parametrize("door", sorted(set(DOORS) - ONE_THREAD))
def test_threads_share_nothing(door: str) -> None:
    opened, stretch = DOORS[door]
    check_threads(opened(), stretch=stretch)


def long_enough(outputs: list[int]) -> int:
    """How many reports in a row are equal by chance with probability below 2**-64, judging by their commonest output.

    The commonest of 1000 is hardly ever 0.08 below its true share; among 10**6 pairs of stretches equal ones have then
    probability below 2**-44.
    """
    most = Counter(outputs).most_common(1)[0][1] / len(outputs)
    return math.ceil(64 / -math.log2(min(most + 0.08, 0.99)))


def example(name: str) -> Mechanism:
    """The example with the least epsilon: the one whose reports vary most."""
    return min(mechanism_class(name).examples(), key=lambda mechanism: float(mechanism.privacy))


@pytest.mark.parametrize("name", names())
def test_reports_of_siblings_share_nothing(name: str) -> None:
    mechanism = example(name)
    value = few_values(mechanism.domain)[0]
    stretch = long_enough([mechanism.randomize(value).output for _ in range(1000)])
    check_siblings(lambda: [mechanism.randomize(value).output for _ in range(2 * stretch)], children=1, stretch=stretch)


def repeated(inputs: Any, count: int) -> Any:
    return tuple(repeated(part, count) for part in inputs) if isinstance(inputs, tuple) else np.repeat(inputs, count)


@pytest.mark.parametrize("name", names())
def test_batches_of_siblings_share_nothing(name: str) -> None:
    """With a keystream that was used before the fork, and with new ones."""
    mechanism, stream = example(name), SystemKeystream()
    one = encode_many(mechanism, few_values(mechanism.domain)[:1])

    def drawn(count: int, keystream: SystemKeystream | None) -> list[int]:
        return list(output_ints(mechanism.channel, draw_many(mechanism.channel, repeated(one, count), keystream)))

    stretch = long_enough(drawn(1000, stream))
    for kept in (stream, None):
        check_siblings(lambda kept=kept: drawn(2 * stretch, kept), children=1, stretch=stretch)  # type: ignore[misc]


def run(*command: str) -> dict[str, list[str]]:
    done = subprocess.run([*command], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    drawn: dict[str, list[str]] = json.loads(done.stdout)
    return drawn


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_workers_of_a_preloading_server_share_nothing(method: str) -> None:
    """The server imports everything and draws once from every door; then it starts its workers."""
    check_workers(run(sys.executable, "-m", "tests.guards.preloading", method))


@pytest.mark.slow
def test_two_processes_with_number_one_share_nothing() -> None:
    """A new pid namespace inside a new pid namespace: parent and child are both number 1."""
    command = [str(shutil.which("unshare")), "--pid", "--fork"]
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        command += ["--user", "--map-root-user"]
        if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
            pytest.skip("this machine lets nobody make a pid namespace")
    drawn = run(*command, sys.executable, "-m", "tests.guards.preloading", "namespace")
    assert drawn.pop("numbers") == ["1", "1"]
    check_workers(drawn)
