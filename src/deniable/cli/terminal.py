"""What goes to the terminal: tables, block charts, JSON. Colours only where someone is looking."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from deniable._results import counted as counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

BLOCKS = " ▁▂▃▄▅▆▇█"
WIDE = 120
LONG_READ, STEP = 1 << 23, 1 << 18
"""Files below so many bytes are read before anyone wonders; the bar moves in steps of so many."""


def console() -> Console:
    """A console on standard output; plain and wide enough for every table when piped."""
    from rich.console import Console

    looking = sys.stdout.isatty()
    return Console(file=sys.stdout, no_color=not looking, width=None if looking else WIDE, highlight=False, soft_wrap=False)


def table(*columns: str, title: str | None = None, numbers: Sequence[str] = ()) -> Table:
    """A table with thin lines; the columns in `numbers` are set to the right."""
    from rich import box
    from rich.table import Table

    grid = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", title_style="bold")
    for column in columns:
        grid.add_column(column, justify="right" if column in numbers else "left", overflow="fold")
    return grid


def print_json(document: Any) -> None:
    """A document for programs: numbers stay numbers, what is not finite becomes null."""
    click.echo(json.dumps(_finite(document), indent=2, ensure_ascii=False, default=str))


def _finite(document: Any) -> Any:
    if isinstance(document, float) and not math.isfinite(document):
        return None
    if isinstance(document, dict):
        return {key: _finite(value) for key, value in document.items()}
    if isinstance(document, list | tuple):
        return [_finite(value) for value in document]
    return document


@contextmanager
def waiting(label: str) -> Iterator[None]:
    """A sign on standard error, where someone is looking, that something takes a while."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(file=sys.stderr).status(label):
        yield


@contextmanager
def byte_progress(label: str, total: int | None, *, hidden: bool = False) -> Iterator[Callable[[int], None]]:
    """A bar on standard error, where someone is looking, for reading `total` bytes; yields a function to advance it."""
    if hidden or not sys.stderr.isatty() or (total is not None and total < LONG_READ):
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    waiting = 0
    with Progress(console=Console(file=sys.stderr), transient=True) as progress:
        task = progress.add_task(label, total=total)

        def advance(done: int) -> None:
            nonlocal waiting
            waiting += done
            if waiting >= STEP:  # redrawing for every record would cost more than reading it
                progress.advance(task, waiting)
                waiting = 0

        yield advance


def block_chart(heights: Sequence[float], rows: int = 5, top: float | None = None) -> list[str]:
    """Columns of eighth blocks, one per height, as lines from top to bottom.

    >>> block_chart([0, 1, 2], rows=1)
    [' ▄█']
    """
    most = max(heights) if top is None else top
    eighths = [0 if most <= 0 else max(round(8 * rows * height / most), 1 if height > 0 else 0) for height in heights]
    return ["".join(BLOCKS[min(max(e - 8 * row, 0), 8)] for e in eighths) for row in reversed(range(rows))]
