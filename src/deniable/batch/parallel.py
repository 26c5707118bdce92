"""Two threads when it pays: kernels and the cipher run without the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Piece = TypeVar("Piece")
Result = TypeVar("Result")

WORTH_A_THREAD = 1 << 17
"""Below this many reports a second thread costs more than it gives."""


def worthwhile_threads(count: int) -> int:
    """How many threads to use for so many reports: one or two."""
    return min(2, os.cpu_count() or 1) if count >= WORTH_A_THREAD else 1


def in_parallel(work: Callable[[int, list[Piece]], Result], pieces: Sequence[Piece], threads: int) -> list[Result]:
    """`work(thread, its pieces)` on every thread, neighbouring pieces together; errors come through."""
    if threads == 1:
        return [work(0, list(pieces))]
    size = -(-len(pieces) // threads)
    with ThreadPoolExecutor(threads) as pool:
        jobs = [pool.submit(work, thread, list(pieces[thread * size : (thread + 1) * size])) for thread in range(threads)]
        return [job.result() for job in jobs]
