"""`deniable account`: Gaussian noise, raw values, groups and crowds; bad input gets one line."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner, Result

from deniable.cli.app import main


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["account", *arguments])


@pytest.mark.parametrize(
    ("arguments", "key", "value"),
    [
        (["gaussian", "-e", "1", "--delta", "1e-6"], "sigma", 4.2247),
        (["gaussian", "--sigma", "4", "--delta", "1e-6"], "epsilon", 1.0607),
        (["gaussian", "--sigma", "4", "-e", "1"], "delta", 2.924e-6),
        (["gaussian", "--sigma", "40", "-e", "1", "--width", "10"], "delta", 2.924e-6),
        (["raw", "--delta", "1e-6", "--users", "1000000"], "anyone_exposed", 0.6321),
        (["group", "-e", "0.5", "--size", "4"], "epsilon", 2.0),
        (["central", "-e", "1", "-n", "10000"], "shuffled", 0.04321),
        (["compose", "-e", "0.01", "--answers", "100000"], "optimal", 19.4228),
        (["group", "-e", "1", "--size", "1000", "--delta", "1e-9"], "epsilon", 1000.0),
        (["central", "-e", "0.1", "-n", "1000", "--delta", "0.5"], "shuffled", 0.0),
        (["central", "-e", "1", "--users", "10000"], "shuffled", 0.04321),
    ],
)
def test_json_has_the_number(arguments: list[str], key: str, value: float) -> None:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)[key] == pytest.approx(value, rel=1e-3)
    told = run(*arguments)
    assert told.exit_code == 0
    assert len(told.output.strip().splitlines()) >= 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gaussian"], "give two of"),
        (["gaussian", "-e", "1", "--delta", "1e-6", "--sigma", "1"], "give two of"),
        (["gaussian", "-e", "1", "--delta", "0"], "no delta of 0"),
        (["gaussian", "-e", "x", "--delta", "1e-6"], "epsilon must be a positive number"),
        (["raw", "--delta", "2"], "delta must be"),
        (["central", "-e", "50", "-n", "10"], "at most 20"),
        (["group", "-e", "-1", "--size", "2"], "every epsilon must be a positive number"),
        (["odds", "-e", "1e400"], "at most 1000000"),
        (["repeat", "-e", "1e400", "--reports", "3"], "at most 1000000"),
        (["repeat", "-e", "1", "--reports", "3", "--permanent", "1e400"], "at most 1000000"),
        (["compose", "-e", "1e400"], "promises nothing"),
        (["compose", "-e", "0.1", "-e", "0.2", "--answers", "100000"], "8192 of several"),
    ],
)
def test_bad_input_gets_one_line(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert len(result.output.strip().splitlines()) == 1


def test_a_shuffled_number_comes_with_its_conditions() -> None:
    question = ["account", "shuffle", "-e", "1", "-n", "10000"]
    said = CliRunner().invoke(main, question).stdout
    conditions = json.loads(CliRunner().invoke(main, [*question, "--json"]).stdout)["conditions"]
    assert "This holds only if:" in said
    assert all(f"- {condition}" in said for condition in conditions)
    for words in ("shuffled before anyone sees one", "released only as a whole", "drawn independently", "including the collector"):
        assert words in " ".join(conditions)


def test_words_about_deniability_follow_the_number() -> None:
    told = {
        epsilon: CliRunner().invoke(main, ["account", "odds", "-e", epsilon]).output.splitlines()[0] for epsilon in ("1", "100")
    }
    assert told == {
        "1": "One report leaves the answer well hidden.",
        "100": "One report leaves the answer practically disclosed.",
    }
    repeated = CliRunner().invoke(main, ["account", "repeat", "-e", "1", "--reports", "52"]).output
    assert "epsilon 52; the value is then practically disclosed" in repeated
    shown = CliRunner().invoke(main, ["show", "k-rr", "-e", "20", "--domain", "categories:3"]).output
    assert "leaves your answer practically disclosed" in " ".join(shown.split())
    layered = CliRunner().invoke(main, ["show", "rappor", "-e", "1/2", "--domain", "categories:3", "-p", "permanent=15", "--json"])
    assert json.loads(layered.output)["meaning"].startswith("All reports together leave your answer practically disclosed.")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["group", "--epsilon", "1", "--size", "1"], "One person: epsilon 1."),
        (["compose", "--epsilon", "1", "--answers", "1"], "1 answer costs at most epsilon 1, always. That leaves it well hidden."),
        (["shuffle", "--epsilon", "1", "--users", "1"], "1 shuffled report of epsilon 1"),
        (["shuffle", "--epsilon", "1", "--users", "1"], "There is no crowd"),
        (["central", "--epsilon", "1", "--users", "1"], "1 person who sends a report"),
        (["raw", "--delta", "0.5", "--users", "1"], "0.5 of 1 person."),
    ],
)
def test_one_is_singular(arguments: list[str], words: str) -> None:
    said = CliRunner().invoke(main, ["account", *arguments]).output
    assert words in said
    assert not re.search(r"(?<![\d,.])1 (?:people|reports|answers)\b", said)
