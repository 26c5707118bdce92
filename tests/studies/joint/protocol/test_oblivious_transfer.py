"""The chooser gets the key of his choice, and only that one; the sender does not see which."""

from __future__ import annotations

import secrets

import pytest

from deniable.errors import BadMessage
from deniable.studies.joint.protocol.oblivious_transfer import TransferChooser, TransferSender, transfer_key
from deniable.studies.joint.protocol.ristretto import checked_point
from deniable.studies.joint.protocol.transfer_extension import COLUMNS, ExtendedChooser, ExtendedSender

SESSION = b"session of the test"


def test_the_chooser_gets_the_chosen_keys_only() -> None:
    choices = [0, 1, 1, 0, 1]
    sender = TransferSender(SESSION)
    chooser = TransferChooser(SESSION, sender.opening, choices)
    pairs = sender.keys(chooser.replies)
    for pair, key, choice in zip(pairs, chooser.keys, choices, strict=True):
        assert pair[choice] == key
        assert pair[1 - choice] != key
    assert len({key for pair in pairs for key in pair}) == 10


def test_replies_are_points_whatever_the_choice() -> None:
    sender = TransferSender(SESSION)
    for choice in (0, 1):
        chooser = TransferChooser(SESSION, sender.opening, [choice] * 3)
        assert len(chooser.replies) == 96
        assert all(checked_point(chooser.replies[at : at + 32]) for at in (0, 32, 64))


def test_keys_belong_to_a_session_and_a_place() -> None:
    key = transfer_key(SESSION, 0, b"a", b"b", b"c")
    assert key != transfer_key(SESSION, 1, b"a", b"b", b"c")
    assert key != transfer_key(b"other", 0, b"a", b"b", b"c")


@pytest.mark.parametrize("point", [bytes(32), b"\xff" * 32, b"short", b"\x01" * 32])
def test_what_is_no_point_is_refused(point: bytes) -> None:
    with pytest.raises(BadMessage, match="point"):
        TransferChooser(SESSION, point, [0])
    with pytest.raises(BadMessage, match="point"):
        TransferSender(SESSION).keys(point)


def test_extended_transfers_are_transfers() -> None:
    base = TransferSender(SESSION)
    choices = [secrets.randbits(1) for _ in range(COLUMNS)]
    base_chooser = TransferChooser(SESSION, base.opening, choices)
    chooser = ExtendedChooser(base.keys(base_chooser.replies))
    sender = ExtendedSender(choices, base_chooser.keys)
    seen = set()
    for count in (64, 3, 64):
        wanted = [secrets.randbits(1) for _ in range(count)]
        correction, keys = chooser.choose(wanted)
        pairs = sender.keys(correction, count)
        for pair, key, bit in zip(pairs, keys, wanted, strict=True):
            assert pair[bit] == key
            assert pair[1 - bit] != key
        seen |= {key for pair in pairs for key in pair}
    assert len(seen) == 2 * (64 + 3 + 64)
    with pytest.raises(BadMessage, match="length"):
        sender.keys(b"short", 64)
