"""The recipe inside a collector's exports: they carry their survey's own document."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from deniable.batch.engines.pieces import SURVEY, open_piece
from deniable.batch.engines.source import names_of
from deniable.batch.files.parquet import UNREADABLE_FILE
from deniable.core import Mechanism
from deniable.errors import DeniableError
from deniable.surveys import Survey


def exported_mechanism(files: Sequence[str]) -> dict[str, Mechanism]:
    """The mechanism of the first file that is an export, by its name; nothing when none is."""
    for path, name in names_of(files).items():
        try:
            with open_piece(path) as file:
                metadata = file.schema_arrow.metadata or {}
        except UNREADABLE_FILE:
            continue  # the engine will name it
        if SURVEY in metadata:
            with suppress(DeniableError):  # a damaged one, too
                return {name: Survey.from_json(metadata[SURVEY], allow_large=True).mechanism}
    return {}
