"""Words about deniability follow the number, and are the same in Python and in JavaScript."""

from __future__ import annotations

import json
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

from deniable.core import hiding, meaning

SDK = Path(__file__).parents[2] / "sdk" / "js"
NODE = shutil.which("node")
LEVELS = [Fraction(tenths, 10) for tenths in (1, 5, 7, 10, 11, 15, 20, 30, 31, 40, 50, 55, 60, 80, 100, 105, 140, 200, 1000, 10**7)]
LEVELS += [Fraction(1, 1000), Fraction(1, 3), Fraction(22, 7)]
PAIRS = [(level, None) for level in LEVELS] + [(low, high) for low in LEVELS[:9] for high in LEVELS if high != low]
SCRIPT = """
import { fractionFromText, hiding, meaning } from "./src/index.js";
import { readFileSync } from "node:fs";
const said = JSON.parse(readFileSync(0, "utf8")).map(([low, high]) => {
  const [first, second] = [low, high].map((text) => (text === null ? undefined : fractionFromText(text)));
  return [meaning(first, second), hiding(first)];
});
console.log(JSON.stringify(said));
"""


@pytest.mark.skipif(NODE is None, reason="Node is not installed: the JavaScript client is not tested here")
def test_both_clients_use_the_same_words() -> None:
    pairs = json.dumps([[str(low), None if high is None else str(high)] for low, high in PAIRS])
    command = [str(NODE), "--input-type=module", "-e", SCRIPT]
    done = subprocess.run(command, cwd=SDK, input=pairs, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[meaning(low, high), hiding(low)] for low, high in PAIRS]
