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
    assert (os.urandom(4).hex(), shared) == ("e0fbf3ba", "b77fdd5b")


def test_another_test_has_others_and_shares_what_is_shared(shared: str) -> None:
    assert (os.urandom(4).hex(), shared) == ("82fde273", "b77fdd5b")


def test_reports_are_drawn_from_them() -> None:
    question = KaryRandomizedResponse(domain=Categories(1 << 20), epsilon="0.01")
    assert [question.randomize(5).output, *question.randomize_many([5]).ints()] == [394407, 994502]


def test_no_bytes_come_twice_and_a_forked_process_has_its_own() -> None:
    draws = RepeatableBytes()
    draws.begin("a test")
    first, second = draws(32), draws(32)
    assert first != second
    draws.begin("a test")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, draws(32))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 32) != first
    for end in (reading, writing):
        os.close(end)
    assert (draws(32), draws(32)) == (first, second)


def test_another_module_that_draws_changes_nothing() -> None:
    draws = RepeatableBytes()
    draws.begin("a test")
    first = draws(32)
    draws.begin("a test")
    elsewhere: dict[str, object] = {"__name__": "elsewhere", "draws": draws}
    exec("drawn = draws(32)", elsewhere)
    assert elsewhere["drawn"] != first
    assert draws(32) == first


def test_without_a_name_they_are_the_systems() -> None:
    draws = RepeatableBytes()
    assert draws(32) != draws(32)
    with pytest.raises(ValueError, match="negative"):
        draws(-1)
