"""The JavaScript client, in Node, against a collector that takes reports only with a token."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from tests.collector.limited import limited

from deniable.collector import Store

SDK = Path(__file__).parents[2] / "sdk" / "js"
NODE = shutil.which("node")
SCRIPT = """
import { Ledger, MemoryStore, Session } from "./src/index.js";
const [address, hash, token] = process.argv.slice(1);
const ledger = new Ledger(new MemoryStore());
const device = await Session.open(address, hash, ledger);
const refused = await device.answer({ commute: "bus" }).catch((error) => error.name);
device.useToken(token);
const sent = await device.deliver();
const another = await Session.open(address, hash, new Ledger(new MemoryStore()), { token });
console.log(JSON.stringify([refused, sent, (await another.answer({ commute: "car" })).delivered]));
"""


@pytest.mark.skipif(NODE is None, reason="Node is not installed: the JavaScript client is not tested here")
def test_node_carries_a_token(tmp_path: Path) -> None:
    with limited(tmp_path, submit_needs_token=True) as running:
        store = Store(f"sqlite:///{tmp_path / 'collector.db'}")
        token = store.add_token("kiosk", "submit")
        command = [str(NODE), "--input-type=module", "-e", SCRIPT, running.address, running.hash, token]
        done = subprocess.run(command, cwd=SDK, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == ["NotAdmitted", 1, True]
        assert store.counted() == {running.hash: 2}
        store.close()


@pytest.mark.skipif(NODE is None, reason="Node is not installed: the JavaScript client is not tested here")
def test_node_takes_no_password_in_an_address() -> None:
    script = """
import { Ledger, MemoryStore, Session } from "./src/index.js";
const tried = Session.open("https://user:a-password@survey.example.org", "0".repeat(64), new Ledger(new MemoryStore()));
console.log(await tried.catch((error) => `${error.name}: ${error.message}`));
"""
    command = [str(NODE), "--input-type=module", "-e", script]
    done = subprocess.run(command, cwd=SDK, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.startswith("InvalidParameter: collector must not hold a name or a password")
    assert "a-password" not in done.stdout + done.stderr
