"""`--quiet` on every command: files are written and JSON is printed, but nothing is said to people except errors."""

from __future__ import annotations

import contextlib
import functools
import io
import sys
from collections.abc import Callable, Iterator
from typing import Any, TextIO

import click

QUIET = "deniable.quiet"


class _Unwatched(io.TextIOBase):
    """Standard error for errors and warnings only: nobody is said to be looking, so progress bars stay away."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return False


def with_quiet(command: click.Command) -> click.Command:
    """The same command, or group of commands, with `--quiet`; adding it twice changes nothing."""
    if isinstance(command, click.Group):
        for name in command.commands.values():
            with_quiet(name)
        return command
    taken = {text for option in command.params for text in option.opts}
    if "--quiet" not in taken and command.callback is not None:
        flags = ["--quiet"] if "-q" in taken else ["-q", "--quiet"]
        option = click.Option(flags, is_flag=True, expose_value=False, callback=_remember, help="Print nothing but errors.")
        command.params.append(option)
        command.callback = _quietly(command.callback)
    return command


def _remember(ctx: click.Context, _option: click.Parameter, asked: bool) -> None:
    ctx.meta[QUIET] = asked


def _quietly(callback: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(callback)
    def run(*args: Any, **options: Any) -> Any:
        context = click.get_current_context(silent=True)
        if context is None or not context.meta.get(QUIET):
            return callback(*args, **options)
        with _silence(keep_output=bool(options.get("as_json"))):
            return callback(*args, **options)

    return run


@contextlib.contextmanager
def _silence(keep_output: bool) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stderr(_Unwatched(sys.stderr)))
        if not keep_output:
            stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        yield
