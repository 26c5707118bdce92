"""A program in benchmarks/ comes first on Python's path: its name must not be another package's."""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.parametrize("program", [path.stem for path in BENCHMARKS.glob("*.py")])
def test_a_program_hides_no_package(program: str) -> None:
    """One that was called coverage.py hid the package that numba imports, so that no other program could be started."""
    others = [place for place in sys.path if BENCHMARKS not in (Path(place), *Path(place).parents)]
    assert PathFinder.find_spec(program, others) is None
