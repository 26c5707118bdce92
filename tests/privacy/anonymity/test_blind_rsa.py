"""Blind signatures: the vectors of RFC 9474, and signers and clients that cheat."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from deniable.errors import BadMessage, InvalidParameter
from deniable.privacy.anonymity.blind_rsa import BlindPrivateKey, BlindPublicKey, encode_message

VECTORS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("vectors").joinpath("rfc9474-blind-rsa.json").read_text())


@cache
def signer(number: int = 0) -> BlindPrivateKey:
    """A key of the vectors: making one takes long."""
    numbers = {name: int(VECTORS[number][name], 16) for name in "pqden"}
    public = BlindPublicKey(numbers["n"], numbers["e"], len(VECTORS[number]["salt"]) // 2)
    return BlindPrivateKey(public, numbers["p"], numbers["q"], numbers["d"])


@pytest.mark.parametrize("number", [0, 1], ids=["with salt", "without salt"])
def test_the_rfcs_vectors(number: int) -> None:
    vector, public = VECTORS[number], signer(number).public
    message, salt = bytes.fromhex(vector["msg"]), bytes.fromhex(vector["salt"])
    assert encode_message(message, salt, public.modulus.bit_length() - 1).hex() == vector["encoded_msg"]
    hidden = public.blind(message, salt=salt, inverse=int(vector["inv"], 16))
    assert hidden.data.hex() == vector["blinded_msg"]
    signed = signer(number).sign(hidden.data)
    assert signed.hex() == vector["blind_sig"]
    signature = public.finalize(hidden, signed)
    assert signature.hex() == vector["sig"]
    assert public.verify(message, signature)
    assert not public.verify(message + b"!", signature)


def test_the_signer_sees_another_number_each_time() -> None:
    public = signer().public
    one, other = public.blind(b"message"), public.blind(b"message")
    assert one.data != other.data
    # Even with one salt: the blinding factor alone hides the message.
    salt = bytes(public.salt_length)
    plain = public.blind(b"message", salt=salt, inverse=1).data
    assert len({plain, *(public.blind(b"message", salt=salt).data for _ in range(3))}) == 4
    assert public.verify(b"message", public.finalize(one, signer().sign(one.data)))


def test_an_answer_for_another_message_is_noticed() -> None:
    public = signer().public
    one, other = public.blind(b"one"), public.blind(b"other")
    for wrong in (signer().sign(other.data), b"", bytes(public.size), public.modulus.to_bytes(public.size, "big")):
        with pytest.raises(BadMessage):
            public.finalize(one, wrong)


def test_what_is_not_a_number_below_the_modulus_is_not_signed() -> None:
    size = signer().public.size
    for wrong in (b"", bytes(size - 1), bytes(size + 1), signer().public.modulus.to_bytes(size, "big"), b"\xff" * size):
        with pytest.raises(BadMessage, match="below the modulus"):
            signer().sign(wrong)


def test_a_signature_with_a_fault_does_not_leave() -> None:
    """With one half of the arithmetic wrong, the signature would be a factor of the modulus away from giving the key."""
    faulty = replace(signer(), d=signer().d)
    faulty.__dict__["_parts"] = (signer()._parts[0] ^ 1, *signer()._parts[1:])
    with pytest.raises(BadMessage, match="not computed correctly"):
        faulty.sign(faulty.public.blind(b"message").data)


def test_a_short_key_is_refused_and_a_key_shows_nothing() -> None:
    with pytest.raises(InvalidParameter, match="2048"):
        BlindPrivateKey.of(rsa.generate_private_key(65537, 1024))
    assert str(signer().p) not in repr(signer())
    assert str(signer().d) not in repr(signer())
    hidden = signer().public.blind(b"secret")
    assert "secret" not in repr(hidden)
    assert str(hidden.inverse) not in repr(hidden)
