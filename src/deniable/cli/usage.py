"""What is wrong with a command line: the option, the rule and an example, in one sentence."""

from __future__ import annotations

import difflib
import re

import click

from deniable.cli.commands import COMMANDS

_REFUSED = re.compile(r"^'(.*?)' is not one of ")


def usage_words(error: click.ClickException) -> str:
    """The message of an error, with what is missing explained and typos of a choice recognised."""
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return _missing(error.param, error.ctx)
    if isinstance(error, click.BadParameter) and isinstance(error.param, click.Option):
        return f"{error.param.opts[0]}: {_bad(error.message, error.param)}"
    if isinstance(error, click.BadParameter) and isinstance(error.param, click.Argument):
        return error.message[:1].lower() + error.message[1:]
    return error.format_message()


def _missing(param: click.Parameter, ctx: click.Context | None) -> str:
    words = ""
    if isinstance(param, click.Option):
        name = param.opts[0]
        rule = (param.help or "").split(". ")[0].rstrip(".")
        words = f" ({rule[:1].lower()}{rule[1:]})" if rule else ""
    else:
        name = param.make_metavar(ctx) if ctx is not None else (param.name or "").upper()
    example = _example(ctx)
    return f"{name} is missing{words}" + (f"; for example: {example}" if example else "")


def _example(ctx: click.Context | None) -> str | None:
    """The first example of the command that the error is about."""
    if ctx is None:
        return None
    path = ctx.command_path.split()[1:]
    entry = COMMANDS.get(path[0]) if path else None
    begin = " ".join(["deniable", *path, ""])
    return next((example for example in entry.examples if example.startswith(begin)), None) if entry else None


def _bad(message: str, param: click.Option) -> str:
    refused = _REFUSED.match(message)
    choices = [str(choice) for choice in param.type.choices] if isinstance(param.type, click.Choice) else []
    near = difflib.get_close_matches(refused[1], choices, n=1) if refused else []
    return f"{message.rstrip('.')}; did you mean {near[0]}?" if near else message
