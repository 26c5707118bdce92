"""Frames packed from arrays are the frames of the wire format, and a fork never repeats a keystream."""

from __future__ import annotations

import os
import pickle
import random

import numpy as np
import pytest

from deniable.batch import Reports, SystemKeystream, randomize_many
from deniable.core import (
    Binary,
    Categories,
    Interval,
    Mechanism,
    ProductMechanism,
    Record,
    all_mechanisms,
    decode_reports,
    encode_reports,
    header,
    make_mechanism,
    output_bits,
)
from deniable.errors import Malformed, WireError, WrongRecipe
from deniable.privacy import FixedKeystream


def mechanisms() -> list[Mechanism]:
    sized = [make_mechanism(name, domain=Categories(13), epsilon=1) for name in ("k-rr", "oue", "olh", "hadamard", "subset")]
    record = Record({"smokes": Binary(), "age": Interval(0, 100)})
    return [
        *sized,
        make_mechanism("window", epsilon=1),
        make_mechanism("pm", epsilon=1),
        make_mechanism("hm", epsilon=1),
        ProductMechanism.split(record, 2),
    ]


def values_for(mechanism: Mechanism, count: int) -> list[object]:
    if isinstance(mechanism.domain, Record):
        return [{"smokes": i % 2, "age": i % 100} for i in range(count)]
    return [i % 13 if isinstance(mechanism.domain, Categories) else i / count for i in range(count)]


@pytest.mark.parametrize("mechanism", mechanisms(), ids=lambda m: m.name)
@pytest.mark.parametrize("count", [0, 1, 7, 8, 1000])
def test_frames_equal_those_of_the_wire_format(mechanism: Mechanism, count: int) -> None:
    reports = randomize_many(mechanism, values_for(mechanism, count), FixedKeystream(count))
    data = reports.to_bytes()
    assert data == encode_reports(mechanism, [reports[i] for i in range(count)])
    again = Reports.from_bytes(mechanism, data)
    assert again.ints() == reports.ints() == [report.output for report in decode_reports(mechanism, data)]


@pytest.mark.parametrize("mechanism", mechanisms(), ids=lambda m: m.name)
def test_damaged_frames_are_refused(mechanism: Mechanism) -> None:
    data = randomize_many(mechanism, values_for(mechanism, 9), FixedKeystream(1)).to_bytes()
    for damaged in (data[:-1], data + b"\0", data[:10], b"", b"xx" + data[2:], data[:2] + b"\x07" + data[3:]):
        with pytest.raises(WireError):
            Reports.from_bytes(mechanism, damaged)
    other = make_mechanism("k-rr", domain=Categories(99), epsilon=1)
    with pytest.raises(WrongRecipe):
        Reports.from_bytes(other, data)


def test_padding_and_impossible_outputs_are_refused() -> None:
    mechanism = make_mechanism("k-rr", domain=Categories(13), epsilon=1)
    data = randomize_many(mechanism, [3], FixedKeystream(1)).to_bytes()
    with pytest.raises(Malformed, match="padding"):
        Reports.from_bytes(mechanism, data[:-1] + bytes([data[-1] | 1]))
    with pytest.raises(Malformed, match="not one this recipe can give"):
        Reports.from_bytes(mechanism, data[:-1] + b"\xf0")


def test_reports_can_be_read_one_by_one_and_as_values() -> None:
    mechanism = make_mechanism("window", domain=Interval(10, 20), epsilon=1)
    reports = randomize_many(mechanism, np.linspace(10, 20, 50), FixedKeystream(3))
    assert [mechanism.decode(reports[i].output) for i in range(50)] == pytest.approx(reports.values())
    assert reports[-1] == reports[49]
    with pytest.raises(IndexError):
        reports[50]
    assert "n=50" in repr(reports)


def test_a_keystream_is_never_pickled() -> None:
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(SystemKeystream())


def test_a_forked_process_draws_its_own_keystream() -> None:
    stream = SystemKeystream()
    first = np.empty(4, np.uint64)
    stream.fill(first)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        mine = np.empty(4, np.uint64)
        stream.fill(mine)
        os.write(write, mine.tobytes())
        os._exit(0)
    theirs = np.frombuffer(os.read(read, 32), np.uint64)
    os.waitpid(child, 0)
    os.close(read)
    os.close(write)
    mine = np.empty(4, np.uint64)
    stream.fill(mine)
    assert not np.array_equal(mine, theirs)


def test_two_batches_are_never_the_same() -> None:
    mechanism = make_mechanism("window", epsilon=1)
    values = np.full(1000, 0.5)
    assert (randomize_many(mechanism, values).outputs != randomize_many(mechanism, values).outputs).mean() > 0.9


EXAMPLES = [mechanism for cls in all_mechanisms() for mechanism in cls.examples()]


@pytest.mark.parametrize("mechanism", EXAMPLES, ids=lambda m: m.name)
def test_arrays_accept_exactly_what_the_scalar_reader_accepts(mechanism: Mechanism) -> None:
    """Frames of random numbers, also of ones no input can give."""
    bits = output_bits(mechanism.channel)
    choose = random.Random(bits)
    for _ in range(60):
        numbers = [choose.getrandbits(bits) for _ in range(choose.choice([1, 1, 3]))]
        packed = sum(number << bits * (len(numbers) - 1 - i) for i, number in enumerate(numbers))
        padding = -bits * len(numbers) % 8
        body = (packed << padding).to_bytes((bits * len(numbers) + padding) // 8, "big")
        frame = header(mechanism) + len(numbers).to_bytes(8, "big") + body
        try:
            expected = [report.output for report in decode_reports(mechanism, frame)]
        except WireError:
            with pytest.raises(WireError):
                Reports.from_bytes(mechanism, frame)
        else:
            read = Reports.from_bytes(mechanism, frame)
            assert read.ints() == expected
            assert read.to_bytes() == frame
