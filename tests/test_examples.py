"""Every example runs as it stands and prints something sensible."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*.py") if path.stem != "audit_peer")
"""The audit of another package makes its own environment; the case studies of models have tests of their own."""


def test_every_example_is_listed() -> None:
    page = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"`(\w+\.py)`", page))
    assert listed == {path.name for path in (ROOT / "examples").glob("*.py")}


@pytest.mark.heavy
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(path: Path) -> None:
    run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    assert len(run.stdout.splitlines()) >= 1
