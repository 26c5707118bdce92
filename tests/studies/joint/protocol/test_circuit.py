"""The circuit computes the indicators, and so does its garbled form."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.privacy import binomial_tail
from deniable.studies import Thresholds
from deniable.studies.joint.protocol.circuit import pair_circuit
from deniable.studies.joint.protocol.garbling import evaluate, garble

LAWS = [
    Thresholds.of("4/5", "-1/4"),
    Thresholds.of("3/4", "-1/6"),
    Thresholds.of("1/2", -1),
    Thresholds.of("2/3", 1),
    Thresholds(0, 1, 2**64),
    Thresholds(2**63, 2**64 - 1, 2**64 - 1),
]
numbers = st.integers(0, 2**64 - 1)


def bits(number: int) -> list[bool]:
    return [bool(number >> place & 1) for place in range(64)]


@given(law=st.sampled_from(LAWS), one=numbers, total=numbers)
def test_the_circuit_adds_and_compares(law: Thresholds, one: int, total: int) -> None:
    assert pair_circuit(law).evaluate(bits(one) + bits((total - one) % 2**64)) == law.indicators(total)


@pytest.mark.parametrize("law", LAWS)
def test_the_circuit_is_right_at_every_threshold(law: Thresholds) -> None:
    for bound in (law.first, law.second, law.third, 0, 2**64):
        for total in {(bound - 1) % 2**64, bound % 2**64, (bound + 1) % 2**64}:
            for one in (0, 1, 2**63, 2**64 - 1, total, 0x0123456789ABCDEF):
                assert pair_circuit(law).evaluate(bits(one) + bits((total - one) % 2**64)) == law.indicators(total)


def test_the_circuit_is_small() -> None:
    assert all(pair_circuit(law).ands <= 63 * 4 for law in LAWS)


@settings(deadline=None, max_examples=40)
@given(law=st.sampled_from(LAWS), one=numbers, other=numbers)
def test_the_garbled_circuit_agrees(law: Thresholds, one: int, other: int) -> None:
    circuit = pair_circuit(law)
    garbled = garble(circuit, b"session")
    labels = [garbled.input_label(wire, value) for wire, value in enumerate(bits(one) + bits(other))]
    found = evaluate(circuit, garbled.rows, labels, b"session")
    expected = law.indicators((one + other) % 2**64)
    for label, zero, value in zip(found, garbled.outputs, expected, strict=True):
        assert label == zero ^ (garbled.difference * value)
    assert len(garbled.rows) == 32 * circuit.ands


def test_labels_are_fresh_and_the_colours_differ() -> None:
    circuit = pair_circuit(LAWS[0])
    one, other = garble(circuit, b"session"), garble(circuit, b"session")
    assert one.difference & 1
    assert not set(one.inputs) & set(other.inputs)
    assert one.rows != other.rows
    assert str(one.difference) not in repr(one)


def test_the_colour_of_a_label_does_not_show_its_value() -> None:
    """Else whoever evaluates reads the garbler's number. False alarm: less than 1e-6 over all wires."""
    circuit = pair_circuit(LAWS[1])
    ones = [0] * circuit.inputs
    for _ in range(200):
        for wire, label in enumerate(garble(circuit, b"session").inputs):
            ones[wire] += label & 1
    assert all(binomial_tail(count, 200, 0.5) > 1e-6 / circuit.inputs for count in ones)
