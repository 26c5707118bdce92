"""What an engine folds: Parquet files of reports or of sums, given by path, pattern, directory or address."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from deniable.batch.engines.s3 import ENDING, in_s3, s3_files, without_settings
from deniable.batch.files.rows import DIGITS
from deniable.core import Mechanism
from deniable.errors import InvalidParameter

_ADDRESS = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]+):")


@dataclass(frozen=True)
class Source:
    """Parquet files with reports of one recipe, or with sums of them.

    `paths` are files, patterns (`reports/*.parquet`), directories (with all that is below them), the same in S3
    (`s3://bucket/reports/*.parquet`), and addresses such as `hdfs://host/reports`, which only a cluster can read. Files
    hold one output per row in `column`: whole numbers, or text in this `base`; or they are a collector's exports, of
    reports or of sums. With `strict`, the first record or file that cannot be used stops the work; otherwise it is counted,
    named and left out.
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
        """The addresses among the paths that only a cluster's own file systems can read."""
        return tuple(path for path in self.paths if is_remote(path) and not in_s3(path))

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The files behind all other paths, each once, in order of their names, and how many bytes they have."""
        return sizes_of(self.paths)

    @property
    def files(self) -> tuple[str, ...]:
        """The same files without their sizes."""
        return tuple(self.sizes)


def sizes_of(paths: Sequence[str]) -> dict[str, int]:
    """The files behind paths of this machine and addresses in S3, and how many bytes they have."""
    sizes = {path: os.stat(path).st_size for path in local_files([path for path in paths if not is_remote(path)])}
    for address in paths:
        for file, size in s3_files(address) if in_s3(address) else ():
            if file in sizes:
                raise InvalidParameter(_twice(without_settings(file)))
            sizes[file] = size
    return sizes


def is_remote(path: str) -> bool:
    """Is it an address, and not one of this machine's own files?"""
    scheme = _ADDRESS.match(path)
    return scheme is not None and scheme[1].lower() != "file"


def local_files(paths: Sequence[str]) -> tuple[str, ...]:
    """The files behind paths, patterns and directories; the same file twice is refused, for its reports would count twice."""
    by_real_path: dict[str, str] = {}
    for path in paths:
        for file in _files_of(re.sub(r"^file:(//)?(?=/)", "", path)):
            real = os.path.realpath(file)
            if real in by_real_path:
                raise InvalidParameter(_twice(file))
            by_real_path[real] = file
    return tuple(by_real_path.values())


def names_of(files: Sequence[str]) -> dict[str, str]:
    """What to call each file in messages: its path below the directory that all of them share."""
    plain = [without_settings(file) for file in files]
    if not plain or len({is_remote(file) for file in plain}) > 1:
        return dict(zip(files, plain, strict=True))
    shared = os.path.dirname(plain[0]) if len(plain) == 1 else os.path.commonpath([os.path.dirname(file) for file in plain])
    return {file: os.path.relpath(name, shared) if shared else name for file, name in zip(files, plain, strict=True)}


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


def _twice(file: str) -> str:
    return f"{file} is given twice, and its reports would count twice; name it once"
