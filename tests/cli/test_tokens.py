"""Commands that talk to a collector with a token, with a certificate of its own, and with a proxy in the environment."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from click.testing import CliRunner, Result
from tests.collector.certificates import self_signed
from tests.collector.limited import Limited, limited

from deniable.cli.app import main
from deniable.collector import Store
from deniable.errors import NotAdmitted
from deniable.surveys import HttpTransport, Ledger, Session


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tokens")


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Limited]:
    """A collector with a certificate of its own that takes reports only with a token."""
    with limited(folder, tls=self_signed(folder), submit_needs_token=True) as running:
        yield running


@pytest.fixture(scope="module")
def tokens(served: Limited, folder: Path) -> dict[str, str]:
    store = Store(f"sqlite:///{folder / 'collector.db'}")
    made = {role: store.add_token(role, role) for role in ("submit", "admin")}
    store.close()
    return made


@pytest.fixture
def answers(tmp_path: Path) -> str:
    path = tmp_path / "answers.csv"
    path.write_text("commute\nbus\ncar\nwalk\n")
    return str(path)


def deniable(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(main, arguments, env={"DENIABLE_TOKEN": None, "DENIABLE_SUBMIT_TOKEN": None, **environment})


def test_submit_carries_a_token(served: Limited, tokens: dict[str, str], answers: str, folder: Path, tmp_path: Path) -> None:
    command = ["submit", answers, "--survey", served.survey, "--ca", str(folder / "localhost.pem"), "--json"]
    for environment in ({}, {"DENIABLE_SUBMIT_TOKEN": "wrong"}, {"DENIABLE_TOKEN": tokens["admin"]}):
        done = deniable(*command, **environment)
        assert done.exit_code == 2
        assert "only with a token" in done.stderr
        assert "--token-file" in done.stderr
        assert tokens["admin"] not in done.output
    done = deniable(*command, DENIABLE_SUBMIT_TOKEN=tokens["submit"])
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["accepted"] == 3
    secret = tmp_path / "token"
    secret.write_text(tokens["submit"] + "\n")
    assert json.loads(deniable(*command, "--again", "--token-file", str(secret)).stdout)["accepted"] == 3
    secret.write_text("")
    assert "one word" in deniable(*command, "--token-file", str(secret)).stderr


def test_a_session_carries_a_token(served: Limited, tokens: dict[str, str], folder: Path, tmp_path: Path) -> None:
    ledger, ca = Ledger(tmp_path / "ledger.db"), folder / "localhost.pem"
    without = Session.open(served.address, served.hash, ledger, transport=HttpTransport(ca=ca))
    with pytest.raises(NotAdmitted):
        without.answer({"commute": "bus"})
    device = Session.open(served.address, served.hash, ledger, transport=HttpTransport(ca=ca, token=tokens["submit"]))
    assert device.deliver() == 1
    assert ledger.pending() == []


def test_every_command_names_a_self_signed_certificate_and_takes_it(
    served: Limited, tokens: dict[str, str], answers: str, folder: Path, tmp_path: Path
) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    environment = {"DENIABLE_TOKEN": tokens["admin"], "DENIABLE_SUBMIT_TOKEN": tokens["submit"]}
    for command in (
        ["watch", served.address, "--json"],
        ["submit", answers, "--survey", served.address, "--json"],
        ["export", served.address, "--accumulators", "-o", str(tmp_path / "sums.parquet"), "--json"],
    ):
        done = deniable(*command, **environment)
        assert done.exit_code == 2
        assert "is self-signed" in done.stderr
        assert "--ca FILE" in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
        done = deniable(*command, "--ca", str(folder / "localhost.pem"), **environment)
        assert done.exit_code == 0, done.stderr


class _Proxy(BaseHTTPRequestHandler):
    seen: list[str]

    def do_GET(self) -> None:
        self.seen.append(str(self.headers))
        self.send_error(502)

    do_POST = do_CONNECT = do_GET

    def log_message(self, *_: object) -> None:
        pass


def test_no_token_reaches_a_proxy_that_the_environment_names(tmp_path: Path, answers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    seen: list[str] = []
    monkeypatch.setattr(_Proxy, "seen", seen, raising=False)
    with limited(tmp_path, submit_needs_token=True) as running, ThreadingHTTPServer(("127.0.0.1", 0), _Proxy) as proxy:
        store = Store(f"sqlite:///{tmp_path / 'collector.db'}")
        token = store.add_token("alice", "admin")
        store.close()
        thread = threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        environment = {"DENIABLE_TOKEN": token, "DENIABLE_SUBMIT_TOKEN": token, "no_proxy": "", "NO_PROXY": ""}
        environment |= dict.fromkeys(("http_proxy", "HTTP_PROXY", "all_proxy"), f"http://127.0.0.1:{proxy.server_address[1]}")
        try:
            for command in (
                ["export", running.address, "--accumulators", "-o", str(tmp_path / "sums.parquet")],
                ["submit", answers, "--survey", running.address],
                ["watch", running.address, "--json"],
            ):
                done = deniable(*command, **environment)
                assert done.exit_code == 0, done.stderr
        finally:
            proxy.shutdown()
            thread.join()
    assert seen == []


@pytest.mark.parametrize("command", ["export", "submit"])
def test_a_token_is_refused_for_plain_http_elsewhere(command: str, answers: str, tmp_path: Path) -> None:
    url = f"http://survey.example.org/v1/surveys/{'0' * 64}"
    rest = [url, "--accumulators", "-o", str(tmp_path / "x.parquet")] if command == "export" else [answers, "--survey", url]
    done = deniable(command, *rest, DENIABLE_TOKEN="a-token", DENIABLE_SUBMIT_TOKEN="a-token")
    assert done.exit_code == 2
    assert "https://" in done.stderr
    assert "a-token" not in done.output
