"""Recipes and surveys from outside that want to keep a device busy, or to break it: refused before anything is computed."""

from __future__ import annotations

import hashlib
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from deniable.core import RandomizedResponse, mechanism_from_recipe
from deniable.errors import DeniableError, Malformed, WrongRecipe
from deniable.surveys import Attribute, Client, Ledger, MockTransport, Session, Survey

INTERVAL = {"kind": "interval", "low": "0", "high": "1", "cells": 16}
SMALL = Survey(title="T", purpose="P", attributes=(Attribute("a", "Q?"),), mechanism=RandomizedResponse(epsilon=1), budget=1)


def recipe(name: str, domain: dict[str, Any], epsilon: object = "1", **parameters: Any) -> dict[str, Any]:
    return {"mechanism": name, "domain": domain, "epsilon": epsilon, "parameters": parameters}


def categories(size: object) -> dict[str, Any]:
    return {"kind": "categories", "size": size}


def nested(levels: int) -> dict[str, Any]:
    """A record in a record in a record."""
    inner = recipe("randomized-response", {"kind": "binary"})
    for _ in range(levels):
        domain = {"kind": "record", "fields": [["a", inner["domain"]]]}
        inner = recipe("product", domain, parts={"a": inner})
    return inner


def wide(name: str, attributes: int) -> dict[str, Any]:
    """A record of many questions."""
    names = [f"a{number}" for number in range(attributes)]
    parts = {name: recipe("randomized-response", {"kind": "binary"}) for name in names}
    return recipe(name, {"kind": "record", "fields": [[name, {"kind": "binary"}] for name in names]}, parts=parts)


def many_fields(attributes: int, inside: int = 1) -> dict[str, Any]:
    """A record of records, without a recipe for each."""
    inner = {"kind": "record", "fields": [[f"b{number}", {"kind": "binary"}] for number in range(inside)]}
    return {"kind": "record", "fields": [[f"a{number}", inner] for number in range(attributes)]}


STRIP = [["0", "0"], ["1", "0"], ["1", "1000000"], ["0", "1000000"]]
"""A polygon a million times as high as wide."""
ZIGZAG = [[str(i), str(i % 2)] for i in range(500)] + [[str(i), "5000000"] for i in range(499, -1, -1)]
HOSTILE: dict[str, dict[str, Any]] = {
    "a million points of noise": recipe("truncated-laplace", INTERVAL, points=1 << 20),
    "a hundred thousand stairs": recipe("staircase", INTERVAL, points=100_000),
    "scores beyond doubles": recipe("exponential", categories(2), scores=[["0", "9" * 390], ["0", "1"]], calibrate="exact"),
    "scores too close": recipe("exponential", categories(2), scores=[["0", "1e-999"], ["0", "0"]], calibrate="exact"),
    "scores of a kind": recipe("exponential", categories(2), scores=5),
    "a table of a billion": recipe("exponential", categories(1 << 15)),
    "a million bits": recipe("oue", categories(1 << 20)),
    "more categories than people": recipe("k-rr", categories(10**12)),
    "categories without end": recipe("olh", categories(10**400)),
    "a subset of a million": recipe("subset", categories(10**6)),
    "a subset of what is not there": recipe("subset", categories(100), chosen=10**6),
    "a disc of a million cells across": recipe(
        "nearest-cells", {"kind": "disc", "center": ["0", "0"], "radius": "1", "cells": 1 << 20}
    ),
    "a disc of 67 million cells": recipe("nearest-cells", {"kind": "disc", "center": ["0", "0"], "radius": "1", "cells": 8192}),
    "a polygon of 67 million rows": recipe("nearest-cells", {"kind": "polygon", "corners": STRIP, "cells": 1 << 26}),
    "a polygon of many corners and rows": recipe("nearest-cells", {"kind": "polygon", "corners": ZIGZAG, "cells": 1 << 20}),
    "many places": recipe("nearest-places", {"kind": "points", "places": [[i, i * i] for i in range(70_000)]}),
    "a path of a billion steps": recipe(
        "trajectory", {"kind": "trajectory", "space": {"kind": "rectangle", "x": INTERVAL, "y": INTERVAL}, "length": 10**9}
    ),
    "an epsilon of four hundred digits": recipe("k-rr", categories(3), "1" + "0" * 399),
    "an epsilon of a thousand digits": recipe("k-rr", categories(3), "9" * 500 + "/" + "7" * 500),
    "an epsilon in no time": recipe("k-rr", categories(3), "1e999999999"),
    "a large number": recipe("k-rr", categories(3), 10**4000),
    "a tiny one": recipe("k-rr", categories(3), "1/" + "9" * 390),
    "not a number": recipe("k-rr", categories(3), None),
    "ten thousand questions, one of them asked": wide("sample-one", 10_000),
    "ten thousand questions": wide("product", 10_000),
    "ten thousand questions and fake data": recipe("rs-fd", many_fields(10_000)),
    "a record of records": recipe("rs-fd", many_fields(1000, 100)),
    "recipes in recipes": nested(9),
    "many recipes in recipes": nested(200),
    "an interval beyond doubles": recipe("window", INTERVAL | {"high": "1e999"}),
    "an interval of nothing": recipe("window", INTERVAL | {"high": "1e-999"}),
    "a grid of a quadrillion": recipe("window", INTERVAL | {"cells": 10**15}),
}


@pytest.fixture(autouse=True)
def deadline() -> Iterator[None]:
    """Processor time, not time: a document that keeps a device busy for half a minute ends here."""

    def late(number: int, frame: FrameType | None) -> None:
        raise AssertionError("the document kept the device busy")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, 30)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_recipes_are_refused(name: str) -> None:
    with pytest.raises(DeniableError):
        Client(json.dumps(HOSTILE[name]))
    with pytest.raises(DeniableError):
        Client(HOSTILE[name])


def opened(data: bytes, folder: Path) -> Session:
    """Under its own hash: whoever wrote the document told us that, too."""
    own = hashlib.sha256(data).hexdigest()
    return Session.open("http://localhost:1", own, Ledger(folder / "ledger.db"), transport=MockTransport(data))


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_surveys_are_refused(name: str, tmp_path: Path) -> None:
    document = SMALL.document() | {"mechanism": HOSTILE[name]}
    data = json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
    with pytest.raises(DeniableError):
        opened(data, tmp_path)


TEXTS = ["[" * 100_000, '{"a":' * 50_000, "[" * 5000 + "]" * 5000, "9" * 100_000, '"' + "x" * (1 << 24) + '"']


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_hostile_texts_are_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(DeniableError):
        Client(text)
    with pytest.raises(Malformed):
        opened(text.encode(), tmp_path)


def test_another_document_than_the_promised_one_is_not_even_read(tmp_path: Path) -> None:
    with pytest.raises(WrongRecipe, match="another survey"):
        Session.open("http://localhost:1", "0" * 64, Ledger(tmp_path / "ledger.db"), transport=MockTransport(b"[" * 100))


def test_a_recipe_of_as_many_questions_as_allowed_is_read() -> None:
    assert mechanism_from_recipe(wide("sample-one", 1023)).privacy == 1


def test_a_recipe_as_deep_as_allowed_is_read() -> None:
    assert mechanism_from_recipe(nested(7)).privacy == 1
