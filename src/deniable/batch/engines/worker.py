"""A process of the local engine: pieces come in by standard input, the part goes out by standard output."""

from __future__ import annotations

import json
import sys

from deniable.batch.engines.frames import read_frame, write_frame
from deniable.batch.engines.pieces import Folder, Piece
from deniable.batch.engines.source import Source
from deniable.core import mechanism_from_recipe


def main() -> None:
    """Fold pieces until an empty frame comes."""
    incoming, outgoing = sys.stdin.buffer, sys.stdout.buffer
    work = json.loads(read_frame(incoming))
    mechanism = mechanism_from_recipe(work["recipe"], allow_large=True)
    # The paths come one by one, with the pieces.
    folder = Folder(Source(mechanism, (".",), work["column"], work["base"], work["strict"]))
    try:
        while data := read_frame(incoming):
            folder.fold(Piece(**json.loads(data)))
            write_frame(outgoing, b"done" if folder.part.stopped is None else b"stopped")
        write_frame(outgoing, folder.part.to_bytes())
    except (EOFError, BrokenPipeError):
        sys.exit(1)  # whoever asked is gone


if __name__ == "__main__":
    main()
