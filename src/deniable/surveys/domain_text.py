"""Domains and values as one writes them on a command line or in a survey file."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from deniable.core import (
    Ball,
    Binary,
    Bins,
    Categories,
    Circle,
    Disc,
    Domain,
    Interval,
    ItemSet,
    KeyValue,
    Points,
    Record,
    Rectangle,
    Text,
    Whole,
    domain_from_recipe,
    parse_json,
)
from deniable.errors import InvalidDomain, OutOfDomain

FORMS = (
    "binary, categories:5, categories:a,b,c, bins:0,10,30,60, bins:0,60/12, interval:0,1[,cells], circle[:period[,cells]], "
    "rectangle:x0,x1,y0,y1[,cells], disc:x,y,radius[,cells], points:0,0;3,4, text:bytes, whole:bits, "
    "ball:dimension[,radius[,norm]], item-set:at_most,a,b,c, key-value:at_most,a,b,c;low,high[,cells], or JSON"
)
KEY_CELLS = 1 << 12
_YES, _NO = ("1", "true", "yes"), ("0", "false", "no")


def parse_domain(text: str) -> Domain:
    """A domain from its short form, its recipe in JSON, or a JSON object of fields.

    >>> parse_domain("interval:18,90"), parse_domain("categories:red,green")
    (Interval(18, 90), Categories(['red', 'green']))
    >>> parse_domain('{"smokes": "binary", "age": "interval:0,100,1000"}')
    Record({'smokes': Binary(), 'age': Interval(0, 100, cells=1000)})
    """
    if text.lstrip().startswith("{"):
        return _from_document(parse_json(text))
    kind, _, rest = text.strip().partition(":")
    parts = [part.strip() for part in rest.split(",")] if rest else []
    builders: dict[str, tuple[int, int | None, Callable[[], Domain]]] = {
        "binary": (0, 0, Binary),
        "categories": (1, None, lambda: Categories(int(parts[0]) if len(parts) == 1 and parts[0].isdecimal() else parts)),
        "bins": (2, None, lambda: _bins(rest)),
        "interval": (2, 3, lambda: Interval(*parts[:2], **_cells(parts[2:]))),
        "circle": (0, 2, lambda: Circle(*parts[:1], **_cells(parts[1:]))),
        "rectangle": (4, 5, lambda: _rectangle(parts)),
        "disc": (3, 4, lambda: Disc(parts[:2], parts[2], **_cells(parts[3:]))),
        "text": (1, 1, lambda: Text(_whole("bytes of text", parts[0]))),
        "whole": (1, 1, lambda: Whole(_whole("bits", parts[0]))),
        "ball": (1, 3, lambda: Ball(_whole("dimension", parts[0]), *parts[1:])),
        "item-set": (2, None, lambda: _item_set(parts)),
        "key-value": (2, None, lambda: _key_value(rest)),
        "points": (1, None, lambda: Points([place.split(",") for place in rest.split(";")])),
    }
    if kind not in builders:
        near = difflib.get_close_matches(kind, builders, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise InvalidDomain(f"{text[:60]!r} is not a domain; {hint}write one of {FORMS}")
    least, most, build = builders[kind]
    if len(parts) < least or (most is not None and len(parts) > most):
        raise InvalidDomain(f"the domain {text[:60]!r} has too few or too many numbers; write one of {FORMS}")
    return build()


def _bins(text: str) -> Bins:
    """Every edge, or both ends and how many bins of one width."""
    ends, equal, count = text.partition("/")
    edges = [edge.strip() for edge in ends.split(",")]
    if not equal:
        return Bins(edges)
    if len(edges) != 2:
        raise InvalidDomain("equal bins have two ends and a number, such as bins:0,60/12")
    return Bins.equal(edges[0], edges[1], _whole("the number of bins", count.strip()))


def _item_set(parts: list[str]) -> ItemSet:
    """How many a person has at most, then how many items there are or their names."""
    items: int | list[str] = int(parts[1]) if len(parts) == 2 and parts[1].isdecimal() else parts[1:]
    return ItemSet(items, at_most=_whole("at_most", parts[0]))


def _key_value(text: str) -> KeyValue:
    keys, _, ends = text.partition(";")
    numbers = [part.strip() for part in ends.split(",")] if ends else []
    if len(numbers) not in (2, 3):
        raise InvalidDomain(f"the domain key-value needs an interval behind its keys; write one of {FORMS}")
    values = Interval(*numbers[:2], **(_cells(numbers[2:]) or {"cells": KEY_CELLS}))
    return KeyValue(_item_set([part.strip() for part in keys.split(",")]), values)


def _cells(parts: list[str]) -> dict[str, int]:
    if not parts:
        return {}
    return {"cells": _whole("cells", parts[0])}


def _whole(name: str, text: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise InvalidDomain(f"{name} must be a whole number, got {text[:40]!r}")
    return int(text)


def _rectangle(parts: list[str]) -> Rectangle:
    cells = _cells(parts[4:]) or {"cells": 64}
    return Rectangle(Interval(parts[0], parts[1], **cells), Interval(parts[2], parts[3], **cells))


def _from_document(document: dict[str, Any]) -> Domain:
    if "kind" in document:
        return domain_from_recipe(document)
    return Record({name: parse_domain(item) if isinstance(item, str) else _from_document(item) for name, item in document.items()})


def parse_value(domain: Domain, text: str) -> Any:
    """A private value from its text. What cannot be read is refused without being shown."""
    stripped = text.strip()
    if isinstance(domain, Bins) and stripped not in (domain.labels or ()):
        with suppress(ValueError):
            return float(stripped)
    if isinstance(domain, Text) or (isinstance(domain, Categories) and domain.labels is not None):
        return stripped
    if isinstance(domain, Binary):
        lowered = stripped.lower()
        if lowered in _YES or lowered in _NO:
            return int(lowered in _YES)
        raise domain.refuse("the value must be 0, 1, true, false, yes or no to belong to")
    if isinstance(domain, ItemSet) and not stripped.startswith("["):
        named = [part.strip() for part in stripped.split(";") if part.strip()]
        return [int(part) if domain.items.labels is None and part.isdecimal() else part for part in named]
    try:
        if isinstance(domain, KeyValue):
            return _key_values(domain, stripped)
        if isinstance(domain, Categories | Whole):
            return int(stripped)
        if isinstance(domain, Interval | Circle):
            return float(stripped)
        if isinstance(domain, Rectangle | Disc | Points) and not stripped.startswith("["):
            return tuple(float(part) for part in stripped.split(","))
        return json.loads(stripped)
    except (ValueError, RecursionError):
        pass
    # Raised outside the handler, so that the value does not travel along as the error's context.
    raise OutOfDomain(f"the value cannot be read as a value of {domain!r}; it is not shown because it is private")


def _key_values(domain: KeyValue, text: str) -> dict[Any, float]:
    """`mail=12;maps=3`, `;` for none, or a JSON object, whose names are numbers where the keys are."""
    if text.startswith("{"):
        pairs = [(str(key), float(number)) for key, number in json.loads(text).items()]
    else:
        split = [part.rpartition("=") for part in text.split(";") if part.strip()]
        pairs = [(key.strip(), float(number)) for key, _, number in split]
    numbered = domain.keys.items.labels is None
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError
    return {int(key) if numbered and key.isdecimal() else key: number for key, number in pairs}
