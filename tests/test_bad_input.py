"""Whatever comes in, only deniable's own errors come out."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deniable import core
from deniable.core import (
    Binary,
    Categories,
    Circle,
    Disc,
    Domain,
    Epsilon,
    Interval,
    Mechanism,
    Points,
    Record,
    Rectangle,
    Report,
    Trajectory,
    domain_from_recipe,
    mechanism_class,
    mechanism_from_recipe,
    names,
)
from deniable.errors import DeniableError, InvalidParameter, OutOfDomain, UnknownMechanism, WireError

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.binary(max_size=8),
    st.complex_numbers(),
    st.decimals(),
    st.fractions(),
    st.just(5000).map(lambda digits: 10**digits),
    st.sampled_from([10**400, -(10**400), 5e-324, object(), int, "1e999999999", float]),
)
anything = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(st.one_of(st.text(max_size=5), st.integers()), inner, max_size=4),
    ),
    max_leaves=6,
)
json_values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=10), st.sampled_from(["1/0", "1e99999", "interval"])
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)),
    max_leaves=6,
)

DOMAINS: list[Domain] = [
    Binary(),
    Categories(10),
    Categories(["a", "b"]),
    Interval(),
    Circle(),
    Rectangle(),
    Disc(cells=8),
    Points([(0, 0), (1, 1)]),
    Record({"a": Binary(), "b": Interval()}),
    Trajectory(Categories(3), length=2),
]
CONSTRUCTORS: list[Callable[[Any], Any]] = [
    Epsilon,
    Categories,
    Interval,
    lambda value: Interval(0, value),
    lambda value: Interval(cells=value),
    Circle,
    lambda value: Circle(cells=value),
    Disc,
    lambda value: Disc((0, 0), value),
    Points,
    lambda value: Points([value, (0, 0)]),
    lambda value: Rectangle(value, Interval()),
    Record,
    lambda value: Record({"a": value}),
    lambda value: Trajectory(value, 2),
    lambda value: Trajectory(Binary(), value),
    domain_from_recipe,
    mechanism_from_recipe,
]


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@given(value=anything)
def test_a_domain_encodes_a_value_or_refuses_it(domain: Domain, value: Any) -> None:
    try:
        index = domain.encode(value)
    except OutOfDomain:
        return
    assert type(index) is int
    assert 0 <= index < domain.size


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@given(value=anything)
def test_a_domain_clips_a_value_into_itself_or_refuses_it(domain: Domain, value: Any) -> None:
    try:
        clipped = domain.clip(value)
    except OutOfDomain:
        return
    assert 0 <= domain.encode(clipped) < domain.size


@pytest.mark.parametrize("build", CONSTRUCTORS)
@given(value=anything)
def test_a_public_parameter_is_taken_or_refused(build: Callable[[Any], Any], value: Any) -> None:
    with suppress(InvalidParameter, UnknownMechanism):
        build(value)


FIRST: dict[str, Mechanism] = {name: next(iter(mechanism_class(name).examples())) for name in names()}


@pytest.mark.parametrize("name", names())
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(data=st.data())
def test_a_broken_recipe_is_refused_or_gives_a_sound_mechanism(name: str, data: st.DataObject) -> None:
    recipe = json.loads(json.dumps(FIRST[name].recipe()))
    place: Any = recipe
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else list(range(len(place)))))
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or data.draw(st.booleans()):
            break
        place = inner
    place[key] = data.draw(json_values)
    try:
        mechanism = mechanism_from_recipe(recipe)
    except DeniableError:
        return
    assert mechanism.recipe()["mechanism"] == name


@pytest.mark.parametrize("name", ["k-rr", "oue", "ogpm", "olh", "subset", "product"])
@given(data=st.data())
def test_any_bytes_are_a_report_or_refused(name: str, data: st.DataObject) -> None:
    mechanism = FIRST[name]
    sound = core.encode_report(mechanism, mechanism.randomize(mechanism.domain.decode(0)))
    body = data.draw(st.one_of(st.binary(max_size=60), st.binary(max_size=12).map(lambda tail: sound[:19] + tail)))
    try:
        report = core.decode_report(mechanism, body)
    except WireError:
        return
    assert core.encode_report(mechanism, report) == body


@pytest.mark.parametrize("name", ["k-rr", "oue", "ogpm"])
@given(value=anything)
def test_any_json_is_a_report_or_refused(name: str, value: Any) -> None:
    mechanism = FIRST[name]
    documents = [value, {"version": 1, "recipe": mechanism.fingerprint, "output": value}]
    for document in documents:
        try:
            text = json.dumps(document)
        except (TypeError, ValueError):
            text = str(type(document))
        try:
            report = core.report_from_json(mechanism, text)
        except WireError:
            continue
        assert 0 <= report.output < mechanism.channel.outputs


@given(value=anything)
def test_only_reports_are_written(value: Any) -> None:
    mechanism = FIRST["k-rr"]
    for report in (value, Report(mechanism.fingerprint, value), Report(value, 0)):
        try:
            data = core.encode_report(mechanism, report)
        except WireError:
            continue
        assert core.decode_report(mechanism, data) == report
