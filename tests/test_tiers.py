"""The tests of `make test` are chosen by a file, and the file is written from durations."""

from __future__ import annotations

import pytest
from tests.tiers import ALWAYS, LONGEST, mark_slow, read_durations, slow_tests

PRINTED = f"""
{LONGEST + 0.1:.2f}s call     tests/core/test_laws.py::test_draws[a name with spaces]
{0.75 * LONGEST:.2f}s call     tests/core/test_laws.py::test_quick
{0.75 * LONGEST:.2f}s setup    tests/core/test_laws.py::test_long_set_up
{0.75 * LONGEST:.2f}s call     tests/core/test_laws.py::test_long_set_up
9.00s call     {ALWAYS[0]}test_emissions.py::test_nothing_is_told
12 passed in 3.00s
"""


def test_what_takes_long_is_named_and_what_must_stay_is_not() -> None:
    assert read_durations(PRINTED.splitlines()) == [
        "tests/core/test_laws.py::test_draws[a name with spaces]",
        "tests/core/test_laws.py::test_long_set_up",
    ]


def test_only_named_tests_get_the_mark(request: pytest.FixtureRequest) -> None:
    name = min(slow_tests())

    class Named:
        def __init__(self, nodeid: str) -> None:
            self.nodeid, self.marks = nodeid, list[str]()

        def add_marker(self, mark: pytest.MarkDecorator) -> None:
            self.marks.append(mark.name)

    items = [Named(name), Named(request.node.nodeid)]
    mark_slow(items)  # type: ignore[arg-type]
    assert [item.marks for item in items] == [["slow"], []]
