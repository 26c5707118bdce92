"""What a newcomer meets first: help that is quick and grouped, typos, quiet, completion, and a doctor."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from deniable._extras import EXTRAS
from deniable.cli.app import main
from deniable.cli.commands import COMMANDS, SECTIONS

ROOT = Path(__file__).parents[2]
CONTEXT = click.Context(main)
WITHOUT_JSON = {"serve", "completion", "joint board", "joint relay"}
"""A server that runs until it is stopped, and a script for a shell."""


def leaves(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for part, child in command.commands.items():
            yield from leaves(child, f"{name} {part}")
    else:
        yield name, command


def loaded(name: str) -> click.Command:
    command = main.get_command(CONTEXT, name)
    assert command is not None
    return command


LEAVES = [leaf for name in COMMANDS for leaf in leaves(loaded(name), name)]


def test_help_imports_no_room() -> None:
    code = (
        "import sys\n"
        "from deniable.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print('loaded', 'numpy' in sys.modules, 'rich' in sys.modules)"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.endswith("loaded False False\n")


def test_help_shows_every_command_under_its_section() -> None:
    text = CliRunner().invoke(main, ["--help"]).output
    for section in SECTIONS:
        assert f"{section}:" in text
    for name in COMMANDS:
        assert re.search(rf"^  {name} ", text, re.MULTILINE), name
    assert "Exit codes:" in text


def test_the_help_begins_with_what_most_people_need_and_keeps_research_apart() -> None:
    text = CliRunner().invoke(main, ["--help"]).output
    first, _, rest = text.partition("Run a collector:")
    for name in ("plan", "show", "randomize", "estimate", "serve", "submit", "audit"):
        assert re.search(rf"^  {name} ", first, re.MULTILINE), name
    research = rest.partition("Research:")[2].partition("This installation:")[0]
    for name in ("joint", "extremal", "design", "quantify", "trajectory", "reproduce"):
        assert re.search(rf"^  {name} ", research, re.MULTILINE), name


@pytest.mark.parametrize("name", ["quantify", "trajectory compare"])
def test_levels_are_called_epsilon_everywhere_and_the_older_name_still_works(name: str) -> None:
    (option,) = (one for leaf, command in LEAVES if leaf == name for one in command.params if one.name == "epsilons")
    assert option.opts[0] == "--epsilon"
    assert "--epsilons" in option.opts


@pytest.mark.parametrize("minus", ["-1", "\N{MINUS SIGN}1", "\N{EN DASH}1"])
def test_a_negative_level_is_called_negative_however_its_minus_is_written(minus: str) -> None:
    result = CliRunner().invoke(main, ["show", "k-rr", "-e", minus, "-d", "categories:3"])
    assert result.exit_code == 2
    assert "epsilon must be positive" in result.output


def test_a_misspelt_category_gets_all_names_and_is_not_repeated() -> None:
    question = ["randomize", "k-rr", "-e", "1", "-d", "categories:bike,bus,car,walk"]
    result = CliRunner().invoke(main, [*question, "bice"])
    assert result.exit_code == 1
    assert "1 of 1 value does not belong" in result.output
    assert "Write one of its names exactly" in result.output
    assert "bice" not in result.output
    assert "lip first" not in result.output
    # What is said must not depend on what was typed: the nearest name would betray it.
    assert CliRunner().invoke(main, [*question, "wlak"]).output == result.output


def test_a_number_outside_is_not_told_to_call_python() -> None:
    result = CliRunner().invoke(main, ["randomize", "window", "-e", "1", "-d", "interval:0,10", "11", "3"])
    assert (
        "1 of 2 values does not belong to Interval(0, 10) and was left out: row 1. Every value must be a number in it"
        in result.output
    )
    assert "domain.clip" not in result.output


@pytest.mark.parametrize(("count", "said"), [(1, "1 report by k-rr"), (2, "2 reports by k-rr")])
def test_one_report_is_not_many(count: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    CliRunner().invoke(main, ["randomize", "k-rr", "-e", "1", "-d", "categories:a,b", *["a"] * count, "-o", "reports.csv"])
    assert said in CliRunner().invoke(main, ["estimate", "reports.csv"]).output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["show", "k-rr"],
            "--epsilon is missing (privacy level: a number or a ratio such as 1/3); for example: deniable show window",
        ),
        (["show"], "NAME is missing; for example: deniable show window"),
        (["account", "odds"], "for example: deniable account odds --epsilon 1"),
        (["account", "repeat", "-e", "1"], "--reports is missing (how often the person is asked)\n"),
        (["compare", "duchi", "--metric", "rmsee"], "--metric: 'rmsee' is not one of 'mse', 'rmse', "),
        (["compare", "duchi", "--metric", "rmsee"], "; did you mean rmse?\n"),
        (["compare", "duchi", "--metric", "zzz"], "'worst-mae'.\n"),
        (["serve", "no-such-survey.toml"], "deniable: file 'no-such-survey.toml' does not exist.\n"),
        (["show", "window", "-e", "1", "-d", "intervall:0,1"], "'intervall:0,1' is not a domain; did you mean interval? "),
        (
            ["show", "k-rr", "-e", "1", "-d", "interval:0,1"],
            "k-rr needs the domain Categories, got Interval; change the domain or ",
        ),
        (["show", "window", "-e", "1", "-d", "interval:a,b"], "low must be a finite number such as 0, 1.5 or 1/3, got 'a'"),
        (["plan", "--task", "frequency", "--size", "5"], "a target (target error or half-width); the third is computed"),
        (["submit", "no-such.csv", "-s", "http://127.0.0.1:1"], "there is no file 'no-such.csv'\n"),
        (["design", "--workload", "prefixes", "--size", "8", "-e", "1"], "got 'prefixes'; did you mean prefix?\n"),
        (["design", "--workload", "prefix", "-e", "1"], "size is missing: how many values there are, a whole number from 2 to "),
    ],
)
def test_what_is_missing_or_misspelt_is_named_with_an_example(words: list[str], said: str) -> None:
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert said in result.output


@pytest.mark.slow
def test_files_of_another_kind_are_named_with_the_next_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("age\n41\n")
    result = CliRunner().invoke(main, ["estimate", "people.csv"])
    assert "is missing, and there is no people.csv.recipe.json beside them: give it by --recipe FILE" in result.output
    result = CliRunner().invoke(main, ["estimate", "people.csv", "--recipe", "people.csv"])
    assert "people.csv is not a recipe: the text is not JSON; `deniable randomize --output` writes one" in result.output
    Path("survey.toml").write_text('title = "x"\nepsilon = 1\n[attributes.a]\nquestion = "?"\n')
    assert "lacks purpose; add a line purpose = …" in CliRunner().invoke(main, ["serve", "survey.toml"]).output


@pytest.mark.slow
def test_numbers_and_categories_that_do_not_fit_get_their_own_advice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("age,travels\n" + "40,bus\n,car\n" * 1200)
    wrong = ["randomize", "window", "-e", "1", "-d", "interval:0,100", "-i", "people.csv", "-c", "age", "-o", "reports.csv"]
    said = CliRunner().invoke(main, wrong).output
    assert "1,200 of 2,400 values do not belong to Interval(0, 100)" in said
    assert "and 1,180 more. Every value must be a number in it: drop missing ones, and clip the others first or " in said
    estimate = CliRunner().invoke(main, ["randomize", "k-rr", "-e", "1", "-d", "categories:bus,car", "bus", "-o", "kinds.csv"])
    assert estimate.exit_code == 0
    said = CliRunner().invoke(main, ["estimate", "kinds.csv", "--what", "mean"]).output
    assert "k-rr does not report numbers on an interval; estimate directions or frequencies (shares) instead" in said


def test_every_family_is_named_by_the_help() -> None:
    said = " ".join(CliRunner().invoke(main, ["mechanisms", "--help"]).output.split())
    rows = json.loads(CliRunner().invoke(main, ["mechanisms", "--json"]).output)
    assert [family for family in {row["family"] for row in rows} if family not in said.partition("--family")[2]] == []


def test_randomize_says_where_the_reports_and_the_recipe_went(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    question = ["randomize", "k-rr", "-e", "1", "-d", "categories:a,b", "a", "b"]
    assert CliRunner().invoke(main, [*question, "-o", "reports.csv"]).output == (
        "2 reports: reports.csv, with the recipe reports.csv.recipe.json\n"
    )
    assert CliRunner().invoke(main, [*question, "-o", "reports.csv", "--quiet"]).output == ""
    assert CliRunner().invoke(main, question).output.startswith("output,value\n")


@pytest.mark.parametrize("name", [name for name in COMMANDS if isinstance(loaded(name), click.Group)])
def test_summaries_of_subcommands_are_whole(name: str) -> None:
    text = CliRunner().invoke(main, [name, "--help"], terminal_width=80).output
    summaries = text.partition("Commands:")[2].partition("Examples:")[0]
    assert summaries
    assert "..." not in summaries


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_has_an_example_of_itself(name: str) -> None:
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0
    assert f"deniable {name}" in result.output
    for example in COMMANDS[name].examples:
        assert shlex.split(example)[:2] == ["deniable", name]


@pytest.mark.parametrize(
    "name", ["mechanisms", "show", "plan", "extremal", "joint", "randomize", "estimate", "account", "audit", "doctor", "completion"]
)
def test_examples_under_the_help_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for before in COMMANDS["randomize"].examples:
        assert CliRunner().invoke(main, shlex.split(before)[1:]).exit_code == 0
    for example in COMMANDS[name].examples:
        result = CliRunner().invoke(main, shlex.split(example)[1:])
        assert result.exit_code == 0, (example, result.output)


def test_every_command_is_quiet_on_demand_and_speaks_json() -> None:
    for name, command in LEAVES:
        options = {text for option in command.params for text in option.opts}
        assert "--quiet" in options, name
        assert "--json" in options or name in WITHOUT_JSON, name
        assert command.help, name
        for option in command.params:
            if isinstance(option, click.Option):
                assert option.help or option.hidden or option.show_default or option.required, (name, option.name)


def test_quiet_says_nothing_but_errors(tmp_path: Path) -> None:
    question = ["show", "k-rr", "--epsilon", "1", "--domain", "categories:3"]
    assert CliRunner().invoke(main, question).output
    assert CliRunner().invoke(main, [*question, "--quiet"]).output == ""
    assert json.loads(CliRunner().invoke(main, [*question, "--quiet", "--json"]).output)["name"] == "k-rr"
    wrong = CliRunner().invoke(main, ["show", "k-rr", "--epsilon", "-1", "--domain", "categories:3", "--quiet"])
    assert wrong.exit_code == 2
    assert "epsilon" in wrong.output


def test_a_typo_gets_a_suggestion() -> None:
    result = CliRunner().invoke(main, ["estimat"])
    assert result.exit_code == 2
    assert "did you mean estimate?" in result.output


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_call_the_program(shell: str) -> None:
    result = CliRunner().invoke(main, ["completion", shell])
    assert result.exit_code == 0
    assert "_DENIABLE_COMPLETE" in result.output


def test_the_shell_is_told_the_commands_that_fit() -> None:
    environment = {**os.environ, "_DENIABLE_COMPLETE": "bash_complete", "COMP_WORDS": "deniable est", "COMP_CWORD": "1"}
    run = subprocess.run([sys.executable, "-m", "deniable"], capture_output=True, text=True, env=environment, check=False)
    assert run.stdout.split(",")[-1].strip() == "estimate"


def test_the_doctor_knows_every_extra_of_the_package() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = set(tomllib.load(file)["project"]["optional-dependencies"])
    assert set(EXTRAS) == extras - {"all", "dev", "docs"}


def test_the_doctor_looks_at_the_core_and_says_what_to_install() -> None:
    result = CliRunner().invoke(main, ["doctor", "--json"])
    assert result.exit_code == 0
    document = json.loads(result.output)
    assert all(check["good"] for check in document["core"])
    for check in document["extras"]:
        assert check["fix"] == f"pip install 'deniable[{check['name']}]'"
    assert "pip install" not in CliRunner().invoke(main, ["doctor"]).output.split("Extras")[0]


def test_the_doctor_reports_a_broken_core(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> str:
        raise RuntimeError("no kernels here")

    monkeypatch.setattr("deniable.cli.doctor._batch", broken)
    result = CliRunner().invoke(main, ["doctor"])
    assert result.exit_code == 1
    assert "no kernels here" in result.output


def test_files_that_are_missing_or_of_another_kind_are_named(tmp_path: Path) -> None:
    missing = CliRunner().invoke(main, ["estimate", str(tmp_path / "nothing.csv")])
    assert missing.exit_code == 2
    assert "there is no file" in missing.output
    (tmp_path / "survey.toml").write_text('title = "A test"', encoding="utf-8")
    survey = CliRunner().invoke(main, ["audit", "--recipe", str(tmp_path / "survey.toml")])
    assert survey.exit_code == 2
    assert "`deniable serve` prints" in survey.output
