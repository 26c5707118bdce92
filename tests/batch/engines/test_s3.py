"""Reports in S3: a real server on this machine, by the local engine, by the command, and by the workers of a cluster."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyarrow import fs

from deniable.batch import Local, Source, Spark, accumulator_for
from deniable.batch.engines import local, pieces, s3
from deniable.batch.engines.source import names_of
from deniable.cli.app import main
from deniable.cli.recipes import write_recipe
from deniable.core import Mechanism
from deniable.errors import DeniableError, InvalidParameter, Malformed

from .parquet_files import K_RR, MECHANISMS, damage, reports_of, write_parts

COUNT = 20_000
KEYS = {"AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": "something"}
ELSEWHERE = ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of moto's S3, installed to a directory of its own if this Python does not have it."""
    variables = dict(os.environ)
    if importlib.util.find_spec("moto") is None:
        place = tmp_path_factory.mktemp("moto")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--target", str(place), "moto[server]"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"moto, an S3 server for tests, could not be installed: {done.stderr.strip().splitlines()[-1]}")
        variables["PYTHONPATH"] = str(place)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        env=variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.2)
    else:
        process.kill()
        pytest.skip("moto, an S3 server for tests, did not start")
    yield f"127.0.0.1:{port}"
    process.kill()
    process.wait()


@pytest.fixture
def bucket(server: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A bucket of the test's own; keys and endpoint are in the environment, as they are in production."""
    for name in ELSEWHERE:
        monkeypatch.delenv(name, raising=False)
    for name, value in {**KEYS, "AWS_ENDPOINT_URL": f"http://{server}", "AWS_EC2_METADATA_DISABLED": "true"}.items():
        monkeypatch.setenv(name, value)
    name = f"bucket-{abs(hash(request.node.nodeid)):x}"
    store(server).create_dir(name)
    return name


def store(server: str) -> fs.S3FileSystem:
    return fs.S3FileSystem(
        access_key=KEYS["AWS_ACCESS_KEY_ID"],
        secret_key=KEYS["AWS_SECRET_ACCESS_KEY"],
        endpoint_override=server,
        scheme="http",
        region="us-east-1",
        allow_bucket_creation=True,
    )


def upload(server: str, paths: list[Path], place: str) -> None:
    for path in paths:
        with store(server).open_output_stream(f"{place}/{path.name}") as stream:
            stream.write(path.read_bytes())


@pytest.mark.heavy
@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)
def test_a_bucket_gives_the_bytes_of_the_files(
    tmp_path: Path, server: str, bucket: str, mechanism: Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports = reports_of(mechanism, COUNT)
    upload(server, write_parts(tmp_path, reports, 3), f"{bucket}/day")
    wanted = accumulator_for(mechanism).add(reports).to_bytes()
    told: list[int] = []
    source = Source(mechanism, (f"s3://{bucket}/day/*.parquet",))
    assert Local().read(source, told.append).accumulator.to_bytes() == wanted
    assert sum(told) == sum(path.stat().st_size for path in tmp_path.iterdir())
    monkeypatch.setattr(local, "WORTH_PROCESSES", -1.0)
    monkeypatch.setattr(pieces, "LARGE", 10_000)
    assert Local(processes=2).fold(Source(mechanism, (f"s3://{bucket}",))).to_bytes() == wanted


@pytest.mark.heavy
def test_patterns_and_directories_name_each_file_once(tmp_path: Path, server: str, bucket: str) -> None:
    for day in ("monday", "tuesday"):
        upload(server, write_parts(tmp_path / day, reports_of(K_RR, 300), 2), f"{bucket}/in/{day}")
    (tmp_path / "part-9.parquet").write_bytes(b"unfinished")
    upload(server, [tmp_path / "part-9.parquet"], f"{bucket}/in/monday/_temporary")
    for path, files in {
        "in": 4,
        "in/": 4,
        "in/monday": 2,
        "in/*/part-1.parquet": 2,
        "in/*day": 4,
        "**/part-?.parquet": 5,
        "in/tuesday/part-0.parquet": 1,
    }.items():
        assert len(Source(K_RR, (f"s3://{bucket}/{path}",)).files) == files, path
    assert Local().fold(Source(K_RR, (f"s3://{bucket}/in/monday", str(tmp_path / "tuesday")))).n == 600
    for paths, message in [
        (("in", "in/monday"), "is given twice"),
        (("in/sunday",), "there is no"),
        (("in/s*",), "check the address or the pattern"),
    ]:
        with pytest.raises(InvalidParameter, match=message):
            Local().read(Source(K_RR, tuple(f"s3://{bucket}/{path}" for path in paths)))


@pytest.mark.heavy
def test_an_endpoint_may_stand_in_the_address(tmp_path: Path, server: str, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    upload(server, write_parts(tmp_path, reports_of(K_RR, 300), 2), bucket)
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    source = Source(K_RR, (f"s3://{bucket}/part-*.parquet?endpoint_override={server}&scheme=http",))
    assert Local().fold(source).n == 300
    assert list(names_of(source.files).values()) == ["part-0.parquet", "part-1.parquet"]


@pytest.mark.heavy
def test_broken_objects_are_named_and_counted(tmp_path: Path, server: str, bucket: str) -> None:
    paths = write_parts(tmp_path, reports_of(K_RR, COUNT), 3)
    damage(paths[2], 1)
    paths[1].write_bytes(paths[1].read_bytes()[:-9])
    upload(server, paths, bucket)
    here, there = Local().read(Source(K_RR, (str(tmp_path),))), Local().read(Source(K_RR, (f"s3://{bucket}",)))
    assert there.accumulator.to_bytes() == here.accumulator.to_bytes()
    assert (there.summary(), there.broken) == (here.summary(), here.broken)
    with pytest.raises(Malformed, match=r"part-[12]\.parquet"):
        Local().fold(Source(K_RR, (f"s3://{bucket}",)))
    # An object that is gone by the time it is read is not called damaged.
    source = Source(K_RR, (f"s3://{bucket}/part-0.parquet",))
    assert len(source.files) == 1
    store(server).delete_file(f"{bucket}/part-0.parquet")
    assert "cannot be read: " in Local().read(source).notes[0]
    assert "whole Parquet" not in Local().read(source).notes[0]


@pytest.mark.heavy
def test_the_command_reads_a_bucket(tmp_path: Path, server: str, bucket: str) -> None:
    upload(server, write_parts(tmp_path / "reports", reports_of(K_RR, COUNT), 3), bucket)
    write_recipe(K_RR, tmp_path / "recipe.json")
    options = ["--recipe", str(tmp_path / "recipe.json"), "--json"]
    plain = CliRunner().invoke(main, ["estimate", str(tmp_path / "reports"), "--engine", "local", *options])
    for engine in ([], ["--engine", "local"]):
        result = CliRunner().invoke(main, ["estimate", f"s3://{bucket}/*.parquet", *engine, *options])
        assert (result.exit_code, json.loads(result.stdout)) == (0, json.loads(plain.stdout)), result.stderr
    done = CliRunner().invoke(main, ["estimate", f"s3://{bucket}-not/*.parquet", *options])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1


def _end_java() -> None:
    """Workers get the environment that Java was started in, and another test may have started it before the keys were there."""
    from pyspark import SparkContext

    if SparkContext._active_spark_context is not None:
        SparkContext._active_spark_context.stop()
    if SparkContext._gateway is not None:
        SparkContext._gateway.shutdown()
        SparkContext._gateway = SparkContext._jvm = None


@pytest.mark.heavy
def test_workers_of_a_cluster_read_a_bucket(tmp_path: Path, server: str, bucket: str) -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'deniable[spark]'")
    if shutil.which("java") is None:
        pytest.skip("there is no Java on this machine; Spark needs Java 17 or later")
    reports = reports_of(K_RR, COUNT)
    paths = write_parts(tmp_path, reports, 5)
    upload(server, paths, bucket)
    from deniable.batch import started

    _end_java()
    session = started("local-cluster[2,1,1024]")
    try:
        folded = Spark().fold(Source(K_RR, (f"s3://{bucket}/*.parquet",)))
        assert folded.to_bytes() == accumulator_for(K_RR).add(reports).to_bytes()
        damage(paths[4], 1)
        upload(server, paths[4:], bucket)
        broken = Spark().read(Source(K_RR, (f"s3://{bucket}/*.parquet",)))
        assert broken.summary() == Local().read(Source(K_RR, (str(tmp_path),))).summary()
        assert set(broken.broken) == {"part-4.parquet"}
    finally:
        session.stop()


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("s3://key:secret@bucket/reports", "must not hold keys"),
        ("s3://bucket/reports?endpoint=host", "endpoint_override, scheme, region"),
        ("s3://", "s3://bucket/path"),
        ("s3://*/a.parquet?region=x", "must name its bucket"),
    ],
)
def test_wrong_addresses_are_refused(address: str, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message) as caught:
        Local().read(Source(K_RR, (address,)))
    assert "secret@" not in str(caught.value)


def test_names_in_messages_are_without_settings() -> None:
    files = ["s3://bucket/a/x.parquet?scheme=http", "s3://bucket/b/x.parquet?scheme=http"]
    assert list(names_of(files).values()) == ["a/x.parquet", "b/x.parquet"]
    assert s3.without_settings("s3://bucket/part-?.parquet") == "s3://bucket/part-?.parquet"
    assert list(names_of([*files[:1], "/tmp/x.parquet"]).values()) == ["s3://bucket/a/x.parquet", "/tmp/x.parquet"]


@pytest.mark.slow
def test_a_store_that_does_not_answer_is_an_error_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(DeniableError, match=r"cannot be listed: .*AWS_ENDPOINT_URL") as caught:
        Local().read(Source(K_RR, ("s3://bucket/reports?endpoint_override=127.0.0.1:9&scheme=http",)))
    assert "\n" not in str(caught.value)
