"""Parquet files of reports on fixed coins, for the tests of every engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from deniable.batch import Reports, randomize_many
from deniable.core import Categories, Interval, Mechanism, make_mechanism
from deniable.privacy import FixedKeystream

K_RR = make_mechanism("k-rr", domain=Categories(100), epsilon=1)
OUE = make_mechanism("oue", domain=Categories(100), epsilon=1)
OLH = make_mechanism("olh", domain=Categories(50), epsilon=1)
HADAMARD = make_mechanism("hadamard", domain=Categories(60), epsilon=1)
WINDOW = make_mechanism("window", domain=Interval(0, 1, cells=1 << 18), epsilon=1)
MECHANISMS = {"k-rr": K_RR, "oue": OUE, "olh": OLH, "hadamard": HADAMARD, "window": WINDOW}


def reports_of(mechanism: Mechanism, count: int, stream: int = 7) -> Reports:
    """Reports of values that are about equally common."""
    domain = mechanism.domain
    values: Any = np.arange(count) % domain.size if isinstance(domain, Categories) else (np.arange(count) * 0.618) % 1
    return randomize_many(mechanism, values, FixedKeystream(stream))


def table_of(reports: Reports, *, recipe: bool = True) -> pa.Table:
    """Columns as `deniable estimate` reads them: `output`, in hexadecimal where numbers are too wide, and `recipe`."""
    wide = reports.mechanism.channel.outputs > 1 << 63
    column = [format(output, "x") for output in reports.ints()] if wide else pa.array(reports.ints(), pa.uint64())
    columns: dict[str, Any] = {"output": column}
    if recipe:
        columns["recipe"] = [reports.mechanism.fingerprint] * len(reports)
    return pa.table(columns)


def write_parts(directory: Path, reports: Reports, parts: int, *, row_group: int = 5_000) -> list[Path]:
    """The reports in files `part-0.parquet`, `part-1.parquet`, …, of different sizes."""
    directory.mkdir(parents=True, exist_ok=True)
    table = table_of(reports)
    edges = [len(reports) * place * (place + 1) // (parts * (parts + 1)) for place in range(parts + 1)]
    paths = [directory / f"part-{place}.parquet" for place in range(parts)]
    for path, begin, end in zip(paths, edges, edges[1:], strict=False):
        parquet.write_table(table.slice(begin, end - begin), path, row_group_size=row_group, write_page_checksum=True)
    return paths


def damage(path: Path, group: int) -> None:
    """Turn some bytes in the middle of a row group's outputs."""
    column = parquet.ParquetFile(path).metadata.row_group(group).column(0)
    begin = column.dictionary_page_offset or column.data_page_offset
    data = bytearray(path.read_bytes())
    middle = begin + column.total_compressed_size * 3 // 4
    for place in range(middle, middle + 8):
        data[place] ^= 0xFF
    path.write_bytes(bytes(data))
