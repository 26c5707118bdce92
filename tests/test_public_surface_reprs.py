"""What is printed rebuilds what it was printed from, with the names the package says."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

import deniable
from deniable.core import Categories, Domain, Points, mechanism_class

CUT = "…"


def known() -> dict[str, Any]:
    """Every public name of the package, the domains and the mechanisms, what certificates hold, and exact fractions."""
    found: dict[str, Any] = {"Fraction": Fraction, "Privacy": deniable.core.Privacy, "ValuePair": deniable.core.ValuePair}
    found |= {name: getattr(deniable, name) for name in deniable.__all__}
    found |= {
        name: value
        for name in deniable.core.__all__
        if isinstance(value := getattr(deniable.core, name), type) and issubclass(value, Domain)
    }
    found |= {mechanism_class(name).__name__: mechanism_class(name) for name in deniable.names()}
    return found


def printed_things(name: str) -> Iterator[Any]:
    """The examples of one mechanism, and what they are made of and make."""
    for mechanism in mechanism_class(name).examples():
        yield mechanism
        yield mechanism.domain
        yield mechanism.privacy
        yield mechanism.certificate()


def rebuilds(thing: Any, names: dict[str, Any]) -> bool:
    """Its text makes an equal thing; a text that was cut is not Python at all."""
    text = repr(thing)
    if CUT not in text:
        return bool(eval(text, dict(names)) == thing)
    with pytest.raises(SyntaxError):
        compile(text, "repr", "eval")
    return True


@pytest.mark.parametrize("name", deniable.names())
def test_a_repr_makes_an_equal_object_or_says_that_it_is_cut(name: str) -> None:
    names = known()
    for thing in printed_things(name):
        assert rebuilds(thing, names), repr(thing)


def test_most_examples_are_not_cut() -> None:
    whole = [CUT not in repr(thing) for name in deniable.names() for thing in printed_things(name)]
    assert sum(whole) > 0.95 * len(whole)


def test_a_report_is_rebuilt() -> None:
    mechanism = deniable.KaryRandomizedResponse(domain=deniable.Categories(["yes", "no"]), epsilon="1/3")
    assert rebuilds(mechanism.randomize("no"), known())


def test_a_text_that_is_python_but_makes_something_else_is_found() -> None:
    class Elsewhere:
        def __repr__(self) -> str:
            return "Categories(3)"

    assert not rebuilds(Elsewhere(), known())


def test_short_lists_are_never_cut() -> None:
    for domain in (Categories(["a", "b", "c"]), Points([(0, 0), (1, 0), (2, 1)])):
        assert CUT not in repr(domain)
