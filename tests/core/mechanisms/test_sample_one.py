"""One field is answered, in the open: the law is exactly the mixture, and wide records lose nothing."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from deniable.batch import Sampled, accumulator_for, accumulator_from_bytes, randomize_many
from deniable.core import Binary, Categories, Field, Interval, Record, SampleOne, Table, column_ratio, make_mechanism
from deniable.core.channels.fake_data import one_of
from deniable.errors import InvalidParameter, Malformed, OutOfDomain
from deniable.privacy import FixedKeystream, binomial_tail, exact_law

SMALL = one_of([Table([[3, 1], [1, 3]]), Table([[2, 1, 1], [1, 2, 1], [1, 1, 2]])])
PERSON = Record({"smokes": Binary(), "city": Categories(["north", "south", "west"]), "age": Interval(0, 120, cells=60)})


@pytest.mark.parametrize("index", range(6))
def test_draws_have_exactly_the_law_of_the_weights(index: int) -> None:
    law = exact_law(lambda coins: SMALL.draw(index, coins))
    assert law == {y: Fraction(SMALL.weight(index, y), SMALL.total) for y in range(SMALL.outputs)}


def test_the_ratio_is_the_worst_part() -> None:
    assert SMALL.max_ratio() == column_ratio(SMALL) == 3


def test_a_part_sees_its_own_field_only() -> None:
    mechanism = SampleOne(domain=PERSON, epsilon=1)
    channel = mechanism.channel
    first = mechanism.encode({"smokes": 1, "city": "west", "age": 30})
    other = mechanism.encode({"smokes": 1, "city": "south", "age": 90})
    for output in range(channel.starts[1]):
        assert channel.weight(first, output) == channel.weight(other, output)
    assert any(channel.weight(first, y) != channel.weight(other, y) for y in range(channel.outputs))


def test_the_whole_epsilon_goes_to_every_part() -> None:
    mechanism = SampleOne.of(PERSON, 2, mechanism={"city": "oue"})
    assert {part.privacy.exact for part in mechanism.parts.values()} == {2}
    assert mechanism.certificate().holds
    assert mechanism.certificate().epsilon_exact > 1.99
    part = make_mechanism("k-rr", domain=Categories(4), epsilon=3)
    with pytest.raises(InvalidParameter, match="whole epsilon"):
        SampleOne(domain=Record({"a": Categories(4)}), epsilon=2, parts={"a": part})
    with pytest.raises(InvalidParameter, match="does not have: shoe"):
        SampleOne.of(PERSON, 2, mechanism={"shoe": "oue"})


def test_a_report_reads_as_the_one_field_that_was_answered() -> None:
    mechanism = SampleOne(domain=PERSON, epsilon=1)
    seen = set()
    for _ in range(60):
        answer = mechanism.decode(mechanism.randomize({"smokes": 1, "city": "west", "age": 30}).output)
        answered = [name for name, value in answer.items() if value is not None]
        assert len(answered) == 1
        seen.update(answered)
    assert seen == set(PERSON.fields)  # a false alarm has probability 3 (2/3)**60 < 1e-9


def test_every_field_is_asked_equally_often_and_answers_by_its_law() -> None:
    # Binomial tails below 1e-8 for 3 + 1 counts: false alarms below 1e-7.
    mechanism = SampleOne(domain=PERSON, epsilon=1)
    n = 60_000
    people = {"smokes": np.ones(n, int), "city": np.array(["west"] * n), "age": np.full(n, 30.0)}
    sums = accumulator_for(mechanism).add(randomize_many(mechanism, people, FixedKeystream("sample-one")))
    assert isinstance(sums, Sampled)
    assert sum(part.n for part in sums.parts.values()) == n
    for part in sums.parts.values():
        assert binomial_tail(part.n, n, 1 / 3) > 1e-8
    smokes = sums.parts["smokes"]
    channel = smokes.mechanism.channel
    assert binomial_tail(int(smokes.sums[1]), smokes.n, Fraction(channel.weight(1, 1), channel.total)) > 1e-8


def test_records_wider_than_a_machine_word_are_drawn_alike() -> None:
    wide = Record({f"n{j}": Interval(0, 1) for j in range(4)})
    mechanism = SampleOne(domain=wide, epsilon=1)
    assert mechanism.channel.inputs > 1 << 64
    columns = {name: np.linspace(0, 1, 500) for name in wide.fields}
    sums = accumulator_for(mechanism).add(randomize_many(mechanism, columns, FixedKeystream(3)))
    assert sums.n == 500


def test_sums_of_fields_merge_and_survive_bytes() -> None:
    mechanism = SampleOne.of(Record({"a": Categories(3), "b": Categories(5), "c": Binary()}), 1, mechanism={"a": "oue", "b": "olh"})
    reports = [mechanism.randomize({"a": 1, "b": 4, "c": 0}) for _ in range(80)]
    whole = accumulator_for(mechanism).add(reports)
    parts = accumulator_for(mechanism).add(reports[:30]).merge(accumulator_for(mechanism).add(reports[30:]))
    assert parts == whole
    data = whole.to_bytes()
    assert accumulator_from_bytes(mechanism, data) == whole
    lost = bytearray(data)
    lost[26] ^= 1  # the number of reports no longer is that of the fields
    with pytest.raises(Malformed):
        accumulator_from_bytes(mechanism, bytes(lost))


def test_a_field_that_is_outside_is_refused() -> None:
    mechanism = SampleOne(domain=PERSON, epsilon=1)
    with pytest.raises(OutOfDomain):
        mechanism.randomize({"smokes": 1, "city": "east", "age": 30})
    with pytest.raises(OutOfDomain):
        randomize_many(mechanism, {"smokes": [1], "city": ["west"]})
    with pytest.raises(InvalidParameter):
        Field((2, 3), 2, Table([[1, 1]]))
