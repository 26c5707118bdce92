"""The client checks the recipe itself and needs nothing but the standard library."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

import pytest

from deniable.core import RandomizedResponse, Singleton, TwoLevel, Window, decode_report, report_from_json
from deniable.errors import InvalidEpsilon, InvalidParameter, Malformed, OutOfDomain, UnknownMechanism, WrongRecipe
from deniable.surveys import Client

WINDOW = Window(epsilon=2)
RECIPE = json.dumps(WINDOW.recipe())


def test_reports_can_be_read_by_the_collector() -> None:
    client = Client(RECIPE, max_epsilon=4, fingerprint=WINDOW.fingerprint)
    assert 0 <= WINDOW.decode(decode_report(WINDOW, client.randomize(0.25)).output) <= 1
    assert report_from_json(WINDOW, client.randomize_json(0.25)).recipe == WINDOW.fingerprint
    assert Client(WINDOW.recipe()).mechanism == WINDOW


def test_the_user_sets_the_limit() -> None:
    with pytest.raises(InvalidEpsilon, match="max_epsilon=1"):
        Client(RECIPE, max_epsilon=1)
    with pytest.raises(WrongRecipe):
        Client(RECIPE, fingerprint="0" * 32)


def test_a_recipe_that_breaks_its_promise_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass(frozen=True, kw_only=True, repr=False)
    class Careless(RandomizedResponse):
        def build(self) -> TwoLevel:
            honest = TwoLevel.at(Singleton(2), self.privacy)
            return TwoLevel(honest.sets, honest.low, honest.high + 1)

    monkeypatch.setattr("deniable.surveys.client.mechanism_from_recipe", lambda recipe, allow_large: Careless(epsilon=1))
    with pytest.raises(InvalidParameter, match="does not keep its promise"):
        Client(RandomizedResponse(epsilon=1).recipe())


@pytest.mark.parametrize("recipe", ["", "[]", "{}", '{"mechanism":"window","mechanism":"ogpm"}', RECIPE[:-1]])
def test_bad_recipes_are_refused(recipe: str) -> None:
    with pytest.raises((InvalidParameter, Malformed, UnknownMechanism)):
        Client(recipe)


def test_the_value_is_not_in_the_error() -> None:
    with pytest.raises(OutOfDomain) as caught:
        Client(RECIPE).randomize(1.2345)
    assert "1.2345" not in str(caught.value)


def test_a_cold_process_reports_without_numpy() -> None:
    code = (
        "import sys; from deniable.surveys import Client;"
        f"data = Client({RECIPE!r}, max_epsilon=2).randomize(0.5);"
        "sys.exit(any(name in sys.modules for name in ('numpy', 'numba', 'click', 'rich')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
