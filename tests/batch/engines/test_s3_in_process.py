"""Addresses in S3 without a server: a directory stands for the store. test_s3.py has a real one."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyarrow import fs

from deniable.batch import Local, Source, accumulator_for
from deniable.batch.engines import pieces, s3
from deniable.batch.engines.s3 import s3_files
from deniable.errors import InvalidParameter, Malformed

from .parquet_files import K_RR, damage, reports_of, write_parts

COUNT = 2_000


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Buckets are directories here."""
    system = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    monkeypatch.setattr(s3, "_system", lambda *_: system)
    return tmp_path


def names(address: str) -> list[str]:
    return [file.removeprefix("s3://") for file, _ in s3_files(address)]


def test_a_bucket_gives_the_bytes_of_the_files(store: Path) -> None:
    reports = reports_of(K_RR, COUNT)
    write_parts(store / "bucket" / "reports", reports, 3)
    folded = Local().read(Source(K_RR, ("s3://bucket/reports",)))
    assert folded.accumulator.to_bytes() == accumulator_for(K_RR).add(reports).to_bytes()
    assert folded.files == 3


def test_patterns_and_directories_name_each_file_once(store: Path) -> None:
    write_parts(store / "bucket" / "may", reports_of(K_RR, 10), 2)
    write_parts(store / "bucket" / "june" / "day", reports_of(K_RR, 10), 1)
    write_parts(store / "bucket" / "_unfinished", reports_of(K_RR, 10), 1)
    june = ["bucket/june/day/part-0.parquet"]
    may = ["bucket/may/part-0.parquet", "bucket/may/part-1.parquet"]
    assert names("s3://bucket") == june + may
    assert names("s3://bucket/may/part-1.parquet?region=eu-central-1") == ["bucket/may/part-1.parquet?region=eu-central-1"]
    assert names("s3://bucket/m*/part-?.parquet") == may
    assert names("s3://bucket/**/day") == june
    for missing in ("s3://bucket/july", "s3://bucket/j*/part-9.parquet"):
        with pytest.raises(InvalidParameter, match=r"there is no \*\.parquet file at s3://bucket"):
            names(missing)
    with pytest.raises(InvalidParameter, match="is given twice"):
        Local().read(Source(K_RR, ("s3://bucket/may", "s3://bucket/may/part-0.parquet")))


def test_a_store_that_refuses_is_an_error_in_one_line(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> Any:
        raise OSError("AccessDenied for key\nwith a stack")

    monkeypatch.setattr(s3, "_listed", refuse)
    with pytest.raises(InvalidParameter, match=r"^s3://bucket/may cannot be listed: AccessDenied for key; "):
        names("s3://bucket/may?region=eu-central-1")


def test_a_bucket_that_nobody_knows_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(bucket: str) -> str:
        raise OSError("Bucket 'nobodys' not found")

    monkeypatch.setattr(fs, "resolve_s3_region", unknown)
    with pytest.raises(InvalidParameter, match="the bucket nobodys was not found: Bucket 'nobodys' not found"):
        s3._system(None, "https", None, "nobodys")


def test_broken_objects_are_named_and_counted(store: Path) -> None:
    paths = write_parts(store / "bucket", reports_of(K_RR, 20_000), 2)
    damage(paths[1], 1)
    folded = Local().read(Source(K_RR, ("s3://bucket",)))
    assert set(folded.broken) == {"part-1.parquet"}
    with pytest.raises(Malformed, match=r"part-1\.parquet"):
        Local().read(Source(K_RR, ("s3://bucket",), strict=True))


def test_other_addresses_are_opened_by_the_file_system_they_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [path] = write_parts(tmp_path, reports_of(K_RR, 100), 1)
    named = SimpleNamespace(from_uri=lambda address: (fs.LocalFileSystem(), str(path)))
    monkeypatch.setattr(pieces, "fs", SimpleNamespace(FileSystem=named))
    with pieces.open_piece("hdfs://head/reports/part-0.parquet") as file:
        assert file.metadata.num_rows == 100
