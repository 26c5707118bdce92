"""A benchmark is started by its name, from its folder: nothing there may stand in for a package that others import."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
STEPS_ASIDE = {"coverage"}
"""Raises ModuleNotFoundError when it is imported under this name: numba then does without the package."""


def test_no_benchmark_has_the_name_of_a_package() -> None:
    installed = set(packages_distributions()) | sys.stdlib_module_names
    assert {path.stem for path in BENCHMARKS.iterdir() if path.stem in installed} <= STEPS_ASIDE


def test_the_one_that_has_steps_aside() -> None:
    code = "import coverage"
    ended = subprocess.run([sys.executable, "-c", code], cwd=BENCHMARKS, capture_output=True, text=True, check=False)
    assert "ModuleNotFoundError: this is a benchmark" in ended.stderr
