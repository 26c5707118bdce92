"""What the documents warn of: a partner who does not follow the protocol fixes the other's coin, and nobody notices."""

from __future__ import annotations

import pytest

from deniable.studies import EXPERIMENTAL, Thresholds, converse_together, draw_as_second
from deniable.studies.joint.protocol.circuit import pair_circuit
from deniable.studies.joint.protocol.conversation import Conversation, Hear, Say
from deniable.studies.joint.protocol.garbling import LABEL, garble
from deniable.studies.joint.protocol.oblivious_transfer import TransferSender
from deniable.studies.joint.protocol.ristretto import SIZE
from deniable.studies.joint.protocol.thresholds import BITS
from deniable.studies.joint.protocol.two_party import ANSWER, CHOICES, CIRCUIT, MEANING, OPENING, session_key

LAW = Thresholds.of("3/4", "-1/6")


def cheat(context: bytes) -> Conversation[None]:
    """User 1, except that both labels of every bit of r2 mean 0, and r1 is 0: the sum is 0, and so T2 is the truth."""
    session = session_key(LAW, context)
    transfer = TransferSender(session)
    yield Say(OPENING, transfer.opening)
    keys = transfer.keys((yield Hear(CHOICES, BITS * SIZE)))
    garbled = garble(pair_circuit(LAW), session)
    own = b"".join(garbled.input_label(wire, 0).to_bytes(LABEL, "big") for wire in range(BITS))
    zero = [garbled.input_label(BITS + wire, 0) for wire in range(BITS)]
    sealed = b"".join(
        (label ^ int.from_bytes(key, "big")).to_bytes(LABEL, "big") for label, pair in zip(zero, keys, strict=True) for key in pair
    )
    yield Say(CIRCUIT, garbled.rows + own + sealed)
    yield Hear(ANSWER, LABEL)
    yield Say(MEANING, bytes([garbled.outputs[1] & 1]))


@pytest.mark.slow
def test_a_cheating_garbler_fixes_the_coin_in_every_draw() -> None:
    """An honest partner's user lies in a quarter of the draws: none in 60 has probability 3e-8."""
    coins = [converse_together(cheat(b"a pair"), draw_as_second(LAW, b"a pair"))[1] for _ in range(60)]
    assert coins == [True] * 60
    assert "trusts both sides to follow it" in EXPERIMENTAL
