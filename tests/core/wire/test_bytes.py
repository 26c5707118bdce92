"""Bytes and reports: one encoding for one report, and nothing else is accepted."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.core import (
    Bits,
    Categories,
    Interval,
    KaryRandomizedResponse,
    Mechanism,
    Product,
    RandomizedResponse,
    Report,
    Subsets,
    TwoLevel,
    Window,
    decode_report,
    decode_reports,
    encode_report,
    encode_reports,
    output_bits,
)
from deniable.errors import Malformed, UnknownVersion, WireError, WrongRecipe

MECHANISMS: list[Mechanism] = [
    RandomizedResponse(epsilon=1),
    KaryRandomizedResponse(domain=Categories(5), epsilon=1),
    KaryRandomizedResponse(domain=Categories(256), epsilon=1),
    KaryRandomizedResponse(domain=Categories(257), epsilon=1),
    Window(domain=Interval(0, 1, cells=1000), epsilon=1),
    Window(epsilon=1),
]
HEADER = 19


@given(st.sampled_from(MECHANISMS), st.data())
def test_a_report_survives_the_round_trip(mechanism: Mechanism, data: st.DataObject) -> None:
    report = Report(mechanism.fingerprint, data.draw(st.integers(0, mechanism.channel.outputs - 1)))
    written = encode_report(mechanism, report)
    assert len(written) == HEADER + (output_bits(mechanism.channel) + 7) // 8
    assert decode_report(mechanism, written) == report


@given(st.sampled_from(MECHANISMS), st.data())
def test_a_batch_survives_the_round_trip(mechanism: Mechanism, data: st.DataObject) -> None:
    outputs = data.draw(st.lists(st.integers(0, mechanism.channel.outputs - 1), max_size=40))
    reports = [Report(mechanism.fingerprint, output) for output in outputs]
    written = encode_reports(mechanism, reports)
    assert len(written) == HEADER + 8 + (len(outputs) * output_bits(mechanism.channel) + 7) // 8
    assert decode_reports(mechanism, written) == reports


@given(st.sampled_from(MECHANISMS), st.binary(max_size=60))
def test_whatever_is_accepted_is_written_back_identically(mechanism: Mechanism, tail: bytes) -> None:
    start = encode_report(mechanism, Report(mechanism.fingerprint, 0))[:HEADER]
    for data in (tail, start + tail, start + bytes(7) + tail):
        with contextlib.suppress(WireError):
            assert encode_report(mechanism, decode_report(mechanism, data)) == data
        with contextlib.suppress(WireError):
            assert encode_reports(mechanism, decode_reports(mechanism, data)) == data


def test_the_layout_is_the_documented_one() -> None:
    mechanism = KaryRandomizedResponse(domain=Categories(5), epsilon=1)
    fingerprint = bytes.fromhex(mechanism.fingerprint)
    assert encode_report(mechanism, Report(mechanism.fingerprint, 3)) == b"dn\x01" + fingerprint + b"\x03"
    batch = encode_reports(mechanism, [Report(mechanism.fingerprint, output) for output in (4, 1, 2)])
    # 100 001 010 and seven bits of padding.
    assert batch == b"dn\x01" + fingerprint + (3).to_bytes(8, "big") + bytes([0b10000101, 0b00000000])


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: f"{m.name}-{m.domain.size}")
def test_every_other_length_is_refused(mechanism: Mechanism) -> None:
    single = encode_report(mechanism, Report(mechanism.fingerprint, 1))
    batch = encode_reports(mechanism, [Report(mechanism.fingerprint, 1)] * 3)
    for cut in range(len(single)):
        with pytest.raises(Malformed):
            decode_report(mechanism, single[:cut])
    for cut in range(len(batch)):
        with pytest.raises(Malformed):
            decode_reports(mechanism, batch[:cut])
    with pytest.raises(Malformed):
        decode_report(mechanism, single + b"\x00")
    with pytest.raises(Malformed):
        decode_reports(mechanism, batch + b"\x00")


def test_padding_and_range_are_checked() -> None:
    mechanism = KaryRandomizedResponse(domain=Categories(5), epsilon=1)
    single = encode_report(mechanism, Report(mechanism.fingerprint, 1))
    for output in (5, 7, 8, 255):
        with pytest.raises(Malformed):
            decode_report(mechanism, single[:-1] + bytes([output]))
    batch = bytearray(encode_reports(mechanism, [Report(mechanism.fingerprint, 1)]))
    for bit in range(5):
        spoiled = batch[:-1] + bytes([batch[-1] | 1 << bit])
        with pytest.raises(Malformed, match="padding"):
            decode_reports(mechanism, bytes(spoiled))
    with pytest.raises(Malformed):
        decode_reports(mechanism, bytes(batch[:-1]) + bytes([0b11100000]))


def test_magic_version_and_recipe_are_checked() -> None:
    mechanism, other = RandomizedResponse(epsilon=1), RandomizedResponse(epsilon=2)
    data = encode_report(mechanism, mechanism.randomize(1))
    with pytest.raises(Malformed):
        decode_report(mechanism, b"DN" + data[2:])
    for version in (0, 2, 255):
        with pytest.raises(UnknownVersion):
            decode_report(mechanism, data[:2] + bytes([version]) + data[3:])
    with pytest.raises(WrongRecipe):
        decode_report(other, data)
    with pytest.raises(WrongRecipe):
        encode_report(other, mechanism.randomize(1))


def test_a_lying_count_is_refused_before_anything_is_built() -> None:
    mechanism = RandomizedResponse(epsilon=1)
    start = encode_reports(mechanism, [])[:HEADER]
    with pytest.raises(Malformed):
        decode_reports(mechanism, start + b"\xff" * 8)


def test_numbers_no_input_can_give_are_refused() -> None:
    subsets = TwoLevel(Subsets(4, 2), low=1, high=2)
    assert [y for y in range(16) if subsets.possible(y)] == [3, 5, 6, 9, 10, 12]
    pair = Product([subsets, Bits(2, own=2, other=1, scale=4)])
    assert pair.possible(3 * 4 + 1)
    assert not pair.possible(7 * 4 + 1)


def test_outputs_that_do_not_exist_are_not_written() -> None:
    mechanism = RandomizedResponse(epsilon=1)
    for output in (-1, 2):
        with pytest.raises(Malformed):
            encode_report(mechanism, Report(mechanism.fingerprint, output))
