"""Several worker processes on one socket: one that dies is started again, and all end together."""

from __future__ import annotations

import logging.config
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque

from deniable.collector.failures import LOGGER
from deniable.collector.logs import logging_of
from deniable.collector.metrics import SHARED

GRACE_SECONDS = 15
PARENT = "DENIABLE_PARENT"
"""Set for worker processes: the process that started them."""
MOST_DEATHS, DEATHS_SECONDS, REST_SECONDS = 10, 60.0, 0.2
"""When so many times the workers' number die within so many seconds, all end; a worker is started again after a rest."""


def run_workers(command: list[str], count: int, listening: socket.socket, *, log: str = "text") -> int:
    """Run this command again in so many processes until a signal ends them; the exit code, which is 1 when they kept dying."""
    logging.config.dictConfig(logging_of(access=False, form=log))
    listening.set_inheritable(True)
    folder = tempfile.mkdtemp(prefix="deniable-metrics-")
    environment = {**os.environ, "DENIABLE_SOCKET": str(listening.fileno()), SHARED: folder, PARENT: str(os.getpid())}

    def start() -> subprocess.Popen[bytes]:
        whole = [sys.executable, "-m", "deniable.cli", *command]
        return subprocess.Popen(whole, env=environment, pass_fds=[listening.fileno()])  # noqa: S603 - our own command again

    workers = [start() for _ in range(count)]
    stopping = False

    def stop(*_: object) -> None:
        nonlocal stopping
        stopping = True
        for worker in workers:
            worker.terminate()

    def reload(*_: object) -> None:
        for worker in workers:
            worker.send_signal(signal.SIGHUP)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGHUP, reload)
    deaths: deque[float] = deque(maxlen=MOST_DEATHS * count)
    while not stopping:
        pid, status = os.wait()
        for place, worker in enumerate(workers):
            if worker.pid == pid and not stopping:
                worker.returncode = 1
                deaths.append(time.monotonic())
                how = _ended(os.waitstatus_to_exitcode(status))
                if len(deaths) == deaths.maxlen and deaths[-1] - deaths[0] < DEATHS_SECONDS:
                    LOGGER.error("workers ended %d times within a minute, the last %s; the collector stops", len(deaths), how)
                    stop()
                else:
                    LOGGER.error("a worker ended %s; another one is started", how)
                    time.sleep(REST_SECONDS)  # one that cannot even start must not keep the processor busy
                    if not stopping:
                        workers[place] = start()
    stop()  # also one that was being started meanwhile
    try:
        patience = time.monotonic() + GRACE_SECONDS + 5
        return max(_waited(worker, patience - time.monotonic()) for worker in workers)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _waited(worker: subprocess.Popen[bytes], seconds: float) -> int:
    """The exit code of a worker that was told to end; one that does not is ended."""
    try:
        return max(0, worker.wait(max(0.0, seconds)))
    except subprocess.TimeoutExpired:
        LOGGER.error("a worker did not end in time and was killed; what it had not acknowledged is sent again")
        worker.kill()
        worker.wait()
        return 1


def _ended(code: int) -> str:
    """How a worker ended, for a log."""
    if code >= 0:
        return f"with exit code {code}"
    often = " (as a rule because memory ran out)" if -code == signal.SIGKILL else ""
    return f"by {signal.Signals(-code).name}{often}"
