"""Tests draw the same bytes in every run, and never the same twice."""

from __future__ import annotations

import os

import pytest
from tests.repeatable import RepeatableBytes

from deniable.core import Categories, KaryRandomizedResponse


@pytest.fixture(scope="module")
def shared() -> str:
    return os.urandom(4).hex()


def test_a_test_has_bytes_of_its_own(shared: str) -> None:
    """Pinned: they depend on the name of the test, on nothing else."""
    assert (os.urandom(4).hex(), shared) == ("3f96f138", "a37a62d4")


def test_another_test_has_others_and_shares_what_is_shared(shared: str) -> None:
    assert (os.urandom(4).hex(), shared) == ("caa27c65", "a37a62d4")


def test_reports_are_drawn_from_them() -> None:
    question = KaryRandomizedResponse(domain=Categories(1 << 20), epsilon="0.01")
    assert [question.randomize(5).output, *question.randomize_many([5]).ints()] == [982330, 398257]


def test_no_bytes_come_twice_and_a_forked_process_has_its_own() -> None:
    draws = RepeatableBytes()
    draws.begin("a test")
    first, second = draws(32), draws(32)
    draws.begin("a test")
    assert (draws(32), draws(32), len({first, second})) == (first, second, 2)
    draws.begin("a test")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, draws(32))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 32) not in (first, second)
    for end in (reading, writing):
        os.close(end)
    assert draws(32) == first


def test_without_a_name_they_are_the_systems() -> None:
    draws = RepeatableBytes()
    assert draws(32) != draws(32)
    with pytest.raises(ValueError, match="negative"):
        draws(-1)
