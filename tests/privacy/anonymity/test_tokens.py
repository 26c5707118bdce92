"""Privacy Pass tokens: the vectors of RFC 9578, and tokens, requests and answers that are not what they should be."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from deniable.errors import BadMessage, InvalidParameter
from deniable.privacy.anonymity.blind_rsa import BlindPrivateKey
from deniable.privacy.anonymity.tokens import (
    PRIVATE,
    PUBLIC,
    PrivateTokenIssuer,
    PublicTokenIssuer,
    Token,
    TokenChallenge,
    public_key_from_bytes,
)
from deniable.privacy.anonymity.voprf import EvaluationKey

VECTORS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("vectors").joinpath("rfc9578-privacy-pass.json").read_text())[
    "vectors"
]


def _challenge(data: bytes) -> TokenChallenge:
    """The parts of a published challenge."""
    issuer_end = 4 + int.from_bytes(data[2:4], "big")
    context_end = issuer_end + 1 + data[issuer_end]
    return TokenChallenge(
        int.from_bytes(data[:2], "big"),
        data[4:issuer_end].decode(),
        data[issuer_end + 1 : context_end],
        data[context_end + 2 :].decode(),
    )


@cache
def _public_issuer() -> PublicTokenIssuer:
    key = load_pem_private_key(bytes.fromhex(VECTORS[-1]["skS"]), None)
    assert isinstance(key, rsa.RSAPrivateKey)
    return PublicTokenIssuer(BlindPrivateKey.of(key))


@pytest.mark.parametrize("number", range(10))
def test_the_rfcs_vectors(number: int) -> None:
    vector = {name: bytes.fromhex(value) for name, value in VECTORS[number].items()}
    challenge = _challenge(vector["token_challenge"])
    assert challenge.to_bytes() == vector["token_challenge"]
    issuer: PublicTokenIssuer | PrivateTokenIssuer
    if challenge.token_type == PUBLIC:
        key = load_pem_private_key(vector["skS"], None)
        assert isinstance(key, rsa.RSAPrivateKey)
        issuer = PublicTokenIssuer(BlindPrivateKey.of(key))
        blind = int.from_bytes(vector["blind"], "big")
        pending = issuer.public.ask(
            challenge, nonce=vector["nonce"], salt=vector["salt"], inverse=pow(blind, -1, issuer.key.public.modulus)
        )
        assert issuer.issue(pending.request) == vector["token_response"]
    else:
        issuer = PrivateTokenIssuer(EvaluationKey(int.from_bytes(vector["skS"], "big")))
        pending = issuer.public.ask(challenge, nonce=vector["nonce"], blind=int.from_bytes(vector["blind"], "big"))
        assert issuer.issue(pending.request)[:49] == vector["token_response"][:49]  # its proof is drawn afresh
    assert issuer.public_bytes == vector["pkS"]
    assert public_key_from_bytes(vector["pkS"]) == issuer.public
    assert pending.request == vector["token_request"]
    token = issuer.public.receive(pending, vector["token_response"])
    assert token.to_bytes() == vector["token"]
    assert issuer.accepts(Token.from_bytes(vector["token"]))


def issuers() -> list[PublicTokenIssuer | PrivateTokenIssuer]:
    return [_public_issuer(), PrivateTokenIssuer(EvaluationKey.derived(bytes(32), b"tests"))]


@pytest.mark.parametrize("number", [0, 1], ids=["public", "private"])
def test_a_changed_token_is_not_accepted(number: int) -> None:
    issuer = issuers()[number]
    pending = issuer.public.ask(TokenChallenge(issuer.token_type, "issuer", bytes(32), "survey"))
    token = issuer.public.receive(pending, issuer.issue(pending.request))
    assert issuer.accepts(token)
    for changed in (
        replace(token, nonce=bytes(32)),
        replace(token, challenge_digest=bytes(32)),
        replace(token, key_id=bytes(32)),
        replace(token, authenticator=token.authenticator[:-1] + bytes([token.authenticator[-1] ^ 1])),
        replace(token, token_type=PUBLIC + PRIVATE - token.token_type),
    ):
        assert not issuer.accepts(changed)


@pytest.mark.parametrize("number", [0, 1], ids=["public", "private"])
def test_requests_and_answers_that_are_wrong_are_refused(number: int) -> None:
    issuer, other = issuers()[number], issuers()[1 - number]
    pending = issuer.public.ask(TokenChallenge(issuer.token_type, "issuer"))
    good = pending.request
    for request in (b"", good[:-1], good + b"\0", b"\0" + good[1:-1], good[:2] + b"\xee" + good[3:]):
        with pytest.raises(BadMessage):
            issuer.issue(request)
    answer = issuer.issue(pending.request)
    for wrong in (b"", answer[:-1], bytes(len(answer)), answer[:-1] + bytes([answer[-1] ^ 1])):
        with pytest.raises(BadMessage):
            issuer.public.receive(pending, wrong)
    with pytest.raises(InvalidParameter, match="other type"):
        other.public.receive(pending, answer)
    with pytest.raises(BadMessage):
        other.issue(pending.request)


@pytest.mark.parametrize("data", [b"", b"\0\x03" + bytes(352), b"\0\x02" + bytes(351), b"\0\x01" + bytes(145)])
def test_what_is_not_a_token_is_refused(data: bytes) -> None:
    with pytest.raises(BadMessage):
        Token.from_bytes(data)


def test_what_is_not_a_key_is_refused() -> None:
    good = _public_issuer().public_bytes
    for wrong in (b"", good[:-1], good + b"\0", b"\x30" + bytes(60), good[:40] + b"\xff" + good[41:], bytes(49)):
        with pytest.raises(BadMessage):
            public_key_from_bytes(wrong)
    with pytest.raises(InvalidParameter, match="32 bytes"):
        TokenChallenge(PUBLIC, "issuer", bytes(31)).to_bytes()


def test_two_requests_of_one_person_have_nothing_in_common() -> None:
    issuer = _public_issuer()
    challenge = TokenChallenge(PUBLIC, "issuer", bytes(32), "survey")
    one, other = issuer.public.ask(challenge), issuer.public.ask(challenge)
    assert one.request[:3] == other.request[:3]
    shared = sum(a == b for a, b in zip(one.request[3:], other.request[3:], strict=True))
    assert shared < 20  # of 256 bytes; 1 is expected, and this many once in 10**16 runs
