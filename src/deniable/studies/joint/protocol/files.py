"""Key files and new files: private ones only the owner can read, none ever overwritten."""

from __future__ import annotations

import os
from pathlib import Path

from deniable.errors import InvalidParameter
from deniable.studies.joint.protocol.encryption import Identity


def read_identity(path: Path) -> Identity:
    """The key pair in a file."""
    try:
        return Identity.from_bytes(bytes.fromhex(path.read_text(encoding="utf-8").strip()))
    except (OSError, ValueError) as broken:
        raise InvalidParameter("the key file cannot be read; make it with: deniable joint keys") from broken


def write_new(path: Path, text: str, mode: int = 0o644) -> None:
    """Write a file that does not exist yet."""
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as there:
        raise InvalidParameter(f"{path.name} exists already; it is not overwritten") from there


def write_same(path: Path, text: str) -> None:
    """Write a public file that others may have written as well: what is there already must be the same."""
    mine = path.with_name(f"{path.name}.{os.getpid()}")
    mine.write_text(text, encoding="utf-8")
    try:
        os.link(mine, path)
    except FileExistsError as there:
        if path.read_text(encoding="utf-8") != text:
            raise InvalidParameter(f"{path.name} exists already and says something else; it is not overwritten") from there
    finally:
        mine.unlink()
