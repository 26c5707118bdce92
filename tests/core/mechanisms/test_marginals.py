"""Tables of several fields: the law of their reports, and recipes that do not fit."""

from __future__ import annotations

import pytest

from deniable.batch import encode_many, randomize_many
from deniable.core import Binary, Categories, Interval, Marginals, Record, SeveralDigits
from deniable.errors import InvalidParameter, OutOfDomain
from deniable.privacy import FixedKeystream, audit_mechanism

PERSON = Record({"smokes": Binary(), "city": Categories(["north", "south", "west"]), "job": Categories(4)})
TABLES = Marginals(domain=PERSON, epsilon=1, marginals=[["smokes", "job"], ["city"]], shares=[2, 1], oracles=["k-rr", "subset"])


def test_a_report_depends_on_the_fields_it_names_only() -> None:
    channel = TABLES.channel
    first = range(channel.parts[0].outputs)
    records = [PERSON.decode(index) for index in range(PERSON.size)]
    for x, person in enumerate(records):
        same = PERSON.encode({**person, "city": "north"})
        assert [channel.weight(x, y) for y in first] == [channel.weight(same, y) for y in first]
    assert sum(channel.weight(5, y) for y in first) * 3 == 2 * channel.total


def test_a_cell_is_read_as_the_values_of_its_fields() -> None:
    part = TABLES.parts["smokes × job"].channel
    assert max(range(8), key=lambda y: TABLES.channel.weight(PERSON.encode({"smokes": 1, "city": "west", "job": 2}), y)) == 6
    assert part.inputs == 8
    assert TABLES.decode(6) == {"smokes": 1, "city": None, "job": 2}


def test_records_are_numbered_alike_one_by_one_and_together() -> None:
    people = {"smokes": [0, 1, 1], "city": ["west", "north", "south"], "job": [3, 0, 2]}
    rows = [dict(zip(people, row, strict=True)) for row in zip(*people.values(), strict=True)]
    assert encode_many(TABLES, people).tolist() == encode_many(TABLES, rows).tolist() == [TABLES.encode(row) for row in rows]
    with pytest.raises(OutOfDomain, match="columns must be exactly"):
        encode_many(TABLES, {"smokes": [0]})
    with pytest.raises(OutOfDomain, match="one length"):
        encode_many(TABLES, {**people, "job": [1]})
    with pytest.raises(OutOfDomain):
        encode_many(TABLES, {**people, "city": ["west", "north", "east"]})


@pytest.mark.parametrize(
    "bad",
    [
        {"marginals": []},
        {"marginals": ["smokes"]},
        {"marginals": [[]]},
        {"marginals": [["smokes", "height"]]},
        {"marginals": [["job", "smokes"]]},
        {"marginals": [["city", "city"]]},
        {"marginals": [["city"], ["city"]]},
        {"marginals": [["city"]], "shares": [0]},
        {"marginals": [["city"]], "shares": [1, 1]},
        {"marginals": [["city"]], "oracles": ["oue"]},
        {"marginals": [["city"]], "oracles": "k-rr"},
        {"domain": Record({"age": Interval(0, 100)})},
        {"domain": Record({name: Categories(64) for name in "abc"}), "marginals": [["a", "b", "c"]]},
    ],
)
def test_recipes_that_do_not_fit_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter):
        Marginals(**{"domain": PERSON, "epsilon": 1, **bad})  # type: ignore[arg-type]


@pytest.mark.parametrize("places", [(), (1, 0), (0, 0), (0, 3), (0,)])
def test_a_channel_reads_digits_that_exist_in_their_order(places: tuple[int, ...]) -> None:
    inner = TABLES.parts["smokes × job"].channel
    with pytest.raises(InvalidParameter):
        SeveralDigits((2, 3, 4), places, inner)


def test_audits_do_not_accuse_it() -> None:
    small = Marginals(domain=Record({"a": Binary(), "b": Binary(), "c": Binary()}), epsilon=1, oracles=["k-rr"] * 3)
    assert audit_mechanism(small, samples=40_000, keystream=FixedKeystream(2)).violated is False
    assert len(randomize_many(small, {name: [0, 1] for name in "abc"}, FixedKeystream(3))) == 2
