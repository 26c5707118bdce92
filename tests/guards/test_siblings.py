"""Processes of one parent, and threads of one process, share no randomness, however they were started."""

from __future__ import annotations

import os

import pytest
from tests.guards.doors import DOORS, ELSEWHERE, ONE_THREAD
from tests.guards.siblings import (
    check_every_byte_counts,
    check_grandchildren,
    check_siblings,
    check_the_generator_decides,
    check_threads,
)

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="only POSIX forks")
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


@pytest.mark.parametrize("door", sorted(set(DOORS) - ELSEWHERE))
def test_what_a_child_draws_follows_from_the_systems_generator_alone(door: str) -> None:
    opened, stretch = DOORS[door]
    draw = opened()
    check_the_generator_decides(draw, stretch=stretch)
    if isinstance(draw(), bytes):  # reports hide what they were drawn from: that is their purpose
        check_every_byte_counts(draw)


@pytest.mark.parametrize("door", sorted(set(DOORS) - ONE_THREAD))
def test_threads_share_nothing(door: str) -> None:
    opened, stretch = DOORS[door]
    check_threads(opened(), stretch=stretch)
