"""Parquet files, or some of a large file's row groups, folded into a part. Every engine does its work here."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import pyarrow as pa
from pyarrow import fs

from deniable.batch.accumulators.choose import accumulator_from_bytes
from deniable.batch.engines.part import Part
from deniable.batch.engines.s3 import first_line, s3_file
from deniable.batch.engines.source import Source, is_remote, names_of
from deniable.batch.files.arrow import RowReader
from deniable.batch.files.intake import UNREADABLE, Intake
from deniable.batch.files.parquet import UNREADABLE_FILE, parquet_file, row_batches
from deniable.batch.files.rows import column_place
from deniable.errors import DeniableError, Malformed, WireError, WrongRecipe
from deniable.surveys import Survey

LARGE = 1 << 27
"""Files above so many bytes are folded in several pieces."""
SUMS = ("fingerprint", "data")
"""The columns by which exported sums are known."""
SURVEY = b"deniable.survey"


@dataclass(frozen=True)
class Piece:
    """Row groups `begin` to `end` of a file, or all of it; `size` is about how many bytes that is."""

    path: str
    name: str
    size: int
    begin: int = 0
    end: int | None = None


def pieces_of(source: Source) -> list[Piece]:
    """The source's files in pieces that can be folded apart, none of them much larger than the others."""
    cut: list[Piece] = []
    for path, name in names_of(source.files).items():
        size = source.sizes[path]
        groups = _row_groups(path) if size > LARGE else 0
        pieces = min(groups, -(-size // LARGE))
        if pieces < 2:
            cut.append(Piece(path, name, size))
            continue
        edges = [groups * place // pieces for place in range(pieces + 1)]
        cut += [Piece(path, name, size // pieces, begin, end) for begin, end in pairwise(edges)]
    return cut


class Folder:
    """Folds piece after piece into one part."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.part = Part.empty(source.mechanism)
        self._intake = _Into(self.part, strict=source.strict)
        self._rows = RowReader(self._intake, source.column)

    def fold(self, piece: Piece, content: Any = None) -> None:
        """One piece, from its path or from its content. After an error that ends the work, nothing more is done."""
        if self.part.stopped is not None:
            return
        try:
            self._fold(piece, content)
        except DeniableError as error:
            self.part.stop(error)

    def _fold(self, piece: Piece, content: Any) -> None:
        try:
            file = open_piece(piece.path, content)
        except UNREADABLE_FILE as error:
            # Arrow says both by the same exception: that it cannot reach a file, and that it is none.
            closed = isinstance(error, OSError) and (error.errno is not None or "AWS Error" in str(error))
            why = first_line(error) if closed else "it is not a complete Parquet file"
            self._break(piece.name, 0, f"cannot be read: {why}, and none of its reports are counted")
            return
        with file:
            names = file.schema_arrow.names
            document = (file.schema_arrow.metadata or {}).get(SURVEY)
            try:
                export = None if document is None else self._export(document, piece)
            except WrongRecipe:
                raise
            except DeniableError as error:
                if not piece.begin:
                    rows = file.metadata.num_rows if self.source.column in names else 0
                    self._break(piece.name, rows, f"cannot be used, for the survey in it is damaged: {error}")
                return
            if self.source.column not in names and set(SUMS) <= set(names):
                self._fold_sums(file, piece, export or f"{os.path.dirname(piece.path)}\t")
                return
            if export is not None:
                self.part.add_export(export, piece.name)
            column_place(names, self.source.column, piece.name)
            end = file.metadata.num_row_groups if piece.end is None else piece.end
            for first, batch in row_batches(
                file,
                range(piece.begin, end),
                self.source.column,
                self.source.mechanism.fingerprint,
                self._rows.at_once,
                lambda what, rows: self._break(piece.name, rows, what),
            ):
                self._rows.take(batch, piece.name, first, self.source.base)

    def _export(self, document: bytes, piece: Piece) -> str:
        """Which survey's export it is, and from which directory, after checking the recipe."""
        mine = self.source.mechanism.fingerprint
        fingerprint, survey = _survey_of(document)
        if fingerprint != mine:
            raise WrongRecipe(
                f"{piece.name} is an export of another survey than one by recipe {mine}; fold files of different recipes apart"
            )
        return f"{os.path.dirname(piece.path)}\t{survey}"

    def _fold_sums(self, file: Any, piece: Piece, export: str) -> None:
        """A collector's export of sums: one accumulator per window and shard."""
        # Sums are small: the first piece takes all of them.
        if piece.begin:
            return
        try:
            rows = file.read(columns=[name for name in ("period", "shard", *SUMS) if name in file.schema_arrow.names]).to_pylist()
        except UNREADABLE_FILE:
            self._break(piece.name, 0, "is damaged: its sums cannot be read, and none of them are counted")
            return
        for number, row in enumerate(rows, start=1):
            if row["fingerprint"] != self.source.mechanism.fingerprint:
                raise WrongRecipe(
                    f"{piece.name}, row {number}: the sums are of another recipe; fold files of different recipes apart"
                )
            self.part.add_export(f"{export}\t{row.get('period')}\t{row.get('shard')}", piece.name)
            try:
                exported = accumulator_from_bytes(self.source.mechanism, row["data"])
            except WireError:
                self._intake.refuse(UNREADABLE, piece.name, f"row {number}")
                continue
            self._intake.accumulator = self.part.accumulator = self.part.accumulator.merge(exported)

    def _break(self, name: str, missing: int, what: str) -> None:
        if self.source.strict:
            raise Malformed(f"{name} {what}; strict reading stops there")
        self.part.notes.append(f"{name} {what}")
        self.part.broken[name] = self.part.broken.get(name, 0) + missing


class _Into(Intake):
    """An intake whose sums and counts are a part's own."""

    def __init__(self, part: Part, *, strict: bool) -> None:
        super().__init__(part.accumulator, strict, part.refused, part.notes)


def open_piece(path: str, content: Any = None) -> Any:
    """A Parquet file by its content, its path or its address."""
    if content is not None:
        return parquet_file(pa.BufferReader(content))
    if not is_remote(path):
        return parquet_file(path)
    if re.match("s3[an]?:", path):
        return parquet_file(s3_file(path), remote=True)
    system, place = fs.FileSystem.from_uri(path)
    return parquet_file(system.open_input_file(place), remote=True)


def _row_groups(path: str) -> int:
    try:
        with open_piece(path) as file:
            return int(file.metadata.num_row_groups)
    except UNREADABLE_FILE:
        return 0


@lru_cache(maxsize=64)
def _survey_of(document: bytes) -> tuple[str, str]:
    """The fingerprint of its recipe, and its own hash."""
    survey = Survey.from_json(document, allow_large=True)
    return survey.mechanism.fingerprint, survey.hash
