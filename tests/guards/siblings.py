"""Processes of one parent, what each of them draws, and the demand that they have nothing in common."""

from __future__ import annotations

import os
import pickle
import select
import signal
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from tests.guards.generator import scripted

Drawn = Sequence[Hashable]
Draw = Callable[[], Drawn]
PATIENCE = 60.0
ENOUGH = 16
"""Bytes: what is drawn from fewer could be guessed."""
LONG = 8
"""Bytes: shorter pieces are coins, some of whose bits are dropped."""
STRETCH = 12
"""Bytes in a row that two streams may not share: among 2**20 such stretches, equal ones by chance have probability 2**-57."""


def in_children(jobs: Sequence[Callable[[], Any]]) -> list[Any]:
    """What each job returns when a child of its own runs it; all children are forked before any is read."""
    return [_received(*child) for child in [_forked(job) for job in jobs]]


def _forked(job: Callable[[], Any]) -> tuple[int, int]:
    read, write = os.pipe()
    child = os.fork()
    if child:
        os.close(write)
        return child, read
    try:
        os.close(read)
        with os.fdopen(write, "wb") as pipe:
            pipe.write(pickle.dumps(_outcome(job)))
    finally:
        os._exit(0)


def _outcome(job: Callable[[], Any]) -> tuple[bool, Any]:
    try:
        return True, job()
    except Exception as error:
        return False, f"{type(error).__name__}: {error}"


def _received(child: int, read: int) -> Any:
    deadline, data = time.monotonic() + PATIENCE, bytearray()
    with os.fdopen(read, "rb", buffering=0) as pipe:
        while select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
            piece = pipe.read(1 << 16)
            if not piece:
                break
            data += piece
        else:
            os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if not data:
        raise RuntimeError("a child ended without a word")
    fine, result = pickle.loads(bytes(data))
    if not fine:
        raise RuntimeError(f"a child failed: {result}")
    return result


def assert_nothing_shared(drawn: Sequence[Drawn], stretch: int = STRETCH) -> None:
    """No stretch occurs in two of the sequences, at whatever places, nor twice in one."""
    seen: dict[Drawn, tuple[int, int]] = {}
    for who, sequence in enumerate(drawn):
        assert len(sequence) >= stretch, "too little was drawn to compare"
        hashable = sequence if isinstance(sequence, bytes) else tuple(sequence)
        for start in range(len(hashable) - stretch + 1):
            other, place = seen.setdefault(hashable[start : start + stretch], (who, start))
            assert (other, place) == (who, start), f"{other} and {who} drew the same {stretch} from {place} and {start} on"


def check_siblings(draw: Draw, *, children: int = 2, stretch: int = STRETCH) -> None:
    """Children of this process, and this process itself before and after, draw nothing alike."""
    before = draw()
    drawn = in_children([draw] * children)
    assert_nothing_shared([before, *drawn, draw()], stretch)


def check_grandchildren(draw: Draw, *, stretch: int = STRETCH) -> None:
    """A child that has drawn, its own children, and its sibling draw nothing alike."""

    def line() -> list[Drawn]:
        return [draw(), *in_children([draw, draw]), draw()]

    draw()
    assert_nothing_shared([sequence for family in in_children([line, line]) for sequence in family], stretch)


def check_threads(draw: Draw, *, threads: int = 4, stretch: int = STRETCH) -> None:
    """Threads that draw at the same moment draw nothing alike."""
    gate = Barrier(threads)

    def work(_: int) -> Drawn:
        gate.wait(PATIENCE)
        return draw()

    with ThreadPoolExecutor(threads) as pool:
        assert_nothing_shared(list(pool.map(work, range(threads))), stretch)


def check_the_generator_decides(draw: Draw, *, stretch: int = STRETCH) -> None:
    """What a child draws follows from the system's generator alone.

    Two children to whom it gives the same bytes draw the same, though their numbers, clocks and memories differ. So nothing
    else went in, whatever it may be. Children to whom it gives different bytes draw nothing alike.
    """

    one, again, other = in_children([_under(draw, "one"), _under(draw, "one"), _under(draw, "other")])
    assert one == again, "something beside the system's generator went into what was drawn"
    assert_nothing_shared([one[0], other[0]], stretch)
    assert sum(one[1]) >= ENOUGH, "the system's generator was asked for too little"


def check_every_byte_counts(draw: Draw, pieces: int = 3) -> None:
    """Where a long piece from the system's generator changes what is drawn, its first and its last byte do so alone.

    A key of 32 bytes of which only a few are used would be guessable.
    """
    sizes = in_children([_under(draw, "one")])[0][1]
    asked = [piece for piece, size in enumerate(sizes) if size >= LONG][:pieces]
    whole = in_children([_under(draw, "one"), *(_under(draw, "one", (piece, slice(None))) for piece in asked)])
    counting = [piece for place, piece in enumerate(asked) if whole[1 + place] != whole[0]]
    assert counting or not asked, "nothing that was drawn depends on the system's generator"
    ends = [(piece, end) for piece in counting for end in (slice(0, 1), slice(-1, None))]
    for place, changed in zip(ends, in_children([_under(draw, "one", end) for end in ends]), strict=True):
        assert changed != whole[0], f"a byte of the system's generator does not count: {place}"


def _under(draw: Draw, name: str, turned: tuple[int, slice] | None = None) -> Callable[[], tuple[Drawn, list[int]]]:
    """A job: draw with a scripted generator; what was drawn, and how many bytes were asked for each time."""

    def job() -> tuple[Drawn, list[int]]:
        with scripted(name, turned) as generator:
            return draw(), generator.sizes

    return job
