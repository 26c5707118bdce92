"""`deniable audit` judges recipes and programs, and its exit code says what it found."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from deniable.cli.app import main
from deniable.core import make_mechanism
from deniable.privacy.auditing.verifier import main as verify_files

HONEST = "import secrets\ndef answer(value): return value ^ (secrets.randbelow(10) < 3)\ndef leak(value): return value\n"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["audit", *arguments])


@pytest.fixture
def recipe(tmp_path: Path) -> str:
    path = tmp_path / "recipe.json"
    path.write_text(json.dumps(make_mechanism("olh", epsilon=1).recipe()), encoding="utf-8")
    return str(path)


def test_a_recipe_is_checked_exactly(recipe: str, tmp_path: Path) -> None:
    compiled = tmp_path / "compiled.json"
    result = run("--recipe", recipe, "--compiled-out", str(compiled), "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["exact"]["holds"] is True
    assert verify_files([str(compiled)]) == 0
    again = run("--recipe", str(compiled))
    assert again.exit_code == 0
    assert again.output.startswith("holds")


def test_a_recipe_that_promises_too_much_is_refused(recipe: str, tmp_path: Path) -> None:
    result = run("--recipe", recipe, "--epsilon", "0.99")
    assert result.exit_code == 1
    assert "DOES NOT HOLD" in result.output
    changed = json.loads(Path(recipe).read_text(encoding="utf-8"))
    compiled = {"recipe": changed, "channel": {"kind": "identity", "size": 5}}
    path = tmp_path / "identity.json"
    path.write_text(json.dumps(compiled), encoding="utf-8")
    assert run("--recipe", str(path)).exit_code == 1


def test_a_recipe_can_be_drawn_from_as_well(recipe: str) -> None:
    document = json.loads(run("--recipe", recipe, "--samples", "20000", "--json").output)
    assert document["sampled"]["verdict"] == "no violation found"


def test_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "audited_answers.py").write_text(HONEST, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    fine = run("--python", "audited_answers:answer", "--inputs", "0,1", "-e", "1", "--samples", "20000", "--json")
    assert fine.exit_code == 0, fine.output
    document = json.loads(fine.output)
    assert document["violated"] is False
    assert document["independence"]["found"] is False
    leak = run("--python", "audited_answers:leak", "--inputs", "0,1", "-e", "1", "--samples", "2000")
    assert leak.exit_code == 1
    assert "VIOLATED" in leak.output


def test_a_function_that_ends_the_program_is_not_passed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "audited_exit.py").write_text("def answer(value): raise SystemExit(0)\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    result = run("--python", "audited_exit:answer", "--inputs", "0,1", "-e", "1", "--samples", "2000")
    assert result.exit_code == 3
    assert "600 times it raised SystemExit" in result.output


@pytest.mark.parametrize(
    ("program", "code", "text"),
    [
        ("import sys\nfor line in sys.stdin: print(line.strip())", 1, "VIOLATED"),
        ("import time; time.sleep(30)", 3, "took longer than 0.5 s"),
        ("raise SystemExit(9)", 3, "ended with code 9"),
    ],
)
def test_programs(program: str, code: int, text: str, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(program, encoding="utf-8")
    timeout = "0.5" if "sleep" in program else "60"
    command = f"{sys.executable} -S {script}"
    result = run("--command", command, "--lines", "--inputs", "0,1", "-e", "1", "--samples", "2000", "--timeout", timeout)
    assert result.exit_code == code, result.output
    assert text in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give one of"),
        (["--python", "math:sqrt"], "--epsilon"),
        (["--python", "nowhere:at_all", "--inputs", "0,1", "-e", "1"], "MODULE:FUNCTION"),
        (["--python", "math:pi", "--inputs", "0,1", "-e", "1"], "must name a function"),
        (["--python", "math:sqrt", "--inputs", "0", "-e", "1"], "inputs must be"),
        (["--python", "math:sqrt", "--inputs", "[0,", "-e", "1"], "JSON list"),
        (["--python", "math:sqrt", "--inputs", "0,1", "-e", "-1"], "epsilon"),
        (["--url", "ftp://x", "--inputs", "0,1", "-e", "1"], "http://"),
        (["--command", "/nowhere/at-all", "--inputs", "0,1", "-e", "1"], "cannot be started"),
        (["--command", "", "--inputs", "0,1", "-e", "1"], "is empty"),
        (["--command", "echo 'open", "--inputs", "0,1", "-e", "1"], "quotation mark"),
        (["--command", "cat", "--inputs", "0,1", "-e", "1", "--timeout", "-1"], "timeout must be"),
        (["--url", "http://x", "--inputs", "0,1", "-e", "1", "--timeout", "nan"], "timeout must be"),
        (["--recipe", "nowhere.json"], "No such file"),
        (["--recipe", __file__], "not JSON"),
        (["--python", "audited_crash:answer", "--inputs", "0,1", "-e", "1"], "raised ZeroDivisionError"),
    ],
)
def test_bad_questions_get_one_line(arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "audited_crash.py").write_text("1 / 0\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
