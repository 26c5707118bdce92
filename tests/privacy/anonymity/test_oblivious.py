"""Oblivious HTTP: the complete example of RFC 9458 byte by byte, and messages that are not what they should be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from deniable.errors import BadMessage, InvalidParameter
from deniable.privacy.anonymity import hpke
from deniable.privacy.anonymity.binary_http import (
    HttpRequest,
    HttpResponse,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
)
from deniable.privacy.anonymity.oblivious import GatewayKeys, KeyConfiguration, UnknownKey, decode_keys, encapsulate, encode_keys

EXAMPLE = {
    name: bytes.fromhex(value) if name != "source" else value
    for name, value in json.loads(Path(__file__).with_name("vectors").joinpath("rfc9458-ohttp.json").read_text()).items()
}
GATEWAY = X25519PrivateKey.from_private_bytes(EXAMPLE["gateway_secret_key"])
KEYS = GatewayKeys({1: GATEWAY})


def test_the_rfcs_complete_example_byte_by_byte() -> None:
    key = KeyConfiguration.from_bytes(EXAMPLE["key_configuration"])
    assert key == KeyConfiguration(1, GATEWAY.public_key().public_bytes_raw())
    message = encode_request(HttpRequest(b"GET", b"https", b"example.com", b"/"))
    assert message == EXAMPLE["request_bhttp"]
    ephemeral = X25519PrivateKey.from_private_bytes(EXAMPLE["client_ephemeral_secret_key"])
    sent = encapsulate(key, message, ephemeral=ephemeral)
    assert sent.data == EXAMPLE["encapsulated_request"]

    received = KEYS.open(sent.data)
    assert decode_request(received.message) == HttpRequest(b"GET", b"https", b"example.com", b"/")
    assert received.context.export(b"message/bhttp response", 16) == EXAMPLE["exported_secret"]
    nonce = EXAMPLE["salt"][hpke.ENCAPSULATED :]
    assert hpke.extract(EXAMPLE["salt"], EXAMPLE["exported_secret"]) == EXAMPLE["prk"]
    reply = received.reply(encode_response(HttpResponse(200)), nonce=nonce)
    assert reply == EXAMPLE["encapsulated_response"]
    assert sent.open_reply(reply) == EXAMPLE["response_bhttp"]
    assert decode_response(sent.open_reply(reply)) == HttpResponse(200)


def test_every_message_has_the_size_that_was_agreed() -> None:
    for body in (b"", b"x", b"y" * 900):
        request = HttpRequest(b"POST", b"https", b"collector", b"/v1", ((b"content-type", b"application/json"),), body)
        data = encode_request(request, 1024)
        assert len(data) == 1024
        assert decode_request(data) == request
        response = HttpResponse(503, ((b"retry-after", b"1"),), body)
        assert decode_response(encode_response(response, 1024)) == response
    with pytest.raises(InvalidParameter, match="does not fit"):
        encode_request(HttpRequest(b"POST", b"https", b"collector", b"/v1", (), b"y" * 1024), 1024)


@pytest.mark.parametrize("size", [1, 63, 64, 16383, 16384, 70000])
def test_lengths_of_every_width_come_back(size: int) -> None:
    request = HttpRequest(b"POST", b"https", b"a", b"/", (), bytes(size - 1) + b"z")
    assert decode_request(encode_request(request)) == request


def test_every_cut_and_every_changed_byte_of_a_request_is_refused() -> None:
    data = encapsulate(KeyConfiguration(1, GATEWAY.public_key().public_bytes_raw()), b"message").data
    for length in range(len(data)):
        with pytest.raises(BadMessage):
            KEYS.open(data[:length])
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 1
        with pytest.raises(BadMessage):
            KEYS.open(bytes(changed))


def test_every_cut_and_every_changed_byte_of_a_reply_is_refused() -> None:
    sent = encapsulate(KeyConfiguration(1, GATEWAY.public_key().public_bytes_raw()), b"message")
    reply = KEYS.open(sent.data).reply(b"reply")
    for length in range(len(reply)):
        with pytest.raises(BadMessage):
            sent.open_reply(reply[:length])
    for at in range(len(reply)):
        with pytest.raises(BadMessage):
            sent.open_reply(reply[:at] + bytes([reply[at] ^ 1]) + reply[at + 1 :])


def test_a_request_for_a_forgotten_key_says_so_and_rotation_keeps_the_last_one() -> None:
    first = decode_keys(KEYS.published())
    rotated = KEYS.rotated()
    assert rotated.open(encapsulate(first, b"late").data).message == b"late"
    assert decode_keys(rotated.published()).key_id == 2
    with pytest.raises(UnknownKey, match="fetch its keys again"):
        rotated.rotated().open(encapsulate(first, b"too late").data)


def test_a_list_of_keys_is_read_to_the_first_one_that_can_be_used() -> None:
    own = KeyConfiguration(7, GATEWAY.public_key().public_bytes_raw())
    foreign = b"\x05\x00\x10" + bytes(65) + b"\x00\x04" + bytes.fromhex("00010001")
    data = len(foreign).to_bytes(2, "big") + foreign + encode_keys([own])
    assert decode_keys(data) == own
    for wrong in (b"", data[:-1], len(foreign).to_bytes(2, "big") + foreign, b"\x00\x02\x01\x00"):
        with pytest.raises(BadMessage):
            decode_keys(wrong)


@pytest.mark.parametrize("public", [bytes(32), bytes([1]) + bytes(31)])
def test_a_key_of_small_order_is_refused(public: bytes) -> None:
    with pytest.raises(BadMessage, match="X25519"):
        encapsulate(KeyConfiguration(1, public), b"message")


@pytest.mark.parametrize(
    "data", [b"", b"\x02", b"\x00\x03GE", b"\x01\x40\x64", b"\x01\x10", b"\x00\x01G\x01s\x01a\x01/\x00\x00\x00\x01", b"\xc0"]
)
def test_malformed_messages_are_refused(data: bytes) -> None:
    for decode in (decode_request, decode_response):
        with pytest.raises(BadMessage):
            decode(data)


def test_nothing_secret_is_in_a_repr() -> None:
    sent = encapsulate(decode_keys(KEYS.published()), b"message")
    received = KEYS.open(sent.data)
    for shown in (repr(sent.context), repr(received), repr(KEYS)):
        assert received.context.key.hex() not in shown
        assert str(received.context.key) not in shown
        assert "message" not in shown.replace("ReceivedRequest", "")
