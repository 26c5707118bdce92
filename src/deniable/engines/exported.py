"""The recipe inside a collector's exports: they carry their survey's own document."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyarrow import parquet

from deniable.engines.pieces import SURVEY
from deniable.engines.source import names_of
from deniable.mechanisms import Mechanism
from deniable.surveys import Survey


def exported_mechanism(files: Sequence[str]) -> dict[str, Mechanism]:
    """The mechanism of the first file that is an export, by its name; nothing when none is."""
    for path, name in names_of(files).items():
        try:
            metadata = parquet.read_schema(path).metadata or {}
        except (pa.ArrowException, OSError):
            continue  # the engine will name it
        if SURVEY in metadata:
            return {name: Survey.from_json(metadata[SURVEY]).mechanism}
    return {}
