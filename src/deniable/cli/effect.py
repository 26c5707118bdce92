"""An option that was given and has no effect is a mistake: what somebody asked for would silently not happen."""

from __future__ import annotations

import click
from click.core import ParameterSource


def given(option: str) -> bool:
    """Does the option stand on the command line?"""
    return click.get_current_context().get_parameter_source(option) == ParameterSource.COMMANDLINE


def refuse_unused(where: str, use: str, *options: str) -> None:
    """Refuse options that were given and do nothing: `where` they do nothing, and what to `use` them with."""
    command = click.get_current_context().command
    for option in options:
        if given(option):
            written = next(param.opts[0] for param in command.params if param.name == option)
            raise click.UsageError(f"{written} has no effect {where}; {use}")
