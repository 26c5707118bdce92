"""What the documents name exists: every option beside a command, and every key and value of a survey."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

import click
import pytest

from deniable.cli.app import main
from deniable.cli.commands import COMMANDS
from deniable.surveys import surveys_from_toml
from deniable.surveys.toml_file import _ATTRIBUTE, _SURVEY

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    path
    for place in ("docs", "spec", "examples", "sdk", "src", "proofs")
    for path in (ROOT / place).rglob("*.md")
    if "node_modules" not in path.parts
)
PAGES += [ROOT / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md")]
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
CODE = re.compile(r"^```.*?^```$|`[^`]+`", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?<![\w./-])deniable ((?:[a-z][a-z-]*)(?: [a-z][a-z-]*)?)([^|;&]*)")
PROGRAM = re.compile(r"(?:python[\d.]*|\$BIN/python) (?:-m )?([\w./]+)")
OURS = re.compile(r"add_argument\(\s*\"(--[a-z-]+)\"")


@cache
def options_of(command: str) -> frozenset[str]:
    """The options of `command`, or of `group command`; everything a group's commands have when only the group is named."""
    context = click.Context(main)
    first, _, second = command.partition(" ")
    entry = main.get_command(context, first)
    assert entry is not None, f"there is no command {first}"
    inside = [entry]
    if isinstance(entry, click.Group):
        named = entry.get_command(context, second)
        everything = [entry.get_command(context, name) for name in entry.list_commands(context)]
        inside += [named] if named is not None else [part for part in everything if part is not None]
    words = (text for part in inside for parameter in part.params for text in [*parameter.opts, *parameter.secondary_opts])
    return frozenset({text for text in words if text.startswith("--")} | {"--help", "--version"})


@cache
def options_of_program(name: str) -> frozenset[str]:
    """The options of a program in this repository that is run by Python itself; examples of one folder share some."""
    path = name.replace(".", "/") if not name.endswith(".py") else name.removesuffix(".py")
    places = [ROOT / f"{path}.py", ROOT / "src" / f"{path}.py", ROOT / path / "__main__.py", ROOT / "src" / path / "__main__.py"]
    files = [file for place in places if place.exists() for file in (place.parent.glob("*.py") if "examples" in name else [place])]
    sources = [file.read_text(encoding="utf-8") for file in files]
    return frozenset(OURS.findall("\n".join(sources)))


def joined(text: str) -> str:
    """Lines that a backslash continues are one."""
    return re.sub(r"\\\n\s*", "", text)


def commands_in(text: str) -> list[tuple[str, str]]:
    """Every command of ours in code, with the rest of its line."""
    found = []
    for code in CODE.findall(text):
        for line in joined(code.replace("\n", " ") if not code.startswith("```") else code).splitlines():
            found += [(words, rest) for words, rest in COMMAND.findall(line.strip("`")) if words.split()[0] in COMMANDS]
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_option_a_page_names_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    known: set[str] = set()
    for words, rest in commands_in(text):
        known |= options_of(words)
        own = re.sub(r"'[^']*'", "", rest)  # what is in quotes is somebody else's command
        assert set(OPTION.findall(own)) <= options_of(words), f"deniable {words}{rest}"
    for name in PROGRAM.findall(text):
        known |= options_of_program(name)
    for name in re.findall(r"[\w/]+\.py", text):
        known |= options_of_program(name)
    if not known:
        known = {option for name in COMMANDS for option in options_of(name)}
    # An option that stands alone belongs to one of the commands that the page is about.
    alone = {
        option
        for code in re.findall(r"`(--[^`]+)`", CODE.sub(lambda code: code[0] if code[0][1] != "`" else "", text))
        for option in OPTION.findall(code)
    }
    assert alone <= known, f"{page.name} names {sorted(alone - known)}"


USUAL = {"title": '"t"', "purpose": '"p"', "epsilon": "1", "budget": "2"}
NEEDS = {"repeat": 'window = "month"\nopens = 2026-01-01\ncloses = 2026-12-31\n', "window": 'repeat = "each-window"\n'}
"""What else a survey must say when it says one of these."""


def surveys_in(text: str) -> list[str]:
    """Surveys: those written out, whole or in part, and one around every key with a value."""
    found = []
    for body in re.findall(r"^```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if "[attributes." in body:
            given = tomllib.loads(body)
            found.append("".join(f"{key} = {value}\n" for key, value in USUAL.items() if key not in given) + body)
    for key, value in re.findall(r"`([a-z_]+) = ([^`]+)`", text):
        if key in _SURVEY | _ATTRIBUTE and _is_toml(f"{key} = {value}"):
            found.append(_survey_with(key, value))
    return found


def _survey_with(key: str, value: str) -> str:
    fields, attribute = dict(USUAL), {"question": '"q"', "domain": '"interval:0,1"' if key == "learn" else '"categories:a,b"'}
    (fields if key in _SURVEY else attribute)[key] = value
    if value.startswith('"changes:'):  # of a yes or no, whose whole life costs epsilon
        fields["budget"], attribute["domain"] = fields["epsilon"], '"binary"'
    rest = "" if value in ('"once"', '"survey"') else NEEDS.get(key, "")
    head = "".join(f"{name} = {said}\n" for name, said in fields.items()) + rest
    lines = "".join(f"{name} = {said}\n" for name, said in attribute.items())
    return head + "".join(f"[attributes.{name}]\n{lines}" for name in (("x", "y") if key == "strategy" else ("x",)))


def _is_toml(line: str) -> bool:
    try:
        tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return False
    return True


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_survey_key_and_value_a_page_names_is_taken(page: Path) -> None:
    for survey in surveys_in(page.read_text(encoding="utf-8")):
        assert all(one.title for one in surveys_from_toml(survey).values())


def test_these_tests_find_what_was_wrong_once() -> None:
    assert commands_in("`deniable plan --bytes 4`") == [("plan", " --bytes 4")]
    assert "--bytes" not in options_of("plan")
    assert "--max-bytes" in options_of("plan")
    (survey,) = surveys_in('(`repeat = "memo"`)')
    with pytest.raises(ValueError, match="repeat"):
        surveys_from_toml(survey)
