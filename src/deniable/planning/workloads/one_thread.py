"""Linear algebra on one thread: matrices of a few hundred rows lose more to waiting threads than they gain."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy

NAMES = tuple(f"{start}openblas_{{}}_num_threads{end}" for start in ("scipy_", "") for end in ("64_", ""))


@cache
def _controls() -> list[tuple[Callable[[], int], Callable[[int], None]]]:
    """How to ask and to set the threads of the OpenBLAS libraries that NumPy and SciPy brought along; empty for others."""
    controls: list[tuple[Any, Any]] = []
    for module in (np, scipy):
        folder = Path(str(module.__file__)).parents[1] / f"{module.__name__}.libs"
        for path in folder.glob("*openblas*"):
            library = ctypes.CDLL(str(path))
            for name in NAMES:
                get, put = (getattr(library, name.format(what), None) for what in ("get", "set"))
                if get is not None and put is not None:
                    controls.append((get, put))
                    break
    return controls


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread inside; as before outside. It changes no result beyond rounding."""
    before = [(put, get()) for get, put in _controls()]
    for put, _ in before:
        put(1)
    try:
        yield
    finally:
        for put, count in before:
            put(count)
