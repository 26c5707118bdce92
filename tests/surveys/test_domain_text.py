"""Domains and values as text."""

from __future__ import annotations

from typing import Any

import pytest

from deniable.core import Binary, Categories, Circle, Disc, Domain, Interval, Points, Record, Rectangle
from deniable.errors import DeniableError, OutOfDomain
from deniable.surveys import parse_domain, parse_value


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("binary", Binary()),
        ("categories:5", Categories(5)),
        ("categories:a, b,c", Categories(["a", "b", "c"])),
        ("interval:0,1", Interval(0, 1)),
        ("interval:-1/3,0.5,100", Interval("-1/3", "0.5", cells=100)),
        ("circle", Circle()),
        ("circle:360", Circle(360)),
        ("circle:24,48", Circle(24, cells=48)),
        ("rectangle:0,2,0,1,8", Rectangle(Interval(0, 2, cells=8), Interval(0, 1, cells=8))),
        ("disc:0,0,1,16", Disc((0, 0), 1, cells=16)),
        ("points:0,0;3,4", Points([(0, 0), (3, 4)])),
        ('{"kind":"interval","low":"0","high":"1","cells":8}', Interval(0, 1, cells=8)),
        ('{"a":"binary","b":{"kind":"categories","size":3}}', Record({"a": Binary(), "b": Categories(3)})),
    ],
)
def test_domains_are_read(text: str, domain: Domain) -> None:
    assert parse_domain(text) == domain


@pytest.mark.parametrize(
    "text",
    [
        "",
        "interval",
        "interval:0",
        "interval:0,1,2,3",
        "interval:a,b",
        "interval:0,1,x",
        "binary:2",
        "categories:",
        "circle:0",
        "{}",
        "{",
        "points:1",
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(DeniableError):
        parse_domain(text)


@pytest.mark.parametrize(
    ("domain", "text", "value"),
    [
        (Binary(), "yes", 1),
        (Binary(), "False", 0),
        (Categories(5), " 3", 3),
        (Categories(["a", "b"]), "b ", "b"),
        (Interval(0, 1), "0.25", 0.25),
        (Rectangle(), "0.5, 0.25", (0.5, 0.25)),
        (Record({"a": Binary()}), '{"a": 1}', {"a": 1}),
    ],
)
def test_values_are_read(domain: Domain, text: str, value: Any) -> None:
    assert parse_value(domain, text) == value


@pytest.mark.parametrize("domain", [Binary(), Categories(5), Interval(0, 1), Rectangle(), Record({"a": Binary()})], ids=repr)
def test_unreadable_values_leave_no_trace(domain: Domain) -> None:
    with pytest.raises(OutOfDomain) as caught:
        parse_value(domain, "my-secret")
    assert "my-secret" not in str(caught.value)
    assert caught.value.__context__ is None
