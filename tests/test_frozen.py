"""Frozen records behave as the dataclasses they stand in for, and cost a first report less."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from deniable import Categories, KaryRandomizedResponse, Report
from deniable import frozen as light
from deniable.mechanisms import Mechanism, mechanism_class, names

Decorator = Any


def shapes(dataclass: Decorator, field: Callable[..., Any]) -> dict[str, Any]:
    """The same classes, made by one decorator or the other."""

    @dataclass(frozen=True)
    class Point:
        x: int
        y: int = 2
        kind: ClassVar[str] = "point"

        def __post_init__(self) -> None:
            object.__setattr__(self, "x", int(self.x))

    @dataclass(frozen=True)
    class Named(Point):
        z: tuple[int, ...] = field(default_factory=tuple)
        note: str = field(default="none", compare=False, repr=False)

    @dataclass(frozen=True, kw_only=True, repr=False)
    class Keyed(Point):
        size: int  # type: ignore[misc]
        seen: int = field(init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "seen", self.size + 1)

        def __repr__(self) -> str:
            return "Keyed"

    @dataclass(frozen=True, eq=False)
    class Alone:
        x: int = 1

    @dataclass(frozen=True, slots=True)
    class Slim:
        x: int
        y: str = "y"

    @dataclass(frozen=True, init=False)
    class Own:
        x: int

        def __init__(self) -> None:
            object.__setattr__(self, "x", 7)

    @dataclass(frozen=True)
    class Empty:
        pass

    return {made.__name__: made for made in (Point, Named, Keyed, Alone, Slim, Own, Empty)}


OURS = shapes(light.dataclass, light.field)
THEIRS = shapes(dataclasses.dataclass, dataclasses.field)
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Point", ("5",), {}),
    ("Point", (1,), {"y": 3}),
    ("Named", (1, 2, (3,)), {"note": "x"}),
    ("Named", (1,), {}),
    ("Keyed", (1,), {"size": 4}),
    ("Alone", (), {}),
    ("Slim", (1,), {}),
    ("Own", (), {}),
    ("Empty", (), {}),
]


def shown(record: object) -> str:
    return repr(record).replace("shapes.<locals>.", "")


@pytest.mark.parametrize(("name", "given", "named"), CALLS)
def test_a_record_prints_compares_and_hashes_as_a_dataclass(name: str, given: tuple[Any, ...], named: dict[str, Any]) -> None:
    ours, again, theirs, their_again = (kind[name](*given, **named) for kind in (OURS, OURS, THEIRS, THEIRS))
    if name == "Alone":  # Its repr is made, its equality is that of objects.
        assert ours != again
        assert ours == ours
    else:
        assert ours == again
        assert hash(ours) == hash(again)
    assert (ours == again) is (theirs == their_again)
    assert ours != theirs
    assert shown(ours) == shown(theirs)
    assert type(ours).__match_args__ == type(theirs).__match_args__


@pytest.mark.parametrize("name", sorted(OURS))
def test_the_signature_is_the_one_a_dataclass_has(name: str) -> None:
    def told(kind: Any) -> list[tuple[Any, ...]]:
        return [(p.name, p.kind, p.annotation) for p in inspect.signature(kind).parameters.values()]

    assert told(OURS[name]) == told(THEIRS[name])


@pytest.mark.parametrize(
    ("name", "given", "named"),
    [("Point", (), {}), ("Point", (1, 2, 3), {}), ("Keyed", (1, 2, 3), {}), ("Keyed", (1,), {}), ("Point", (1,), {"w": 1})],
)
def test_wrong_arguments_are_refused_by_both(name: str, given: tuple[Any, ...], named: dict[str, Any]) -> None:
    for kind in (OURS, THEIRS):
        with pytest.raises(TypeError):
            kind[name](*given, **named)


def test_fields_that_are_not_compared_change_nothing() -> None:
    assert OURS["Named"](1, note="a") == OURS["Named"](1, note="b")
    assert OURS["Named"](1, z=(1,)) != OURS["Named"](1, z=(2,))
    assert OURS["Point"](1) != OURS["Named"](1)


@pytest.mark.parametrize("name", ["Point", "Named", "Slim"])
def test_nothing_can_be_assigned_or_deleted(name: str) -> None:
    record = OURS[name](1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        record.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'x'"):
        del record.x
    with pytest.raises(AttributeError):
        record.other = 2
    assert record.x == 1


def test_a_plain_subclass_may_keep_more() -> None:
    noted = type("Noted", (OURS["Point"],), {})(1)
    noted.extra = 5
    assert noted.extra == 5
    del noted.extra
    with pytest.raises(dataclasses.FrozenInstanceError):
        noted.x = 2


@pytest.mark.parametrize(("name", "given", "named"), CALLS)
def test_dataclasses_sees_the_fields(name: str, given: tuple[Any, ...], named: dict[str, Any]) -> None:
    ours, theirs = OURS[name](*given, **named), THEIRS[name](*given, **named)
    told = [
        [(f.name, f.type, f.init, f.repr, f.compare, f.kw_only, f.default) for f in dataclasses.fields(record)]
        for record in (ours, theirs)
    ]
    assert told[0] == told[1]
    assert [f.name for f in light.fields(ours)] == [f.name for f in dataclasses.fields(theirs)]
    assert dataclasses.asdict(ours) == dataclasses.asdict(theirs)
    assert dataclasses.is_dataclass(ours)


def test_replace_makes_another_record_and_leaves_the_first() -> None:
    first = OURS["Named"](1, 2, (3,), note="x")
    for replace in (light.replace, dataclasses.replace):
        second = replace(first, y=9)
        assert (second.x, second.y, second.z, second.note) == (1, 9, (3,), "x")
    assert first.y == 2


def test_a_real_dataclass_may_inherit_from_a_record() -> None:
    plain: Any = type("Further", (OURS["Point"],), {"__annotations__": {"more": int, "all": ClassVar[int]}, "more": 4, "all": 1})
    made: Any = dataclasses.dataclass(frozen=True, kw_only=True)(plain)(x="3", more=5)
    assert (made.x, made.y, made.more) == (3, 2, 5)
    assert [f.name for f in light.fields(made)] == ["x", "y", "more"]
    assert light.replace(made, more=6).more == 6
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.more = 1


def test_annotations_may_be_types() -> None:
    body = {"__annotations__": {"more": int, "all": ClassVar[int], "some": "ClassVar[int]"}, "more": 4, "all": 1, "some": 2}
    assert [f.name for f in light.fields(light.dataclass(frozen=True)(type("Typed", (), body)))] == ["more"]


def test_who_has_no_fields_is_told_so() -> None:
    with pytest.raises(TypeError, match="record"):
        light.fields(3)  # type: ignore[arg-type]


def test_records_are_copied_and_pickled() -> None:
    report = Report("ab", 3)
    mechanism = KaryRandomizedResponse(domain=Categories(4), epsilon=1)
    for kept in (report, mechanism, mechanism.domain):
        assert copy.deepcopy(kept) == kept
        assert pickle.loads(pickle.dumps(kept)) == kept
    assert not hasattr(report, "__dict__")


@pytest.mark.parametrize("name", names())
def test_every_mechanism_lists_its_fields_to_dataclasses(name: str) -> None:
    kind: type[Mechanism] = mechanism_class(name)
    for mechanism in kind.examples():
        assert {f.name for f in dataclasses.fields(mechanism)} == {f.name for f in light.fields(mechanism)}
        assert dataclasses.replace(mechanism, epsilon=mechanism.epsilon) == mechanism


@pytest.mark.parametrize(
    "made",
    [
        "KaryRandomizedResponse(domain=deniable.Categories(100), epsilon=1).randomize(3)",
        "OptimizedUnary(domain=deniable.Categories(100), epsilon=1).randomize(3)",
        "Window(domain=deniable.Interval(0, 100), epsilon=1).randomize(3)",
    ],
)
def test_a_first_report_does_not_wait_for_what_it_does_not_need(made: str) -> None:
    heavy = ["dataclasses", "inspect", "typing", "hashlib", "numpy", "contextlib"]
    asked = f"import sys\nimport deniable\ndeniable.{made}\nprint([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys\nsys.path[:0] = {sys.path!r}\n" + asked], capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
