"""`deniable doctor`: what is installed, what each extra adds, and the one line that gets it."""

from __future__ import annotations

import importlib.util
import platform
import secrets
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

from deniable import __version__
from deniable._extras import EXTRAS
from deniable.cli.terminal import console, print_json, table

PROGRAMS = {"java": "Spark", "node": "tests of the JavaScript client", "chromium": "tests of the dashboard", "psql": "PostgreSQL"}


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    good: bool
    what: str
    fix: str = ""


@click.command(short_help="Show what is installed and what each extra adds.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(as_json: bool) -> None:
    """Look at this installation: the core, the extras, and programs that some tests use.

    The exit code is 1 when something that is installed does not work; a missing extra is not an error.
    """
    core, extras, programs = _core(), _extras(), _programs()
    if as_json:
        groups = {"core": core, "extras": extras, "programs": programs}
        print_json({name: [check.__dict__ for check in checks] for name, checks in groups.items()} | {"version": __version__})
    else:
        _print(core, extras, programs)
    if not all(check.good for check in core):
        sys.exit(1)


def _core() -> list[Check]:
    version = platform.python_version()
    return [
        Check("python", sys.version_info >= (3, 11), version, "install Python 3.11 or later"),
        _try("randomness", _draw, "the system's random generator must work; nothing here may run without it"),
        _try("exact core", _certify, "reinstall: pip install --force-reinstall deniable"),
        *(
            _try(name, work, f"pip install --force-reinstall 'deniable[{name}]'")
            for name, work in WORK.items()
            if not _missing(name)
        ),
    ]


def _try(name: str, work: Callable[[], str], fix: str) -> Check:
    start = time.perf_counter()
    try:
        result = work()
    except Exception as why:  # whatever is wrong, a doctor says so and goes on
        return Check(name, False, f"{type(why).__name__}: {why}"[:200], fix)
    return Check(name, True, f"{result}, {time.perf_counter() - start:.1f} s")


def _draw() -> str:
    secrets.token_bytes(64)
    return "64 bytes from the operating system"


def _example() -> Any:
    from deniable.core import Categories, KaryRandomizedResponse

    return KaryRandomizedResponse(domain=Categories(["a", "b", "c"]), epsilon=1)


def _certify() -> str:
    mechanism = _example()
    mechanism.randomize("a")
    return "certificate holds" if mechanism.certificate().holds else "certificate FAILS"


def _batch() -> str:
    mechanism = _example()
    return f"{len(mechanism.randomize_many(['a'] * 1000)):,} reports at once"


def _chart() -> str:
    from deniable.charts import density_chart
    from deniable.core import Interval, Window

    density_chart(Window(domain=Interval(0, 1), epsilon=2), [0.5])
    return "a density was drawn"


WORK: dict[str, Callable[[], str]] = {"arrays": lambda: _batch(), "charts": lambda: _chart()}
"""Extras that are tried out where they are installed: compiled code can be there and still not run."""


def _extras() -> list[Check]:
    return [_extra(name, adds) for name, (adds, _modules) in EXTRAS.items()]


def _extra(name: str, adds: str) -> Check:
    missing = _missing(name)
    what = f"{adds}; missing: {', '.join(missing)}" if missing else adds
    return Check(name, not missing, what, f"pip install 'deniable[{name}]'")


def _missing(extra: str) -> list[str]:
    return [module for module in EXTRAS[extra][1] if importlib.util.find_spec(module) is None]


def _programs() -> list[Check]:
    fix = "install {} with your system's packages"
    return [Check(name, shutil.which(name) is not None, use, fix.format(name)) for name, use in PROGRAMS.items()]


def _print(core: list[Check], extras: list[Check], programs: list[Check]) -> None:
    from rich.markup import escape

    out = console()
    out.print(f"deniable {__version__} on Python {platform.python_version()}, {platform.system()} {platform.machine()}")
    for title, checks in (("Core", core), ("Extras", extras), ("Programs used by some commands and tests", programs)):
        rows = table("", "part", "what it is", "to get it", title=title)
        for check in checks:
            rows.add_row("ok" if check.good else "-", check.name, escape(check.what), "" if check.good else escape(check.fix))
        out.print(rows)
