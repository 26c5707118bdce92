"""The JavaScript client's own tests, run by Node: vectors, survey checks, ledger, session."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

SDK = Path(__file__).parents[2] / "sdk" / "js"
NODE = shutil.which("node")


@pytest.mark.skipif(NODE is None, reason="Node is not installed: the JavaScript client is not tested here")
def test_the_javascript_client_passes_its_tests() -> None:
    # Fourteen hours ahead of UTC: whoever asks the device which day it is gets another one.
    there = {**os.environ, "TZ": "Pacific/Kiritimati"}
    done = subprocess.run(
        [str(NODE), "--test", "test/"], cwd=SDK, env=there, capture_output=True, text=True, timeout=120, check=False
    )
    counts = dict(re.findall(r"^# (tests|pass|fail|skipped) (\d+)$", done.stdout, re.MULTILINE))
    assert done.returncode == 0, done.stdout[-4000:]
    assert int(counts["pass"]) == int(counts["tests"]) > 200


def test_the_client_depends_on_nothing_and_imports_only_itself() -> None:
    for path in (SDK / "src").rglob("*.js"):
        allowed = ("./", "../", "node:") if path.name == "file-store.js" else ("./", "../")
        for found in re.findall(r'(?:from|import)\s*\(?\s*"([^"]+)"', path.read_text()):
            assert found.startswith(allowed), f"{path.name} imports {found}"
        assert len(path.read_text().splitlines()) <= 330
