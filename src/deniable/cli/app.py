"""The group of all commands: suggestions for typos, one line per error, exit codes.

0 is success, 1 is data that could not be used, 2 is a question that was asked wrongly.
"""

from __future__ import annotations

import difflib
import sys
from typing import Any

import click

from deniable import __version__
from deniable.cli.account import account
from deniable.cli.audit import audit
from deniable.cli.demo import demo
from deniable.cli.design import design
from deniable.cli.estimate import estimate
from deniable.cli.hypothesis_test import extremal_command
from deniable.cli.joint import joint
from deniable.cli.mechanisms import mechanisms
from deniable.cli.plan import plan_command
from deniable.cli.quantify import quantify
from deniable.cli.randomize import randomize
from deniable.cli.serve import serve, token
from deniable.cli.show import show
from deniable.cli.submit import submit
from deniable.cli.trajectory import trajectory
from deniable.cli.watch import watch
from deniable.errors import DeniableError, OutOfDomain, WireError

BAD_DATA, BAD_QUESTION = 1, 2


class OneLineErrors(click.Group):
    """A group whose errors are one clear line on standard error, never a traceback."""

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
            _complain(error.format_message())
            code = error.exit_code
        except click.Abort:
            _complain("stopped")
            code = 130
        except DeniableError as error:
            _complain(str(error))
            code = BAD_DATA if isinstance(error, OutOfDomain | WireError) else BAD_QUESTION
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
        if name and not name.startswith("-") and self.get_command(ctx, name) is None:
            near = difflib.get_close_matches(name, self.list_commands(ctx), n=2)
            hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(self.list_commands(ctx))}"
            raise click.UsageError(f"no command is called {name[:60]!r}; {hint}")
        return super().resolve_command(ctx, args)


def _complain(message: str) -> None:
    click.echo(f"deniable: {' '.join(message.split())}", err=True)


@click.group(cls=OneLineErrors, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="deniable")
def main() -> None:
    """Local differential privacy, exactly: every report deniable, every privacy claim checkable."""


for command in (
    mechanisms,
    show,
    plan_command,
    design,
    extremal_command,
    randomize,
    estimate,
    joint,
    quantify,
    trajectory,
    audit,
    account,
    serve,
    submit,
    watch,
    token,
    demo,
):
    main.add_command(command)
