"""A peer's process: started once, asked one question at a time."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from speed.environments import NotInstalled, Peer, python_of

Answer = dict[str, Any]
PATIENCE = 180.0
"""Seconds that one answer may take."""


class Conversation:
    """Questions to one peer. A peer that cannot be started, or that dies, answers every question with the reason."""

    def __init__(self, peer: Peer) -> None:
        self.peer, self.trouble = peer, ""
        self.process: subprocess.Popen[str] | None = None
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the conversation
        try:
            command = [python_of(peer), str(peer.path), *peer.arguments]
            clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True, env=clean
            )
        except NotInstalled as error:
            self.trouble = f"not installed: {error}"
        except OSError as error:
            self.trouble = f"did not start: {type(error).__name__}"

    def ask(self, **question: Any) -> Answer:
        """Its answer; {"failed": why} when there is none."""
        if self.process is None:
            return {"failed": self.trouble}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            print(json.dumps(question), file=self.process.stdin, flush=True)
        except BrokenPipeError:
            return self._ended()
        with selectors.DefaultSelector() as waiting:
            waiting.register(self.process.stdout, selectors.EVENT_READ)
            if not waiting.select(PATIENCE):
                return self._ended(f"no answer within {PATIENCE:.0f} s")
        line = self.process.stdout.readline()
        return json.loads(line) if line else self._ended()

    def _ended(self, why: str = "") -> Answer:
        self.errors.seek(0)
        last = (self.errors.read().strip().splitlines() or ["it ended without a word"])[-1]
        self.trouble = why or f"stopped: {last[:200]}"
        self.close()
        return {"failed": self.trouble}

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            for stream in (self.process.stdin, self.process.stdout):
                if stream is not None and not stream.closed:
                    try:
                        stream.close()
                    except BrokenPipeError:
                        continue
            self.process = None


@contextmanager
def conversations(peers: list[Peer]) -> Iterator[list[Conversation]]:
    """All of them at once, so that they can take turns."""
    open_ones = [Conversation(peer) for peer in peers]
    try:
        yield open_ones
    finally:
        for one in open_ones:
            one.close()
            one.errors.close()
