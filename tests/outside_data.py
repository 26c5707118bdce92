"""Public data that the repository does not contain: where tests look for it, and what they say when it is absent."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

FOLDER = Path(os.environ.get("DENIABLE_DATA", Path(__file__).parents[2] / "shared" / "data"))
"""A folder beside the repository, or the one that DENIABLE_DATA names."""
Test = TypeVar("Test", bound=Callable[..., Any])


def absent(*names: str) -> str:
    """Empty when all files are there; otherwise what is missing and how to get it."""
    missing = [name for name in names if not (FOLDER / name).exists()]
    if not missing:
        return ""
    return (
        f"{', '.join(missing)} does not come with the repository: docs/reproduce.md says where it is published; "
        "put it into a folder and name the folder in DENIABLE_DATA"
    )


def needs(*names: str) -> Callable[[Test], Test]:
    """The test reads these files, so it is not part of `make test`, and is skipped with a reason where they are absent."""
    reason = absent(*names)

    def mark(test: Test) -> Test:
        marked: Test = pytest.mark.slow(pytest.mark.skipif(bool(reason), reason=reason)(test))
        return marked

    return mark
