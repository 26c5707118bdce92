"""Files that appear when they are complete and on disk, or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Write beside `path` and put it in place; what was there before stays when that fails."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if isinstance(error, OSError):  # a full disk does not say which file
            error.filename, error.filename2 = str(path), None
        raise
