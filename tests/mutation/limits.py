"""Work in a child process with limits on time and memory: a fault may loop for ever."""

from __future__ import annotations

import json
import os
import resource
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

MOST_MEMORY = 8 << 30
WALL_SECONDS = 1500


def in_a_fork(work: Callable[[], Any], seconds: float) -> tuple[str, Any]:
    """`("done", answer)`, or `("time", None)`, or `("crash", None)` when the child died of something else.

    The limit is one of processor time, so that a busy machine does not decide what a test suite noticed.
    """
    with tempfile.TemporaryDirectory() as scratch:
        kept = Path(scratch) / "answer.json"
        pid = os.fork()
        if pid == 0:
            try:
                _limit(seconds)
                answer = work()
                kept.write_text(json.dumps(answer))
            finally:
                os._exit(0)
        signalled = _wait(pid)
        if kept.exists():
            return "done", json.loads(kept.read_text())
        return ("time" if signalled in (signal.SIGXCPU, signal.SIGVTALRM, signal.SIGKILL) else "crash"), None


def _limit(seconds: float) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    if "MUTATION_LOUD" not in os.environ:
        os.dup2(quiet, 2)


def _wait(pid: int) -> int:
    """Wait for a child, not for ever; the signal that ended it, or 0."""
    deadline = time.monotonic() + WALL_SECONDS
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return int(signal.SIGKILL)
