"""The group of all commands: grouped help, suggestions for typos, one line per error, exit codes.

0 is success, 1 is data that could not be used or a claim that was disproved, 2 is a question that was asked wrongly,
130 is stopped by the user.
"""

from __future__ import annotations

import difflib
import sys
from importlib import metadata
from typing import Any

import click

from deniable import __version__
from deniable._extras import needs, required
from deniable.cli.commands import COMMANDS, SECTIONS
from deniable.cli.quiet import with_quiet
from deniable.cli.usage import usage_words
from deniable.errors import DeniableError, MissingPackage, OutOfDomain, ProtocolError, WireError

BAD_DATA, BAD_QUESTION = 1, 2
EXIT_CODES = "Exit codes: 0 done, 1 the data could not be used or a claim was disproved, 2 the command was wrong, 130 interrupted."


class OneLineErrors(click.Group):
    """A group that loads a command when it is asked for, and whose errors are one clear line, never a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        entry = COMMANDS[cmd_name]
        command = _installed(cmd_name, entry.distribution) if entry.distribution else _own(entry.home)
        if command.epilog is None and entry.examples:
            command.epilog = "\b\nExamples:\n" + "\n".join(f"  {example}" for example in entry.examples)
        return with_quiet(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Commands by what they are for; nothing is imported for this."""
        for section in SECTIONS:
            rows = [(name, entry.summary) for name, entry in COMMANDS.items() if entry.section == section]
            with formatter.section(section):
                formatter.write_dl(rows)

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run a command and turn every expected error into a message and an exit code."""
        if not standalone_mode:
            return self._run(*args, **extra)
        try:
            code = self._run(*args, **extra)
        except click.exceptions.NoArgsIsHelpError as help_asked:
            click.echo(help_asked.format_message())
            code = 0
        except click.ClickException as error:
            _complain(usage_words(error))
            code = error.exit_code
        except click.Abort:
            _complain("stopped")
            code = 130
        except DeniableError as error:
            _complain(str(error))
            code = BAD_DATA if isinstance(error, OutOfDomain | WireError | ProtocolError) else BAD_QUESTION
        except ModuleNotFoundError as error:
            missing = needs(error.name or "")
            if missing is None:
                raise
            _complain(str(missing))
            code = BAD_QUESTION
        except OSError as error:
            _complain(f"{error.filename or 'file'}: {error.strerror or 'cannot be used'}")
            code = BAD_DATA
        sys.exit(code if isinstance(code, int) else 0)

    def _run(self, *args: Any, **extra: Any) -> Any:
        extra["standalone_mode"] = False
        return super().main(*args, **extra)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one was probably meant."""
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in COMMANDS:
            near = difflib.get_close_matches(name, COMMANDS, n=2)
            hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(COMMANDS)}"
            raise click.UsageError(f"no command is called {name[:60]!r}; {hint}")
        return super().resolve_command(ctx, args)


def _own(home: str) -> click.Command:
    module, name = home.split(":")
    command: click.Command = getattr(required(f"deniable.cli.{module}"), name)
    return command


def _installed(name: str, distribution: str) -> click.Command:
    """A command that another distribution brings."""
    for point in metadata.entry_points(group="deniable.commands", name=name):
        command: click.Command = point.load()
        return command
    raise MissingPackage(f"`deniable {name}` is a distribution of its own: pip install {distribution}")


def _complain(message: str) -> None:
    click.echo(f"deniable: {' '.join(message.split())}", err=True)


@click.group(
    cls=OneLineErrors,
    epilog=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="deniable")
def main() -> None:
    """Local differential privacy, exactly: every report deniable, every privacy claim checkable."""
