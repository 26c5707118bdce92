"""Which tests are slow: those that took longer than `LONGEST` seconds when they were last measured.

    make tiers

runs every test that is not heavy, on one quiet machine, and writes the names of the slow ones to `slow.txt` beside this file. They
leave `make test` for `make test-all`. Nothing is timed when tests run: which of them run depends on the file alone. What `ALWAYS`
names stays in `make test`, however long it takes.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path

import pytest

SLOW = Path(__file__).with_name("slow.txt")
LONGEST = 0.2
ALWAYS = ("tests/guards/", "tests/test_walls.py", "tests/test_public_surface.py::test_commands_in_the_readme_run")
"""Secrets that leave sideways, the floor plan, and what a newcomer types first."""
_LINE = re.compile(r"([\d.]+)s (?:call|setup|teardown) +(\S.*)")


def slow_tests() -> frozenset[str]:
    """The names in the file."""
    return frozenset(SLOW.read_text(encoding="utf-8").splitlines())


def mark_slow(items: list[pytest.Item]) -> None:
    """Give those tests the mark that `make test` leaves out."""
    slow = slow_tests()
    for item in items:
        if item.nodeid in slow:
            item.add_marker(pytest.mark.slow)


def read_durations(lines: list[str]) -> list[str]:
    """The slow tests of what `pytest --durations=0` printed: a test's set-up and its end count too."""
    seconds: dict[str, float] = defaultdict(float)
    for line in lines:
        if (match := _LINE.match(line)) is not None:
            seconds[match[2].strip()] += float(match[1])
    return sorted(name for name, took in seconds.items() if took > LONGEST and not name.startswith(ALWAYS))


if __name__ == "__main__":
    names = read_durations(sys.stdin.read().splitlines())
    if not names:
        sys.exit("no durations were printed; slow.txt stays as it is")
    SLOW.write_text("\n".join(names) + "\n", encoding="utf-8")
    print(f"{len(names)} slow tests")
