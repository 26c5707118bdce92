"""The circuit both users evaluate: add two 64-bit numbers, compare the sum with three public constants.

Inputs are wires 0-63 (user 1's number, lowest bit first) and 64-127 (user 2's). XOR and NOT cost nothing in a
garbled circuit; there are at most 63 ANDs in the adder and 63 in each comparison.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from deniable.studies.joint.protocol.thresholds import BITS, Thresholds

Operation = Literal["xor", "and", "not"]
Wire = int | bool
"""A wire, or a constant that needs none."""


@dataclass
class Circuit:
    """Gates in the order they are evaluated; gate i writes wire inputs + i."""

    inputs: int
    gates: list[tuple[Operation, int, int]] = field(default_factory=list)
    outputs: tuple[int, ...] = ()

    @property
    def ands(self) -> int:
        """How many gates cost something."""
        return sum(gate[0] == "and" for gate in self.gates)

    def xor(self, one: Wire, other: Wire) -> Wire:
        """A wire that is 1 when one of the two is, and not both."""
        if isinstance(one, bool):
            one, other = other, one
        if isinstance(other, bool):
            return self.negate(one) if other else one
        return self._gate("xor", int(one), other)

    def conjunction(self, one: Wire, other: Wire) -> Wire:
        """A wire that is 1 when both are."""
        if isinstance(one, bool):
            one, other = other, one
        if isinstance(other, bool):
            return one if other else False
        return self._gate("and", int(one), other)

    def negate(self, one: Wire) -> Wire:
        """A wire that is 1 when the other is 0."""
        return not one if isinstance(one, bool) else self._gate("not", one, one)

    def evaluate(self, values: list[bool]) -> tuple[bool, ...]:
        """The outputs in the clear, for tests."""
        wires = list(values)
        for operation, one, other in self.gates:
            if operation == "and":
                wires.append(wires[one] and wires[other])
            else:
                wires.append(wires[one] ^ (wires[other] if operation == "xor" else True))
        return tuple(wires[wire] for wire in self.outputs)

    def _gate(self, operation: Operation, one: int, other: int) -> int:
        self.gates.append((operation, one, other))
        return self.inputs + len(self.gates) - 1


@lru_cache(maxsize=64)
def pair_circuit(thresholds: Thresholds) -> Circuit:
    """(T1, T2) of (r1 + r2) mod 2**64."""
    circuit = Circuit(2 * BITS)
    total = _add(circuit)
    first, second, third = (_below(circuit, total, bound) for bound in (thresholds.first, thresholds.second, thresholds.third))
    # The intervals are nested, so the sum [R<R1] + [R<R3] - [R<R2] is their exclusive or.
    other = circuit.xor(circuit.xor(first, third), second)
    assert not isinstance(second, bool)
    assert not isinstance(other, bool)
    circuit.outputs = (second, other)
    return circuit


def _add(circuit: Circuit) -> list[Wire]:
    carry: Wire = False
    total: list[Wire] = []
    for bit in range(BITS):
        one, other = bit, BITS + bit
        total.append(circuit.xor(circuit.xor(one, other), carry))
        if bit < BITS - 1:
            both = circuit.conjunction(circuit.xor(one, carry), circuit.xor(other, carry))
            carry = circuit.xor(both, carry)
    return total


def _below(circuit: Circuit, number: list[Wire], bound: int) -> Wire:
    """Whether the number is less than a constant: from the lowest bit up, the highest difference decides."""
    if bound >= 1 << len(number):
        return True
    less: Wire = False
    for place, bit in enumerate(number):
        if bound >> place & 1:
            less = circuit.negate(circuit.conjunction(bit, circuit.negate(less)))
        else:
            less = circuit.conjunction(less, circuit.negate(bit))
    return less
