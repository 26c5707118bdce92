"""Every way by which randomness comes into reports, keys and pairings. Each is opened in the parent, before any fork."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from datetime import date, timedelta
from functools import cache
from pathlib import Path

import numpy as np
from tests.guards.siblings import STRETCH, Draw, Drawn

from deniable.batch import KeystreamCoins, SystemKeystream
from deniable.core import SYSTEM, Categories, Report, make_mechanism
from deniable.studies import BlindRequest, Identity, answer_in_pairs, bounded_pair, random_pairing
from deniable.studies.joint.protocol.circuit import Circuit
from deniable.studies.joint.protocol.garbling import garble
from deniable.studies.joint.protocol.ristretto import random_scalar, scalar_bytes
from deniable.surveys import Client, Ledger, Memo, MockTransport, Session, Submission, batch_head, survey_from_toml

DAILY = survey_from_toml(
    'title="T"\npurpose="P"\nepsilon=1\nbudget=8\nrepeat="each-window"\nwindow="day"\n'
    '[attributes.it]\nquestion="?"\ndomain="categories:a,b,c"\n'
)
HASHED = make_mechanism("olh", domain=Categories(1000), epsilon=2)
"""Its reports hold a seed of 32 bits: four in a row are never equal by chance."""
FOUR = 4


def system_coins() -> Draw:
    SYSTEM.below(1000)
    return lambda: b"".join(SYSTEM.below(1 << 256).to_bytes(32, "big") for _ in range(8))


def small_coins() -> Draw:
    SYSTEM.below(1000)
    return lambda: bytes(SYSTEM.below(251) for _ in range(256))


def reports() -> Draw:
    HASHED.randomize(1)
    return lambda: [HASHED.randomize(7).output for _ in range(32)]


def client_reports() -> Draw:
    client = Client(HASHED.recipe(), max_epsilon=10_000)
    client.randomize(1)
    return lambda: [client.randomize(7) for _ in range(32)]


def _filled(stream: SystemKeystream) -> bytes:
    block = np.zeros(512, np.uint8)
    stream.fill(block)
    return block.tobytes()


def kept_keystream() -> Draw:
    stream = SystemKeystream()
    _filled(stream)
    return lambda: _filled(stream)


def unused_keystream() -> Draw:
    stream = SystemKeystream()
    return lambda: _filled(stream)


def new_keystream() -> Draw:
    _filled(SystemKeystream())
    return lambda: _filled(SystemKeystream())


def spawned_keystream() -> Draw:
    stream = SystemKeystream()
    _filled(stream.spawn())
    return lambda: _filled(stream.spawn())


def kept_keystream_coins() -> Draw:
    coins = KeystreamCoins(SystemKeystream())
    coins.below(1000)
    return lambda: bytes(coins.below(251) for _ in range(256))


def batches() -> Draw:
    HASHED.randomize_many([1] * 10)
    return lambda: list(HASHED.randomize_many([7] * 64).ints())


def submission_keys() -> Draw:
    report = Report(HASHED.fingerprint, 0)
    Submission.fresh(report)
    return lambda: b"".join(Submission.fresh(report).key for _ in range(8))


def batch_keys() -> Draw:
    batch_head(DAILY)
    return lambda: b"".join(batch_head(DAILY)[-16:] for _ in range(8))


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


def _new_file(kind: str) -> Path:
    with open("/dev/urandom", "rb") as system:  # past every stand-in for the generator
        return Path(_folder().name) / f"{kind}-{system.read(8).hex()}"


def session_keys() -> Draw:
    path = _new_file("session")
    Ledger(path)  # one ledger, copied to every child: what is alike in it must not make keys alike

    def draw() -> Drawn:
        own = _new_file("session")
        own.write_bytes(path.read_bytes())
        own.chmod(0o600)
        transport = MockTransport()
        device = Session(DAILY, Ledger(own), "http://localhost:1", transport=transport)
        for day in range(2):
            device.answer({"it": "a"}, today=date(2026, 1, 1) + timedelta(day))
        return b"".join(bytes.fromhex(json.loads(body)["key"]) for _, body, _ in transport.posted)

    return draw


def ledger_secrets() -> Draw:
    return lambda: Ledger(_new_file("ledger"))._key


def memo_secrets() -> Draw:
    return lambda: Memo(_new_file("memo"))._key


def pairings() -> Draw:
    random_pairing(100)
    return lambda: random_pairing(512).tolist()


def pairs_of_answers() -> Draw:
    pair = bounded_pair(1, 2)
    answer_in_pairs(pair, [0, 1])
    return lambda: answer_in_pairs(pair, np.zeros(1024, np.uint8)).tolist()


def garbled_labels() -> Draw:
    circuit = Circuit(16)
    return lambda: b"".join(label.to_bytes(16, "big") for label in garble(circuit, b"session").inputs)


def hidden_requests() -> Draw:
    return lambda: b"".join(BlindRequest.new().key.to_bytes(8, "big")[-7:] for _ in range(16))


def scalars() -> Draw:
    return lambda: b"".join(scalar_bytes(random_scalar()) for _ in range(8))


def identities() -> Draw:
    Identity.new()
    return lambda: b"".join(Identity.new().to_bytes() for _ in range(4))


DOORS: dict[str, tuple[Callable[[], Draw], int]] = {
    "system coins": (system_coins, STRETCH),
    "small coins": (small_coins, STRETCH),
    "reports": (reports, FOUR),
    "client's reports": (client_reports, FOUR),
    "kept keystream": (kept_keystream, STRETCH),
    "unused keystream": (unused_keystream, STRETCH),
    "new keystream": (new_keystream, STRETCH),
    "spawned keystream": (spawned_keystream, STRETCH),
    "kept keystream coins": (kept_keystream_coins, STRETCH),
    "batches": (batches, FOUR),
    "submission keys": (submission_keys, STRETCH),
    "batch keys": (batch_keys, STRETCH),
    "session keys": (session_keys, STRETCH),
    "ledger secrets": (ledger_secrets, STRETCH),
    "memo secrets": (memo_secrets, STRETCH),
    "pairings": (pairings, 16),
    "pairs of answers": (pairs_of_answers, 400),
    "garbled labels": (garbled_labels, STRETCH),
    "hidden requests": (hidden_requests, STRETCH),
    "scalars": (scalars, STRETCH),
    "identities": (identities, STRETCH),
}
ONE_THREAD = {"kept keystream coins"}
REJECTING = {"scalars"}
"""About half of the pieces are thrown away whole, as too large."""
