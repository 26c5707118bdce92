"""Two users draw (T1, T2) together; each learns only his own.

R = (r1 + r2) mod 2**64 is uniform as soon as one of the two numbers is. User 1 garbles the circuit that compares R
with the thresholds, user 2 evaluates it, having got the labels of r2 by oblivious transfer.

    1 -> 2   opening      32 bytes            start of the transfers
    2 -> 1   choices      2048 bytes          one point for each bit of r2
    1 -> 2   circuit      rows, labels of r1, both labels of r2 sealed by the transfer keys
    2 -> 1   answer       16 bytes            the label of T1; only user 1 knows which bit it means
    1 -> 2   meaning      1 byte              the colour of T2 = 0; only user 2 has the label it belongs to

What each sees can be made from his own indicator alone: user 1 sees random points and the label of his own T1;
user 2 sees labels and rows that look uniform, and a colour that follows from his label and his own T2.

Semi-honest. Both must follow the protocol: a user 1 who garbles another circuit decides T2 by himself, and so can
see through user 2's answer. Whoever cannot trust a stranger's software that far should answer alone. If the other
side stops, no indicator is returned: answer alone, by `Thresholds.alone`, with fresh coins.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from deniable.errors import BadMessage
from deniable.studies.joint.protocol.circuit import pair_circuit
from deniable.studies.joint.protocol.conversation import Conversation, Hear, Say
from deniable.studies.joint.protocol.garbling import LABEL, Garbled, evaluate, garble
from deniable.studies.joint.protocol.hashing import tagged_hash
from deniable.studies.joint.protocol.oblivious_transfer import TransferChooser, TransferSender
from deniable.studies.joint.protocol.ristretto import SIZE
from deniable.studies.joint.protocol.thresholds import BITS, Thresholds
from deniable.studies.joint.protocol.transfer_extension import COLUMNS, ExtendedChooser, ExtendedSender

OPENING, CHOICES, CIRCUIT, ANSWER, MEANING, BASE_OPENING, BASE_CHOICES = range(1, 8)


def session_key(thresholds: Thresholds, context: bytes, draw: int = 0) -> bytes:
    """32 bytes that bind a draw to its law, its pair and its number: other circumstances, other hashes."""
    return tagged_hash("session", thresholds.to_bytes(), context, draw.to_bytes(8, "big"))


def draw_as_first(thresholds: Thresholds, context: bytes) -> Conversation[bool]:
    """User 1's side of one draw; returns T1."""
    session = session_key(thresholds, context)
    transfer = TransferSender(session)
    yield Say(OPENING, transfer.opening)
    replies = yield Hear(CHOICES, BITS * SIZE)
    return (yield from _garbler(thresholds, session, transfer.keys(replies)))


def draw_as_second(thresholds: Thresholds, context: bytes) -> Conversation[bool]:
    """User 2's side of one draw; returns T2."""
    session = session_key(thresholds, context)
    bits = _bits(secrets.randbits(BITS))
    opening = yield Hear(OPENING, SIZE)
    transfer = TransferChooser(session, opening, bits)
    yield Say(CHOICES, transfer.replies)
    return (yield from _evaluator(thresholds, session, bits, transfer.keys))


def draw_many_as_first(thresholds: Thresholds, context: bytes, count: int) -> Conversation[list[bool]]:
    """User 1's side of many draws with the same partner: 128 base transfers, then only hashing."""
    base = tagged_hash("base", session_key(thresholds, context))
    opening = yield Hear(BASE_OPENING, SIZE)
    choices = [secrets.randbits(1) for _ in range(COLUMNS)]
    chooser = TransferChooser(base, opening, choices)
    yield Say(BASE_CHOICES, chooser.replies)
    sender = ExtendedSender(choices, chooser.keys)
    drawn = []
    for draw in range(count):
        correction = yield Hear(CHOICES, COLUMNS * BITS // 8)
        session = session_key(thresholds, context, 1 + draw)
        drawn.append((yield from _garbler(thresholds, session, sender.keys(correction, BITS))))
    return drawn


def draw_many_as_second(thresholds: Thresholds, context: bytes, count: int) -> Conversation[list[bool]]:
    """User 2's side of many draws with the same partner."""
    base = TransferSender(tagged_hash("base", session_key(thresholds, context)))
    yield Say(BASE_OPENING, base.opening)
    replies = yield Hear(BASE_CHOICES, COLUMNS * SIZE)
    chooser = ExtendedChooser(base.keys(replies))
    drawn = []
    for draw in range(count):
        bits = _bits(secrets.randbits(BITS))
        correction, keys = chooser.choose(bits)
        yield Say(CHOICES, correction)
        drawn.append((yield from _evaluator(thresholds, session_key(thresholds, context, 1 + draw), bits, keys)))
    return drawn


def _garbler(thresholds: Thresholds, session: bytes, keys: Sequence[tuple[bytes, bytes]]) -> Conversation[bool]:
    garbled = garble(pair_circuit(thresholds), session)
    own = (garbled.input_label(wire, bit) for wire, bit in enumerate(_bits(secrets.randbits(BITS))))
    yield Say(CIRCUIT, garbled.rows + b"".join(map(_label_bytes, own)) + _sealed(garbled, keys))
    answer = int.from_bytes((yield Hear(ANSWER, LABEL)), "big")
    truth = garbled.outputs[0] ^ answer
    if truth not in (0, garbled.difference):
        raise BadMessage("the answer is not a label of this circuit; the draw is void")
    yield Say(MEANING, bytes([garbled.outputs[1] & 1]))
    return truth != 0


def _evaluator(thresholds: Thresholds, session: bytes, bits: Sequence[int], keys: Sequence[bytes]) -> Conversation[bool]:
    circuit = pair_circuit(thresholds)
    size = 2 * LABEL * circuit.ands
    message = yield Hear(CIRCUIT, size + 3 * BITS * LABEL)
    labels = [_label(message, size + LABEL * wire) for wire in range(BITS)]
    sealed = size + LABEL * BITS
    for wire, (bit, key) in enumerate(zip(bits, keys, strict=True)):
        labels.append(_label(message, sealed + LABEL * (2 * wire + bit)) ^ int.from_bytes(key, "big"))
    answer, own = evaluate(circuit, message[:size], labels, session)
    yield Say(ANSWER, _label_bytes(answer))
    meaning = yield Hear(MEANING, 1)
    if meaning[0] > 1:
        raise BadMessage("the meaning of an indicator must be 0 or 1; the draw is void")
    return (own & 1) != meaning[0]


def _sealed(garbled: Garbled, keys: Sequence[tuple[bytes, bytes]]) -> bytes:
    sealed = bytearray()
    for wire, pair in enumerate(keys):
        for value, key in enumerate(pair):
            sealed += _label_bytes(garbled.input_label(BITS + wire, value) ^ int.from_bytes(key, "big"))
    return bytes(sealed)


def _bits(number: int) -> list[int]:
    return [number >> place & 1 for place in range(BITS)]


def _label(message: bytes, start: int) -> int:
    return int.from_bytes(message[start : start + LABEL], "big")


def _label_bytes(label: int) -> bytes:
    return label.to_bytes(LABEL, "big")
