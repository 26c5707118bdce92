"""A million inputs for everything that reads bytes from strangers: each is read or refused, nothing else happens."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from deniable.core import (
    Categories,
    Mechanism,
    decode_report,
    decode_reports,
    encode_report,
    encode_reports,
    make_mechanism,
    report_from_json,
    report_to_json,
)
from deniable.errors import DeniableError
from deniable.surveys import decode_batch, submission_from_json, survey_from_toml

MANY = 1_000_000
NAMES = ("k-rr", "oue", "subset", "hadamard", "olh")


def readers() -> list[tuple[Callable[[bytes], Any], bytes]]:
    """Every reader with one input it accepts."""
    found: list[tuple[Callable[[bytes], Any], bytes]] = []
    for name in NAMES:
        mechanism: Mechanism = make_mechanism(name, domain=Categories(11), epsilon=1)
        reports = [mechanism.randomize(i) for i in range(11)]
        found.append((partial(decode_report, mechanism), encode_report(mechanism, reports[0])))
        found.append((partial(decode_reports, mechanism), encode_reports(mechanism, reports)))
        found.append((partial(report_from_json, mechanism), report_to_json(mechanism, reports[0]).encode()))
    survey = survey_from_toml('title="t"\npurpose="p"\nepsilon=1\n[attributes.x]\nquestion="?"\ndomain="categories:11"\n')
    found.append((partial(submission_from_json, survey), b'{"key":"' + b"0" * 32 + b'","report":"00"}'))
    found.append((partial(decode_batch, survey), b"ds\x01" + bytes.fromhex(survey.hash) + bytes(16)))
    return found


def damaged(good: bytes, choose: random.Random) -> bytes:
    """A changed, cut, lengthened or altogether random input."""
    kind = choose.randrange(4)
    if kind == 0:
        return choose.randbytes(choose.randrange(64))
    data = bytearray(good)
    if kind == 1:
        del data[choose.randrange(len(data)) :]
    elif kind == 2:
        data += choose.randbytes(choose.randrange(1, 16))
    for _ in range(choose.randrange(1, 4)):
        if data:
            data[choose.randrange(len(data))] = choose.randrange(256)
    return bytes(data)


def fuzz(count: int) -> None:
    choose = random.Random(2026)
    everything = readers()
    read = refused = 0
    tracemalloc.start()
    for i in range(count):
        reader, good = everything[i % len(everything)]
        data = damaged(good, choose)
        if i % 50_000 == 0:
            tracemalloc.reset_peak()
        try:
            reader(data)
            read += 1
        except DeniableError:
            refused += 1
        if i % 50_000 == 49_999:
            assert tracemalloc.get_traced_memory()[1] < 50 << 20
    tracemalloc.stop()
    assert read + refused == count
    assert refused > count // 2


def test_thousands_of_inputs_are_read_or_refused() -> None:
    fuzz(20_000)


@pytest.mark.heavy
def test_a_million_inputs_are_read_or_refused() -> None:
    fuzz(MANY)
