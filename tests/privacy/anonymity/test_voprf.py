"""Blinded evaluations on P-384: the vectors of RFC 9497, and issuers that use another key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from deniable.errors import BadMessage
from deniable.privacy.anonymity.p384 import GENERATOR, ORDER, POINT, P, Point, random_scalar
from deniable.privacy.anonymity.voprf import EvaluationKey, blind, finalize

SUITE = next(
    suite
    for suite in json.loads(Path(__file__).with_name("vectors").joinpath("rfc9497-voprf.json").read_text())
    if suite["identifier"] == "P384-SHA384" and suite["mode"] == 1
)
KEY = EvaluationKey.derived(bytes.fromhex(SUITE["seed"]), bytes.fromhex(SUITE["keyInfo"]))


def _parts(text: str) -> list[bytes]:
    return [bytes.fromhex(part) for part in text.split(",")]


def test_a_key_is_derived_as_published() -> None:
    assert KEY.secret.to_bytes(48, "big").hex() == SUITE["skSm"]
    assert KEY.public.to_bytes().hex() == SUITE["pkSm"]


@pytest.mark.parametrize("vector", SUITE["vectors"], ids=["one", "another", "two at once"])
def test_the_rfcs_vectors(vector: dict[str, Any]) -> None:
    blinds = [int.from_bytes(part, "big") for part in _parts(vector["Blind"])]
    inputs = [blind(value, factor=factor) for value, factor in zip(_parts(vector["Input"]), blinds, strict=True)]
    assert [one.element.to_bytes() for one in inputs] == _parts(vector["BlindedElement"])
    nonce = int(vector["Proof"]["r"], 16)
    evaluated, proof = KEY.evaluate([one.element for one in inputs], nonce=nonce)
    assert [one.to_bytes() for one in evaluated] == _parts(vector["EvaluationElement"])
    assert proof.hex() == vector["Proof"]["proof"]
    outputs = finalize(inputs, evaluated, proof, KEY.public)
    assert outputs == _parts(vector["Output"])
    assert outputs == [KEY.output(value) for value in _parts(vector["Input"])]


def test_an_issuer_with_another_key_for_some_is_noticed() -> None:
    mine = blind(b"input")
    other = EvaluationKey.generate()
    evaluated, proof = other.evaluate([mine.element])
    with pytest.raises(BadMessage, match="the key it published"):
        finalize([mine], evaluated, proof, KEY.public)
    honest, proof = KEY.evaluate([mine.element])
    for wrong in (proof[:-1], bytes(len(proof)), proof[:48] + proof[:48], b"\xff" * 96):
        with pytest.raises(BadMessage):
            finalize([mine], honest, wrong, KEY.public)
    with pytest.raises(BadMessage):
        finalize([mine], [], proof, KEY.public)


def test_multiples_are_those_of_another_library() -> None:
    for factor in (1, 2, 3, 15, 16, 17, ORDER - 1, random_scalar()):
        numbers = ec.derive_private_key(factor, ec.SECP384R1()).public_key().public_numbers()
        assert GENERATOR * factor == Point(numbers.x, numbers.y)
    assert GENERATOR + GENERATOR == GENERATOR * 2


def test_what_is_not_a_point_is_refused() -> None:
    data = GENERATOR.to_bytes()
    assert Point.from_bytes(data) == GENERATOR
    not_on_it = next(x for x in range(2, 50) if pow((x**3 - 3 * x + 1) % P, (P - 1) // 2, P))  # any x: its square is tried below
    for wrong in (b"", data[:-1], data + b"\0", b"\x04" + data[1:], b"\x02" + P.to_bytes(POINT - 1, "big"), b"\0" * POINT):
        with pytest.raises(BadMessage):
            Point.from_bytes(wrong)
    refused = 0
    for x in range(not_on_it, not_on_it + 20):
        try:
            Point.from_bytes(b"\x02" + x.to_bytes(POINT - 1, "big"))
        except BadMessage:
            refused += 1
    assert 0 < refused < 20
    with pytest.raises(BadMessage, match="neutral"):
        GENERATOR * ORDER
    assert str(KEY.secret) not in repr(KEY)
