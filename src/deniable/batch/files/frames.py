"""Frames of the wire format, one after another in a file, read piece by piece."""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from deniable.batch.files.intake import UNREADABLE, Intake, reason_of
from deniable.batch.reports import Reports
from deniable.core import COUNT_BYTES, HEADER, check_header, header, output_bits
from deniable.errors import WireError, WrongRecipe

START = HEADER + COUNT_BYTES
MOST_REPORTS, MOST_BITS = 1 << 16, 1 << 26
"""At once: so many reports, or as many as fit into so many bits."""


def read_frames(file: BinaryIO, name: str, intake: Intake, progress: Callable[[int], None]) -> None:
    """Fold all reports of all frames of a file."""
    number = 0
    while head := file.read(START):
        number += 1
        if len(head) < START:
            intake.note(name, f"ends early: frame {number} is cut off in its header")
            return
        progress(len(head))
        try:
            check_header(intake.mechanism, head)
        except WireError as error:
            # Another recipe's reports have another width, so where its frame ends is unknown.
            claimed = int.from_bytes(head[HEADER:], "big") if isinstance(error, WrongRecipe) else 1
            rest = _skip(file, progress)
            intake.refuse(reason_of(error), name, f"frame {number}", max(1, min(claimed, 8 * rest)))
            return
        if not _read_frame(file, int.from_bytes(head[HEADER:], "big"), f"frame {number}", name, intake, progress):
            return


def _read_frame(file: BinaryIO, count: int, frame: str, name: str, intake: Intake, progress: Callable[[int], None]) -> bool:
    """The reports of one frame; False when the file ended before they did."""
    bits = output_bits(intake.mechanism.channel)
    at_once = max(8, min(MOST_REPORTS, MOST_BITS // bits // 8 * 8))
    done = 0
    while done < count:
        wanted = min(at_once, count - done)
        body = file.read((wanted * bits + 7) // 8)
        whole = min(wanted, len(body) * 8 // bits)
        progress(len(body))
        _take(body[: (whole * bits + 7) // 8], whole, done, frame, name, intake, complete=whole == wanted)
        done += whole
        if whole < wanted:
            intake.note(name, f"ends early: {frame} says it holds {count} reports and {done} of them are there")
            return False
    return True


def _take(body: bytes, count: int, before: int, frame: str, name: str, intake: Intake, *, complete: bool) -> None:
    """Fold reports that begin on a whole byte. Bits after the last one must be zero, unless the file was cut there."""
    spare = len(body) * 8 - count * output_bits(intake.mechanism.channel)
    if spare and body[-1] & ((1 << spare) - 1):
        if complete:
            intake.refuse(UNREADABLE, name, f"end of {frame}")
        body = body[:-1] + bytes([body[-1] >> spare << spare])
    if not count:
        return
    if not intake.takes_numbers:
        try:
            packed = header(intake.mechanism) + count.to_bytes(COUNT_BYTES, "big") + body
            intake.fold(Reports.from_bytes(intake.mechanism, packed).outputs)
            return
        except WireError:
            pass  # some of them are bad: one by one, then
    intake.take(_outputs(body, count, intake), name, lambda i: f"{frame}, report {before + i + 1}")


def _outputs(body: bytes, count: int, intake: Intake) -> list[int] | NDArray[np.uint64]:
    """The outputs, whatever they are: an array when they fit 64 bits."""
    bits = output_bits(intake.mechanism.channel)
    digits = np.unpackbits(np.frombuffer(body, np.uint8), count=count * bits).reshape(count, bits)
    padded = np.zeros((count, 64 if intake.takes_numbers else (bits + 7) // 8 * 8), np.uint8)
    padded[:, -bits:] = digits
    packed = np.packbits(padded, axis=1)
    if intake.takes_numbers:
        return packed.view(">u8").reshape(-1).astype(np.uint64)
    return [int.from_bytes(row.tobytes(), "big") for row in packed]


def _skip(file: BinaryIO, progress: Callable[[int], None]) -> int:
    """Read to the end; how many bytes there were."""
    total = 0
    while piece := file.read(1 << 20):
        total += len(piece)
        progress(len(piece))
    return total
