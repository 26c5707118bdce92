"""Garbled circuits: free XOR, point-and-permute, and half gates (two 16-byte rows for each AND).

Labels are 128-bit integers whose lowest bit is the colour. `difference` has colour 1 and never leaves the garbler.
The hash is BLAKE2b with the session as its key and the gate's number inside.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from deniable.studies.joint.protocol.circuit import Circuit

LABEL = 16
"""Bytes of a label."""


@dataclass(frozen=True)
class Garbled:
    """A garbled circuit and all that only the garbler knows about it."""

    rows: bytes
    """What the evaluator gets: 32 bytes for each AND."""
    inputs: tuple[int, ...] = field(repr=False)
    """The label that means 0, for each input."""
    outputs: tuple[int, ...] = field(repr=False)
    """The label that means 0, for each output."""
    difference: int = field(repr=False)

    def input_label(self, wire: int, value: int) -> int:
        """The label of a value on an input wire."""
        return self.inputs[wire] ^ (self.difference * value)


def garble(circuit: Circuit, session: bytes) -> Garbled:
    """Encrypt a circuit under fresh labels."""
    difference = secrets.randbits(128) | 1
    wires = [secrets.randbits(128) for _ in range(circuit.inputs)]
    rows = bytearray()
    count = 0
    for operation, one, other in circuit.gates:
        left = wires[one]
        if operation == "xor":
            wires.append(left ^ wires[other])
        elif operation == "not":
            wires.append(left ^ difference)
        else:
            right = wires[other]
            left_hash, right_hash = label_hash(session, left, count), label_hash(session, right, count + 1)
            colour = right & 1
            first = left_hash ^ label_hash(session, left ^ difference, count) ^ (difference * colour)
            second = right_hash ^ label_hash(session, right ^ difference, count + 1) ^ left
            rows += first.to_bytes(LABEL, "big") + second.to_bytes(LABEL, "big")
            wires.append(left_hash ^ (first * (left & 1)) ^ right_hash ^ ((second ^ left) * colour))
            count += 2
    outputs = tuple(wires[wire] for wire in circuit.outputs)
    return Garbled(bytes(rows), tuple(wires[: circuit.inputs]), outputs, difference)


def evaluate(circuit: Circuit, rows: bytes, labels: Sequence[int], session: bytes) -> tuple[int, ...]:
    """The output labels, from one label for each input."""
    wires = list(labels)
    count = 0
    for operation, one, other in circuit.gates:
        left = wires[one]
        if operation == "xor":
            wires.append(left ^ wires[other])
        elif operation == "not":
            wires.append(left)
        else:
            right = wires[other]
            first = int.from_bytes(rows[count * LABEL : (count + 1) * LABEL], "big")
            second = int.from_bytes(rows[(count + 1) * LABEL : (count + 2) * LABEL], "big")
            half = label_hash(session, left, count) ^ (first * (left & 1))
            wires.append(half ^ label_hash(session, right, count + 1) ^ ((second ^ left) * (right & 1)))
            count += 2
    return tuple(wires[wire] for wire in circuit.outputs)


def label_hash(session: bytes, label: int, place: int) -> int:
    """128 bits of a label at a place in the circuit."""
    data = label.to_bytes(LABEL, "big") + place.to_bytes(4, "big")
    return int.from_bytes(hashlib.blake2b(data, digest_size=LABEL, key=session, person=b"deniable garble").digest(), "big")
