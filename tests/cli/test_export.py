"""`deniable export` against a real collector: whole files or none, and reports that go straight into `deniable estimate`."""

from __future__ import annotations

import http.server
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.collector.running import Running, call, collector

from deniable.batch import accumulator_from_bytes
from deniable.cli.app import main
from deniable.surveys import BATCH_TYPE, Survey, batch_head

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")
parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")

KEPT = """
title = "Travel"
release = "live"
purpose = "To plan bus lines."
epsilon = 3
keep_reports = true
[attributes.commute]
question = "How did you get to work today?"
domain = "categories:bike,bus,car,walk"
mechanism = "NAME"
"""
PEOPLE = ["bus"] * 700 + ["car"] * 300


def deniable(*arguments: str, token: str | None = None) -> Result:
    return CliRunner().invoke(main, arguments, env={"DENIABLE_TOKEN": token})


def submitted(url: str) -> Survey:
    survey = Survey.from_json(call(url)[1], hash=url.rsplit("/", 1)[1])
    body = batch_head(survey) + survey.mechanism.randomize_many(PEOPLE).to_bytes()
    assert call(f"{url}/batches", body, {"Content-Type": BATCH_TYPE})[0] == 200
    return survey


def added(running: Running, token: str, toml: str) -> str:
    """The address of one more survey, opened with a token."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/toml"}
    status, answer = call(f"{running.address}/v1/admin/surveys", toml.encode(), headers)
    assert status == 201, answer
    return f"{running.address}/v1/surveys/{json.loads(answer)['hash']}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("export")


@pytest.fixture(scope="module")
def token(folder: Path) -> str:
    made = deniable("token", "alice", "--database", f"sqlite:///{folder / 'collector.db'}")
    assert made.exit_code == 0, made.stderr
    return made.stdout.strip()


@pytest.fixture(scope="module")
def served(folder: Path, token: str) -> Iterator[Running]:
    """The token is there before the collector: one made later is known a moment after a wrong one was tried, not at once."""
    with collector(folder, toml=KEPT.replace("NAME", "k-rr")) as running:
        submitted(running.survey)
        yield running


@pytest.mark.slow
def test_exported_reports_go_straight_into_estimate(served: Running, token: str, tmp_path: Path) -> None:
    path = tmp_path / "reports.parquet"
    done = deniable("export", served.survey, "--reports", "-o", str(path), token=token)
    assert done.exit_code == 0, done.stderr
    assert sorted(file.name for file in tmp_path.iterdir()) == ["reports.parquet", "reports.parquet.recipe.json"]
    found = deniable("estimate", str(path), "--json")
    assert found.exit_code == 0, found.stderr
    document = json.loads(found.stdout)
    assert (document["n"], document["refused"]) == (1000, 0)
    shares = {row["label"]: row["value"] for row in document["estimates"]}
    shown = json.loads(call(f"{served.survey}/estimates")[1])["attributes"][0]["views"][0]["rows"]
    assert {row["label"]: row["value"] for row in shown} == pytest.approx(shares)


def test_reports_too_wide_for_a_number_are_read_as_well(served: Running, token: str, tmp_path: Path) -> None:
    labels = ",".join(f"town{number}" for number in range(90))
    url = added(served, token, KEPT.replace("NAME", "oue").replace("bike,bus,car,walk", f"bus,car,{labels}"))
    assert submitted(url).mechanism.channel.outputs > 1 << 64
    path = tmp_path / "wide.parquet"
    assert deniable("export", url, "--reports", "-o", str(path), token=token).exit_code == 0
    document = json.loads(deniable("estimate", str(path), "--json").stdout)
    assert (document["n"], document["refused"]) == (1000, 0)
    assert max(document["estimates"], key=lambda row: row["value"])["label"] == "bus"


def test_sums_are_exported_with_the_survey_in_the_file(served: Running, token: str, tmp_path: Path) -> None:
    secret, path = tmp_path / "token", tmp_path / "sums.parquet"
    secret.write_text(token + "\n")
    done = deniable(
        "export",
        f"{served.address}/results?survey={served.hash}",
        "--accumulators",
        "-o",
        str(path),
        "--token-file",
        str(secret),
        "--json",
    )
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["bytes"] == path.stat().st_size
    table = parquet.read_table(path)
    survey = Survey.from_json(table.schema.metadata[b"deniable.survey"], hash=served.hash)
    (data,) = table["data"].to_pylist()
    assert accumulator_from_bytes(survey.mechanism, data).n == 1000
    assert not (tmp_path / "sums.parquet.recipe.json").exists()


@pytest.mark.parametrize(
    ("arguments", "secret", "message"),
    [
        (("--reports",), None, "set DENIABLE_TOKEN"),
        (("--reports",), "two words", "one word"),
        (("--reports",), "wrong", "does not take this token"),
        ((), "wrong", "--reports or --accumulators"),
        (("--reports", "-o", "nowhere/x.parquet"), "wrong", "no folder nowhere"),
    ],
)
def test_what_goes_wrong_is_said_in_one_line_and_leaves_no_file(
    served: Running, arguments: tuple[str, ...], secret: str | None, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"from before")
    done = deniable("export", served.survey, "-o", str(path), *arguments, token=secret)
    assert done.exit_code != 0
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert secret is None or secret not in done.stdout + done.stderr.replace("does not take this token", "")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("x.parquet", b"from before")]


@pytest.mark.slow
def test_a_survey_that_keeps_no_reports_says_so(served: Running, token: str, tmp_path: Path) -> None:
    url = added(served, token, KEPT.replace("NAME", "k-rr").replace("keep_reports = true", ""))
    done = deniable("export", url, "--reports", "-o", str(tmp_path / "x.parquet"), token=token)
    assert "keeps no reports" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_collector_with_several_surveys_asks_which(served: Running, token: str, tmp_path: Path) -> None:
    added(served, token, KEPT.replace("NAME", "k-rr").replace("Travel", "Another"))
    done = deniable("export", served.address, "--reports", "-o", str(tmp_path / "x.parquet"), token=token)
    assert "open surveys; give the address of one of them" in done.stderr
    assert served.survey in done.stderr


class CutOff(http.server.BaseHTTPRequestHandler):
    """A collector that dies in the middle of an export."""

    protocol_version = "HTTP/1.1"
    document = b""
    whole = False

    def do_GET(self) -> None:
        self.send_response(200)
        if "export" not in self.path:
            self.send_header("Content-Length", str(len(self.document)))
            self.end_headers()
            self.wfile.write(self.document)
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"8\r\nPAR1data\r\n" + (b"0\r\n\r\n" if self.whole else b""))
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.slow
@pytest.mark.parametrize(("whole", "message"), [(False, "was cut off"), (True, "not a whole Parquet file")])
def test_half_a_file_is_never_put_in_place(
    served: Running, tmp_path: Path, whole: bool, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CutOff, "document", call(served.survey)[1])
    monkeypatch.setattr(CutOff, "whole", whole)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), CutOff) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.server_address[1]}/v1/surveys/{served.hash}"
            done = deniable("export", url, "--accumulators", "-o", str(tmp_path / "x.parquet"), token="any")
        finally:
            server.shutdown()
            thread.join()
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="the size of files cannot be limited here")
@pytest.mark.slow
def test_a_full_disk_is_said_so_and_leaves_what_was_there(served: Running, token: str, tmp_path: Path) -> None:
    """A process that may write 1,000 bytes into a file stands for a disk with as much room."""
    path = tmp_path / "x.parquet"
    path.write_bytes(b"from before")
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); from deniable.cli.app import main; main()"
    )
    command = [sys.executable, "-c", code, "export", served.survey, "--accumulators", "-o", str(path)]
    environment = {**os.environ, "DENIABLE_TOKEN": token}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (2, "deniable: --output: File too large; nothing was saved\n")
    assert [file.name for file in tmp_path.iterdir()] == ["x.parquet"]
    assert path.read_bytes() == b"from before"
