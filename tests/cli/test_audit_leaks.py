"""`deniable audit` sees the text a program prints, and everything it says about reports that never repeat is true."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from deniable.cli.app import main

HEAD = """
import hashlib, json, random, sys, time
coins = random.SystemRandom()
noisy = lambda value: value ^ (coins.random() < 0.2689)
"""
PRINTS = {
    "a trailing space": 'print(str(noisy(value)) + " " * value)',
    "a trailing space beside a nonce": 'print(json.dumps({"id": "%016x" % coins.getrandbits(64)}) + " " * value)',
    "an empty line": 'print(str(noisy(value)) + "\\n" * value)',
    "another order of fields": (
        'id = "%016x" % coins.getrandbits(64); bit = noisy(value)\n'
        '    print(json.dumps({"id": id, "bit": bit} if value else {"bit": bit, "id": id}))'
    ),
    "another separator": 'print(json.dumps([coins.getrandbits(64), 1], separators=(",", ":") if value else (", ", ":")))',
    "another spelling of a number": 'print("%.3e" % coins.random() if value else "%.9f" % coins.random())',
    "a zero at the end": 'x = repr(coins.random()); print(x + "0" if value else x)',
    "an escaped letter": 'print(json.dumps("%016x\\u00e9" % coins.getrandbits(64), ensure_ascii=bool(value)))',
    "the last bit of a nonce": 'print("%032x" % (coins.getrandbits(127) * 2 + value))',
}
DEPENDENT = {
    "a running number": "number += 1; print(json.dumps([noisy(value), number]))",
    "twin workers": (
        "number += 1; own = (one, two)[number % 2]\n    print(json.dumps([own.getrandbits(64), value ^ (own.random() < 0.2689)]))"
    ),
}
ENCRYPTED = {
    "nothing but a nonce": 'print("%032x" % coins.getrandbits(128))',
    "a counter under a key": 'number += 1; print(hashlib.sha256(b"key%d" % number).hexdigest())',
    "the value under a key": 'number += 1; print(hashlib.sha256(b"key%d,%d" % (number, value)).hexdigest())',
}


def audited(code: str, folder: Path, *more: str) -> Result:
    script = folder / "program.py"
    before = "number, one, two = time.time_ns(), random.Random(3), random.Random(3)\n"
    script.write_text(f"{HEAD}{before}for line in sys.stdin:\n    value = int(line)\n    {code}\n", encoding="utf-8")
    command = f"{sys.executable} -S {script}"
    fixed = ("--lines", "--inputs", "0,1", "-e", "1", "--samples", "6000", "--level", "0.9999999")
    return CliRunner().invoke(main, ["audit", "--command", command, *fixed, *more])


@pytest.mark.parametrize("name", PRINTS)
def test_a_value_in_the_text_is_found(name: str, tmp_path: Path) -> None:
    result = audited(PRINTS[name], tmp_path)
    assert result.exit_code == 1, result.output
    assert result.output.startswith("VIOLATED")


@pytest.mark.parametrize("name", DEPENDENT)
def test_reports_that_know_of_each_other_are_found(name: str, tmp_path: Path) -> None:
    result = audited(DEPENDENT[name], tmp_path)
    assert result.exit_code == 1, result.output
    assert "DEPENDENT" in result.output


@pytest.mark.parametrize("name", ENCRYPTED)
def test_what_cannot_be_seen_is_no_verdict(name: str, tmp_path: Path) -> None:
    """Reports are random; a program is accused with probability 1.1e-6 at most, 1e-6 of it by the test of dependence."""
    result = audited(ENCRYPTED[name], tmp_path)
    assert result.exit_code == 3, result.output
    assert result.output.startswith("no verdict: reports hardly ever repeat, and no event distinguished the test values")
    assert "never the same twice: the report" in result.output
    assert "violation" not in result.output
    assert "probability" not in result.output
    document = json.loads(audited(ENCRYPTED[name], tmp_path, "--json").output)
    assert document["violated"] is None
    assert document["verdict"] == "no verdict"


def test_a_randomized_bit_beside_a_nonce_is_judged_by_the_bit(tmp_path: Path) -> None:
    """Reports are random, as above."""
    result = audited("print(json.dumps([coins.getrandbits(64), noisy(value)]))", tmp_path)
    assert result.exit_code == 0, result.output
    assert result.output.startswith("no violation found")
    assert "never the same twice: report[0]" in result.output


def test_the_exit_codes_are_in_the_help() -> None:
    text = " ".join(CliRunner().invoke(main, ["audit", "--help"]).output.split())
    assert "0 when nothing was found, 1 for a violation, 2 when the command was wrong, and 3 for no verdict" in text
