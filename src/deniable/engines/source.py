"""What an engine folds: Parquet files of reports or of sums, given by path, pattern, directory or address."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from deniable.datasets.report_rows import DIGITS
from deniable.errors import InvalidParameter
from deniable.mechanisms import Mechanism

ENDING = ".parquet"
_ADDRESS = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]+):")


@dataclass(frozen=True)
class Source:
    """Parquet files with reports of one recipe, or with sums of them.

    `paths` are files, patterns (`reports/*.parquet`), directories (with all that is below them) and addresses such as
    `s3://bucket/reports/`, which only a cluster can read. Files hold one output per row in `column`: whole numbers, or
    text in this `base`; or they are a collector's exports, of reports or of sums. With `strict`, the first record or
    file that cannot be used stops the work; otherwise it is counted, named and left out.
    """

    mechanism: Mechanism
    paths: tuple[str, ...]
    column: str = "output"
    base: int = 16
    strict: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.paths, str) or not self.paths or not all(isinstance(path, str) and path for path in self.paths):
            raise InvalidParameter("paths must be a tuple of paths, patterns or addresses, also when it is only one: (path,)")
        if self.base not in DIGITS:
            raise InvalidParameter("base must be 10 or 16")

    @property
    def remote(self) -> tuple[str, ...]:
        """The addresses among the paths that are not on this machine's file system."""
        return tuple(path for path in self.paths if is_remote(path))

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The files behind all paths of this machine, each once, in order of their names."""
        return local_files([path for path in self.paths if not is_remote(path)])


def is_remote(path: str) -> bool:
    """Is it an address, and not one of this machine's own files?"""
    found = _ADDRESS.match(path)
    return found is not None and found[1].lower() != "file"


def local_files(paths: Sequence[str]) -> tuple[str, ...]:
    """The files behind paths, patterns and directories; the same file twice is refused, for its reports would count twice."""
    found: dict[str, str] = {}
    for path in paths:
        for file in _files_of(re.sub(r"^file:(//)?(?=/)", "", path)):
            real = os.path.realpath(file)
            if real in found:
                raise InvalidParameter(f"{file} is given twice, and its reports would count twice; name it once")
            found[real] = file
    return tuple(found.values())


def names_of(files: Sequence[str]) -> dict[str, str]:
    """What to call each file in messages: its path below the directory that all of them share."""
    if not files:
        return {}
    shared = os.path.dirname(files[0]) if len(files) == 1 else os.path.commonpath([os.path.dirname(file) for file in files])
    return {file: os.path.relpath(file, shared) if shared else file for file in files}


def _files_of(path: str) -> Iterator[str]:
    if os.path.isdir(path):
        below = sorted(str(file) for file in Path(path).rglob(f"*{ENDING}") if file.is_file() and not _hidden(file, path))
        if not below:
            raise InvalidParameter(f"there is no *{ENDING} file in the directory {path}")
        yield from below
    elif os.path.exists(path):
        yield path
    elif glob.has_magic(path):
        matches = sorted(glob.glob(path, recursive=True))
        if not matches:
            raise InvalidParameter(f"no file matches {path}; check the pattern, and put quotes around it")
        for match in matches:
            yield from _files_of(match)
    else:
        raise InvalidParameter(f"there is no file {path}")


def _hidden(file: Path, directory: str) -> bool:
    """Spark and others keep unfinished work in names that begin with a dot or an underscore."""
    return any(part.startswith((".", "_")) for part in file.relative_to(directory).parts)
