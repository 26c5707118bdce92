"""One name for one thing: a flag means the same in every command."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import click
import pytest

from deniable.cli.app import main

OLDER = {"--epsilons": "--epsilon"}
"""Spellings of earlier releases that still work."""
SYNONYMS = {"--out": "--output", "--people": "--users", "--n": "--users", "--confidence": "--level"}


def options(command: click.Command, name: str = "") -> Iterator[tuple[str, click.Option]]:
    """Every option of every command, with the command's name."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            assert found is not None
            yield from options(found, f"{name} {inner}".strip())
    else:
        yield from ((name, parameter) for parameter in command.params if isinstance(parameter, click.Option))


@pytest.fixture(scope="module")
def every() -> list[tuple[str, click.Option]]:
    return list(options(main))


def test_a_short_flag_means_one_thing(every: list[tuple[str, click.Option]]) -> None:
    meanings: dict[str, set[str]] = defaultdict(set)
    for _, option in every:
        for flag in option.opts:
            if not flag.startswith("--"):
                meanings[flag] |= {long for long in option.opts if long.startswith("--") and long not in OLDER}
    assert {flag: sorted(longs) for flag, longs in meanings.items() if len(longs) > 1} == {}


def test_an_option_has_one_name(every: list[tuple[str, click.Option]]) -> None:
    assert [f"{name}: {flag} is {SYNONYMS[flag]}" for name, option in every for flag in option.opts if flag in SYNONYMS] == []


def test_every_option_says_what_it_is_for(every: list[tuple[str, click.Option]]) -> None:
    assert [f"{name}: {option.opts[-1]} has no help" for name, option in every if not option.help] == []
