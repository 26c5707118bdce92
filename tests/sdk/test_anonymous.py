"""The JavaScript client's whole anonymous path, in Node: tokens of an issuer, through a relay and a shuffler, to a collector."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from tests.collector.anonymous import ANALYST, toml_with
from tests.collector.running import call
from tests.collector.test_anonymous_faults import Role

from deniable.collector import issuer_key

SDK = Path(__file__).parents[2] / "sdk" / "js"
NODE = shutil.which("node")
PEOPLE = 8
SCRIPT = """
import { Ledger, MemoryStore, Session, Wallet, throughRelay } from "./src/index.js";
const [relay, collector, hash, ...codes] = process.argv.slice(1);
async function open(wallet, ledger = new Ledger(new MemoryStore())) {
  return Session.open(collector, hash, ledger, { fetch: await throughRelay(relay), wallet });
}
const { survey } = await open(new Wallet(new MemoryStore()));
const name = (error) => error.name;
const told = { left: [], delivered: [] };

// An issuer's answer that is lost costs no token: the same requests are sent again.
const first = new Wallet(new MemoryStore());
const bodies = [];
const losing = async (url, request) => {
  bodies.push(Buffer.from(request.body).toString("hex"));
  await (await fetch(url, request)).arrayBuffer();
  throw new Error("lost");
};
told.lost = await first.fetch(survey, codes[0], { fetch: losing }).catch(name);
const noting = (url, request) => (bodies.push(Buffer.from(request.body).toString("hex")), fetch(url, request));
told.left.push(await first.fetch(survey, codes[0], { fetch: noting }));
told.same = bodies.length === 2 && bodies[0] === bodies[1];
told.again = await new Wallet(new MemoryStore()).fetch(survey, codes[0]).catch(name);
told.unknown = await new Wallet(new MemoryStore()).fetch(survey, "not-a-code").catch(name);

const wallets = [first];
for (const code of codes.slice(1)) {
  wallets.push(new Wallet(new MemoryStore()));
  told.left.push(await wallets.at(-1).fetch(survey, code));
}
for (const wallet of wallets) told.delivered.push((await (await open(wallet)).answer({ commute: "bus" })).delivered);
told.spent = await first.left(hash);

// A second answer of the same person has no token; the report waits.
const waiting = new Ledger(new MemoryStore());
told.second = await (await open(first, waiting)).answer({ commute: "car" }).catch(name);
told.waiting = (await waiting.pending(hash)).length;
// A token that was spent on another report is refused.
const copy = new MemoryStore();
const held = await first.store.update((text) => [null, text]);
await copy.update(() => [JSON.stringify(JSON.parse(held), (field, value) => (field === "report" ? null : value)), undefined]);
told.twice = await (await open(new Wallet(copy))).answer({ commute: "car" }).catch((error) => error.message);
console.log(JSON.stringify(told));
"""


@pytest.mark.heavy
@pytest.mark.skipif(NODE is None, reason="Node is not installed: the JavaScript client is not tested here")
def test_node_fetches_tokens_and_answers_through_relay_and_shuffler(tmp_path: Path) -> None:
    codes = [os.urandom(16).hex() for _ in range(PEOPLE)]
    for name, text in (("codes.txt", "\n".join(codes)), ("analyst.key", f"0 {ANALYST.private_bytes_raw().hex()}\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o600)
    key = issuer_key(tmp_path / "issuer.pem", new=True).text
    roles: list[Role] = []
    try:
        issuing = ("--key", str(tmp_path / "issuer.pem"), "--invitations", str(tmp_path / "codes.txt"))
        roles.append(Role(tmp_path / "issuer", "issuer", *issuing))
        (tmp_path / "survey.toml").write_text(toml_with(issuer=roles[0].address, key=key, reports=PEOPLE))
        counting = (str(tmp_path / "survey.toml"), "--analyst-key", str(tmp_path / "analyst.key"))
        roles.append(Role(tmp_path / "collector", "serve", *counting))
        url = roles[1].said["surveys"][0]["url"]
        mixing = ("--at-least", "2", "--gateway-keys", str(tmp_path / "shuffler.keys"))
        roles.append(Role(tmp_path / "shuffler", "shuffle", url, *mixing))
        roles.append(Role(tmp_path / "relay", "relay", "--gateway", roles[2].address))
        given = [roles[3].address, roles[2].address, url.rsplit("/", 1)[1], *codes]
        command = [str(NODE), "--input-type=module", "-e", SCRIPT, *given]
        done = subprocess.run(command, cwd=SDK, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert told.pop("twice").startswith("the collector refused the report permanently (status 409)")
        assert told == {
            "lost": "NotDelivered",
            "left": [1] * PEOPLE,
            "same": True,
            "again": "NotAdmitted",
            "unknown": "NotAdmitted",
            "delivered": [True] * PEOPLE,
            "spent": 0,
            "second": "NotAdmitted",
            "waiting": 1,
        }
        for _ in range(300):
            if json.loads(call(f"{url}/estimates")[1])["n"] == PEOPLE:
                break
            time.sleep(0.2)
        assert json.loads(call(f"{url}/estimates")[1])["n"] == PEOPLE
    finally:
        for role in reversed(roles):
            role.end()
