"""A server that imports everything, draws from every door, and then starts workers; run as a program of its own.

    python -m tests.guards.preloading fork|forkserver|spawn|namespace

It prints, for every door, what each worker drew. The `plant` of the module that the environment names is called
first, in the workers, too.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import multiprocessing
import os
import sys
from collections.abc import Mapping, Sequence

from tests.guards.doors import DOORS
from tests.guards.siblings import Draw, Drawn, assert_nothing_shared, in_children

WORKERS = 3
CLONE_NEWPID = 0x20000000
FAULT = "DENIABLE_TEST_FAULT"
SERVER = "DENIABLE_TEST_SERVER"
"""Set in the server's environment, so that importing this module elsewhere opens nothing."""

QUICK = [name for name in DOORS if name not in ("ledger secrets", "memo secrets")]
OPENED: dict[str, Draw] = {}
"""Opened when a server's process imports this module, before any worker exists."""

if os.environ.get(SERVER):
    if os.environ.get(FAULT):
        importlib.import_module(os.environ[FAULT]).plant()
    OPENED.update({name: DOORS[name][0]() for name in QUICK})


def work(_: int = 0) -> dict[str, str]:
    """What one worker draws."""
    return {name: _text(draw()) for name, draw in OPENED.items()}


def check_workers(drawn: Mapping[str, Sequence[str]]) -> None:
    """No two workers drew anything alike from any door."""
    for name, texts in drawn.items():
        assert len(texts) >= 2
        sequences = [_drawn(text) for text in texts]
        assert_nothing_shared(sequences, DOORS[name][1])


def _text(drawn: Drawn) -> str:
    if isinstance(drawn, bytes):
        return "x" + drawn.hex()
    return json.dumps([item.hex() if isinstance(item, bytes) else item for item in drawn])


def _drawn(text: str) -> Drawn:
    if text.startswith("x"):
        return bytes.fromhex(text[1:])
    items: list[int] = json.loads(text)
    return items


def main(method: str) -> dict[str, list[str]]:
    """Start workers in this way and gather what they drew, the server's own draw first."""
    if method == "namespace":
        return _in_a_namespace()
    context = multiprocessing.get_context(method)
    if method == "forkserver":
        context.set_forkserver_preload(["tests.guards.preloading"])
    with context.Pool(WORKERS, maxtasksperchild=1) as pool:
        rows = [work(), *pool.map(work, range(WORKERS), chunksize=1)]
    return {name: [row[name] for row in rows] for name in QUICK}


def _in_a_namespace() -> dict[str, list[str]]:
    """This process is number 1 in its namespace; its child is number 1 in a new one."""
    own = str(os.getpid())
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWPID):
        raise OSError(ctypes.get_errno(), "unshare")
    child, theirs = in_children([lambda: (str(os.getpid()), work())])[0]
    mine = work()
    return {"numbers": [own, child], **{name: [theirs[name], mine[name]] for name in QUICK}}


if __name__ == "__main__":
    os.environ[SERVER] = "1"
    from tests.guards import preloading  # the module the workers know, not __main__

    print(json.dumps(preloading.main(sys.argv[1])))
