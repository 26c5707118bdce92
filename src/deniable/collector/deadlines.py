"""How long anybody waits, in one place, each longer than what it waits for.

A lock < a transaction < the answer to a request < what our clients wait for an answer (`HttpTransport.timeout`).
"""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from deniable.collector.messages import Refusal

CONNECT_SECONDS = 2
"""How long opening a connection to PostgreSQL may take; libpq takes no less."""
LOCK_SECONDS = 3.0
"""How long a statement waits for somebody else's transaction."""
TRANSACTION_SECONDS = 4.0
"""How long a transaction may take, from taking a connection to giving it back."""
ANSWER_SECONDS = 5.0
"""When a request is answered at the latest, if only with 503."""
WORK_SECONDS = 30.0
"""How long estimates may take to be worked out for somebody who waits."""
LONG_SECONDS = 60.0
"""A transaction that nobody waits for: tidying up, exports."""
LOOK_SECONDS = 0.1

T = TypeVar("T")


class _Allowance(threading.local):
    seconds: float = TRANSACTION_SECONDS


_ALLOWANCE = _Allowance()


@contextmanager
def patiently(seconds: float = LONG_SECONDS) -> Iterator[None]:
    """Transactions of this thread may take longer for once: nobody waits for them."""
    _ALLOWANCE.seconds = seconds
    try:
        yield
    finally:
        _ALLOWANCE.seconds = TRANSACTION_SECONDS


class Scissors:
    """Cuts the connections of transactions that take too long.

    A server's own timeouts do not help against a server that hangs. Cutting the socket ends the wait of the thread that
    uses it, whatever it waits for, and the pool opens another connection when the server is back.
    """

    def __init__(self) -> None:
        self._held: dict[int, tuple[float, socket.socket]] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def hold(self, connection: Any) -> None:
        """A transaction on this connection begins."""
        line = socket.socket(fileno=os.dup(connection.fileno()))
        with self._changed:
            self._release(connection)
            self._held[id(connection)] = (time.monotonic() + _ALLOWANCE.seconds, line)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="deniable-scissors", daemon=True)
                self._thread.start()
            self._changed.notify()

    def release(self, connection: Any) -> None:
        """It is over."""
        with self._changed:
            self._release(connection)

    def _release(self, connection: Any) -> None:
        held = self._held.pop(id(connection), None)
        if held is not None:
            held[1].close()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._held:
                    self._changed.wait()
                for name, (until, line) in list(self._held.items()):
                    if until <= time.monotonic():
                        del self._held[name]
                        _cut(line)
            time.sleep(LOOK_SECONDS)


def _cut(line: socket.socket) -> None:
    try:
        line.shutdown(socket.SHUT_RDWR)
    except OSError:  # it is gone already
        pass
    finally:
        line.close()


_THREADS = ThreadPoolExecutor(max_workers=40, thread_name_prefix="deniable-request")


async def off_loop(work: Callable[..., T], *given: Any, seconds: float = TRANSACTION_SECONDS) -> T:
    """Run something that may wait, in a thread. A request that waits too long is told to come back; the work itself goes on."""
    try:
        return await asyncio.wait_for(asyncio.get_running_loop().run_in_executor(_THREADS, lambda: work(*given)), seconds)
    except TimeoutError:
        raise Refusal(503, "this takes too long; come back later", retry_after=1) from None


def end_threads() -> None:
    """Idle threads end, and what has not begun never does."""
    _THREADS.shutdown(wait=False, cancel_futures=True)
