"""`deniable serve`: options from the environment or a file, waiting for the database, certificates read again, logs, metrics."""

from __future__ import annotations

import json
import logging
import os
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import click
import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from sqlalchemy.exc import OperationalError

from deniable.cli import serve_settings
from deniable.cli.serve import serve
from deniable.collector.logs import JsonLines
from deniable.collector.metrics import SHARED, Histogram, Requests, rendered, together, write_down
from deniable.errors import InvalidParameter
from deniable.surveys import Submission, Survey, submission_to_json

from .certificates import self_signed
from .limited import limited, place
from .postgresql import postgresql
from .running import call, collector


def options(*arguments: str) -> dict[str, Any]:
    return dict(serve.make_context("serve", list(arguments)).params)


def test_the_command_line_comes_before_the_environment_and_that_before_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "collector.toml"
    path.write_text(
        'port = 1\nhost = "::1"\nworkers = 3\norigin = ["https://a.example", "https://b.example"]\nsubmit-needs-token = true\n'
    )
    monkeypatch.setenv("DENIABLE_PORT", "2")
    monkeypatch.setenv("DENIABLE_HOST", "127.0.0.9")
    found = options("--settings", str(path), "--port", "3")
    assert (found["port"], found["host"], found["workers"]) == (3, "127.0.0.9", 3)
    assert found["origins"] == ("https://a.example", "https://b.example")
    assert found["submit_needs_token"] is True
    monkeypatch.setenv("DENIABLE_SETTINGS", str(path))
    assert options()["workers"] == 3


def test_every_option_can_be_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in {"DATABASE": "sqlite:///x.db", "CONNECTIONS": "7", "LOG": "json", "WAIT": "1.5"}.items():
        monkeypatch.setenv(f"DENIABLE_{variable}", value)
    monkeypatch.setenv("DENIABLE_TRUSTED_PROXY", "127.0.0.1 10.0.0.0/8")
    monkeypatch.setenv("DENIABLE_NO_DASHBOARD", "1")
    found = options()
    assert (found["database"], found["connections"], found["log"], found["wait"]) == ("sqlite:///x.db", 7, "json", 1.5)
    assert (found["proxies"], found["no_dashboard"]) == (("127.0.0.1", "10.0.0.0/8"), True)


def test_a_variable_is_called_as_its_option() -> None:
    for option in serve.params:
        if isinstance(option, click.Option):
            variable = option.envvar or f"{serve_settings.PREFIX}_{(option.name or '').upper()}"
            assert variable == f"{serve_settings.PREFIX}_{max(option.opts, key=len).removeprefix('--').replace('-', '_').upper()}"


@pytest.mark.parametrize(
    ("text", "message"), [("prot = 1\n", "no option 'prot'"), ("port", "is not a TOML file"), ('settings = "x"\n', "no option")]
)
def test_a_file_with_a_mistake_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "collector.toml"
    path.write_text(text)
    with pytest.raises(InvalidParameter, match=message):
        options("--settings", str(path))


class _Driver(Exception):
    def __init__(self, words: str, sqlstate: str | None = None) -> None:
        super().__init__(words)
        self.sqlstate = sqlstate


@pytest.mark.parametrize(
    ("error", "waits"),
    [
        (_Driver("FATAL: the database system is starting up", "57P03"), True),
        (_Driver("connection to server at 127.0.0.1 failed: Connection refused"), True),
        (_Driver("connection failed: FATAL:  the database system is in recovery mode"), True),
        (_Driver("database is locked"), True),
        (_Driver('connection failed: FATAL:  password authentication failed for user "x"'), False),
        (_Driver("database x does not exist", "3D000"), False),
    ],
)
def test_only_what_passes_is_waited_for(
    error: _Driver, waits: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    tries = iter([error, error, None])

    def opened() -> str:
        problem = next(tries)
        if problem is not None:
            raise InvalidParameter("database cannot be used") from OperationalError("", {}, problem)
        return "open"

    if waits:
        assert serve_settings.waiting_for(opened, 60) == "open"
        assert capsys.readouterr().err == "deniable: database cannot be used; waiting up to 60 seconds for it\n"
    else:
        with pytest.raises(InvalidParameter):
            serve_settings.waiting_for(opened, 60)


@pytest.mark.heavy
def test_it_waits_for_postgresql_to_start(tmp_path: Path) -> None:
    with postgresql() as server:
        server.stop()
        later = threading.Timer(3, server.start)
        later.start()
        with collector(tmp_path, database=server.url) as running:
            assert call(f"{running.address}/readyz")[0] == 200
        later.join()


def presented(address: tuple[str, int]) -> bytes:
    """The certificate that a server shows."""
    context = ssl._create_unverified_context()
    with socket.create_connection(address, timeout=30) as raw, context.wrap_socket(raw) as line:
        return line.getpeercert(binary_form=True) or b""


def test_certificates_are_read_again_without_a_restart(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    first, second = self_signed(tmp_path / "first"), self_signed(tmp_path / "second")
    with limited(tmp_path, tls=first) as running:
        before = presented(place(running))
        for old, new in zip(first, second, strict=True):
            shutil.copy(new, old)
        assert presented(place(running)) == before
        running.server.reload()  # type: ignore[attr-defined]
        after = presented(place(running))
        assert after != before
        Path(first[0]).write_text("not a certificate")
        running.server.reload()  # type: ignore[attr-defined]
        assert presented(place(running)) == after


def test_a_certificate_with_the_key_of_another_leaves_the_one_before(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    first, second = self_signed(tmp_path / "first"), self_signed(tmp_path / "second")
    with limited(tmp_path, tls=first) as running:
        logging.getLogger("deniable.collector").addHandler(caplog.handler)
        before = presented(place(running))
        for new, words in (
            (Path(second[0]).read_bytes(), "the key belongs to another certificate"),
            (Path(first[0]).read_bytes()[:200], "not a certificate and its key in PEM form"),
            (None, "a file cannot be read: No such file or directory"),
        ):
            Path(first[0]).unlink() if new is None else Path(first[0]).write_bytes(new)
            running.server.reload()  # type: ignore[attr-defined]
            assert presented(place(running)) == before
            assert words in caplog.messages[-1]
            assert "the one before is still used" in caplog.messages[-1]


def test_json_lines_name_no_address() -> None:
    form = JsonLines()
    request = logging.LogRecord("uvicorn.access", logging.INFO, "", 0, "", ("192.0.2.7:1", "GET", "/x?after=1", "1.1", 200), None)
    document = json.loads(form.format(request))
    assert {name: document[name] for name in ("message", "method", "path", "status")} == {
        "message": "request",
        "method": "GET",
        "path": "/x",
        "status": 200,
    }
    assert "192.0.2.7" not in form.format(request)
    trouble = logging.LogRecord("deniable.collector", logging.ERROR, "", 0, "%s: disk full", ("database",), None)
    assert json.loads(form.format(trouble))["message"] == "database: disk full"


def test_a_histogram_counts_everything_below_each_bound() -> None:
    times = Histogram()
    for seconds in (0.001, 0.02, 0.02, 100):
        times.add(seconds)
    found = times.samples("t")
    assert (found['t_bucket{le="0.005"}'], found['t_bucket{le="0.025"}'], found['t_bucket{le="5.0"}']) == (1, 3, 3)
    assert (found['t_bucket{le="+Inf"}'], found["t_count"], found["t_sum"]) == (4, 4, 100.041)


def test_workers_are_summed_and_those_that_died_keep_what_they_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SHARED, str(tmp_path))
    name = "deniable_reports_accepted_total"
    for process in (os.getppid(), 2**22 + 1):  # one that runs, and one that cannot exist
        monkeypatch.setattr(os, "getpid", lambda process=process: process)
        write_down({name: 5.0}, {"deniable_connections": 2.0})
    monkeypatch.undo()
    monkeypatch.setenv(SHARED, str(tmp_path))
    assert together({name: 1.0}, {"deniable_connections": 1.0}) == {name: 11.0, "deniable_connections": 3.0}


def test_metrics_are_prometheus_text() -> None:
    requests = Requests()
    requests.answered(200, 0.01)
    requests.answered(503, 0.01)
    lines = rendered(requests.samples()).splitlines()
    assert 'deniable_requests_total{status="200"} 1' in lines
    assert 'deniable_refused_total{reason="busy"} 1' in lines
    assert "# TYPE deniable_request_seconds histogram" in lines
    assert lines.index('deniable_request_seconds_bucket{le="0.005"} 0') + 1 == lines.index(
        'deniable_request_seconds_bucket{le="0.01"} 2'
    )


@pytest.mark.slow
def test_every_worker_shows_what_all_of_them_counted(tmp_path: Path) -> None:
    with collector(tmp_path, options=("--workers", "2")) as running:
        patience = time.monotonic() + 60
        while call(running.survey)[0] != 200:
            assert time.monotonic() < patience
        database = f"sqlite:///{tmp_path / 'collector.db'}"
        command = [sys.executable, "-m", "deniable.cli", "token", "alice", "--database", database]
        token = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        survey = Survey.from_json(call(running.survey)[1])
        for _ in range(30):
            body = submission_to_json(survey, Submission.fresh(survey.mechanism.randomize("bus")))
            assert call(f"{running.survey}/submissions", body)[0] == 200
        time.sleep(2.5)
        for _ in range(6):
            said = call(f"{running.address}/metrics", headers={"Authorization": f"Bearer {token}"})[1].decode()
            assert "deniable_reports_accepted_total 30\n" in said
