"""The engine of one machine: a few processes, each reading its pieces batch by batch."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict
from queue import Empty, SimpleQueue
from threading import Thread
from time import perf_counter

from deniable.batch.engines.engine import Engine, Progress
from deniable.batch.engines.frames import read_frame, write_frame
from deniable.batch.engines.part import Folded, Part, check_mergeable
from deniable.batch.engines.pieces import Folder, Piece, pieces_of
from deniable.batch.engines.source import Source
from deniable.errors import DeniableError, InvalidParameter

WORTH_PROCESSES = 5.0
"""Seconds of work that must be left for processes to be started: loading what they need takes them one or two."""


class Local(Engine):
    """Folds on this machine, in memory that does not grow with the files.

    Column projection reads only the outputs. `processes` is how many work at once; they are started when the first pieces show
    that what is left takes long enough.
    """

    def __init__(self, processes: int = 2) -> None:
        if not isinstance(processes, int) or processes < 1:
            raise InvalidParameter("processes must be a whole number from 1 on")
        self.processes = processes

    def read(self, source: Source, progress: Progress | None = None) -> Folded:
        """The sums of all that can be used, and what could not be."""
        if source.remote:
            raise InvalidParameter(f"{source.remote[0]} is neither on this machine nor in S3; read it by the engine spark")
        check_mergeable(source.mechanism)
        tell = progress or (lambda done: None)
        left = sorted(pieces_of(source), key=lambda piece: -piece.size)
        folder, done, begin = Folder(source), 0, perf_counter()
        while left and folder.part.stopped is None:
            seconds = (perf_counter() - begin) * sum(piece.size for piece in left) / done if done else 0.0
            if self.processes > 1 and len(left) > 1 and seconds > WORTH_PROCESSES:
                break
            folder.fold(left[0])
            done += left[0].size
            tell(left.pop(0).size)
        part = folder.part
        if left and part.stopped is None:
            part = part.merge(_in_processes(source, left, min(self.processes, len(left)), tell))
        return Folded.of(part, len(source.files), strict=source.strict)


def _in_processes(source: Source, pieces: list[Piece], processes: int, tell: Progress) -> Part:
    """Hand out pieces, in their order, to whichever process is free."""
    waiting: SimpleQueue[Piece] = SimpleQueue()
    for piece in pieces:
        waiting.put(piece)
    messages: SimpleQueue[Piece | Part | Exception] = SimpleQueue()
    started = [_start(source) for _ in range(processes)]
    try:
        threads = [Thread(target=_serve, args=(process, source, waiting, messages), daemon=True) for process in started]
        for thread in threads:
            thread.start()
        part = Part.empty(source.mechanism)
        left = processes
        while left:
            message = messages.get()
            if isinstance(message, Exception):
                raise message
            if isinstance(message, Piece):
                tell(message.size)
                continue
            left -= 1
            part = part.merge(message)
            if part.stopped is not None:
                break
        return part
    finally:
        for process in started:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                assert stream is not None
                with suppress(BrokenPipeError):  # nobody is left to read it, and the error is told already
                    stream.close()


def _start(source: Source) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "deniable.batch.engines.worker"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 - our own module
    assert process.stdin is not None
    work = {"recipe": source.mechanism.recipe(), "column": source.column, "base": source.base, "strict": source.strict}
    write_frame(process.stdin, json.dumps(work).encode())
    return process


def _serve(
    process: subprocess.Popen[bytes], source: Source, waiting: SimpleQueue[Piece], messages: SimpleQueue[Piece | Part | Exception]
) -> None:
    """One process's conversation: a piece, its receipt, the next piece; at the end an empty frame, and its part."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        while True:
            try:
                piece = waiting.get_nowait()
            except Empty:
                break
            write_frame(process.stdin, json.dumps(asdict(piece)).encode())
            if read_frame(process.stdout) == b"stopped":
                break
            messages.put(piece)
        write_frame(process.stdin, b"")
        messages.put(Part.from_bytes(source.mechanism, read_frame(process.stdout)))
    except (OSError, EOFError, ValueError):
        messages.put(DeniableError("a process of the engine ended before its work was done; give it more memory, or run it again"))
