"""A private value leaves the device only as a report."""

from __future__ import annotations

import copy
import gc
import pickle
import traceback

import pytest

from deniable.core import OGPM, SYSTEM, Categories, Interval, KaryRandomizedResponse, mechanism_class, names
from deniable.errors import DeniableError, OutOfDomain
from deniable.privacy import CountingCoins, FixedCoins
from deniable.privacy.conformance.values import few_values


@pytest.mark.parametrize("value", [31.4159265, -31.4159265, "31.4159265", [31.4159265], (31.4159265,), {31.4159265: 1}])
def test_a_printed_traceback_does_not_show_the_value(value: object) -> None:
    with pytest.raises(OutOfDomain) as caught:
        OGPM(epsilon=1).randomize(value)
    assert "31.4159265" not in "".join(traceback.format_exception(caught.value))


def test_an_unknown_name_of_a_category_is_not_shown() -> None:
    mechanism = KaryRandomizedResponse(domain=Categories(["cat", "dog"]), epsilon=1)
    with pytest.raises(OutOfDomain) as caught:
        mechanism.randomize("-".join(["rare", "disease"]))
    assert "rare-disease" not in "".join(traceback.format_exception(caught.value))


def test_a_value_whose_own_methods_fail_is_refused_without_a_word_of_it() -> None:
    class Hostile:
        def __repr__(self) -> str:
            raise RuntimeError("31.4159265")

        __str__ = __float__ = __index__ = __len__ = __repr__

    for domain in (Interval(), Categories(5), Categories(["a", "b"])):
        with pytest.raises(OutOfDomain) as caught:
            domain.encode(Hostile())
        assert "31.4159265" not in "".join(traceback.format_exception(caught.value))


class Marked(float):
    """A private value that can be found again in memory."""


def test_nothing_keeps_a_reference_to_the_value() -> None:
    mechanism = OGPM(epsilon=1)
    mechanism.randomize(Marked(0.25))
    gc.collect()
    assert not [found for found in gc.get_objects() if isinstance(found, Marked)]


@pytest.mark.parametrize("name", names())
def test_how_many_coins_are_asked_does_not_depend_on_the_value(name: str) -> None:
    """The sizes of the questions are the same for every input: only rejections, which are coins, change the time."""
    for example in mechanism_class(name).examples():
        asked = set()
        for value in few_values(example.domain):
            coins = CountingCoins(FixedCoins(1))
            example.randomize(value, coins)
            asked.add(tuple(coins.asked))
        assert len(asked) == 1


def test_mechanisms_cannot_be_changed_after_they_were_made() -> None:
    mechanism = OGPM(epsilon=1)
    with pytest.raises(AttributeError):
        mechanism.epsilon = 20  # type: ignore[misc]
    assert copy.deepcopy(mechanism) == mechanism == pickle.loads(pickle.dumps(mechanism))


def test_the_system_coins_take_no_seed() -> None:
    with pytest.raises(TypeError):
        type(SYSTEM)(1)  # type: ignore[call-arg]


def test_every_error_has_one_root() -> None:
    assert issubclass(OutOfDomain, DeniableError)
    assert issubclass(OutOfDomain, ValueError)
