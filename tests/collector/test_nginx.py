"""The nginx block of the deployment page: nginx takes it as it is printed, and slow clients get stuck there."""

from __future__ import annotations

import os
import re
import shutil
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from deniable.surveys import Submission, Survey, submission_to_json

from .certificates import self_signed
from .limited import Limited, answer, head, limited, open_lines
from .running import call, free_port

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
pytestmark = [pytest.mark.heavy, pytest.mark.skipif(NGINX is None, reason="nginx is not installed: apt-get install nginx")]
PAGE = Path(__file__).parents[2] / "docs" / "deployment.md"
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def blocks() -> tuple[str, str]:
    """What goes into conf.d, and what goes around `http`."""
    site, around = re.findall(r"^```nginx\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return site, around


def configured(folder: Path, upstream: int, port: int) -> Path:
    """The page's configuration with ports, files and the user of this machine in place of the page's."""
    certificate, key = self_signed(folder)
    site, around = blocks()
    for printed, here in (
        ("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"),
        ("127.0.0.1:8000", f"127.0.0.1:{upstream}"),
        ("/etc/ssl/survey.pem", certificate),
        ("/etc/ssl/survey.key", key),
        ("/var/log/nginx/survey.log", str(folder / "site.log")),
    ):
        assert site.count(printed) == 1, printed
        site = site.replace(printed, here)
    (folder / "survey.conf").write_text(site)
    places = "".join(f"    {name}_temp_path {folder / name};\n" for name in TEMPORARY)
    first = f"daemon off;\npid {folder / 'pid'};\nerror_log {folder / 'error.log'};\n"
    if os.geteuid() == 0:
        first += "user root;\n"
    path = folder / "nginx.conf"
    path.write_text(f"{first}{around}http {{\n    access_log off;\n{places}    include {folder / 'survey.conf'};\n}}\n")
    return path


@contextmanager
def proxied(folder: Path, running: Limited) -> Iterator[int]:
    """nginx before a collector; its port."""
    port = free_port()
    path = configured(folder, int(running.address.rsplit(":", 1)[1]), port)
    process = subprocess.Popen([str(NGINX), "-c", str(path), "-p", str(folder)], stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None, (folder / "error.log").read_text()
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait(20)


def test_nginx_takes_the_block_as_it_is_printed(tmp_path: Path) -> None:
    path = configured(tmp_path, 8000, free_port())
    ended = subprocess.run([str(NGINX), "-t", "-c", str(path), "-p", str(tmp_path)], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "test is successful" in ended.stderr
    assert "[warn]" not in ended.stderr


class Device:
    """A client that trusts the test's certificate and comes from one address."""

    def __init__(self, folder: Path, port: int, source: str) -> None:
        self.context = ssl.create_default_context(cafile=str(folder / "localhost.pem"))
        self.port = port
        self.source = source

    def raw(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=60, source_address=(self.source, 0))

    def line(self) -> ssl.SSLSocket:
        return self.context.wrap_socket(self.raw(), server_hostname="localhost")

    def asked(self, request: bytes) -> bytes:
        with self.line() as line:
            line.sendall(request)
            return answer(line)


def test_slow_clients_wait_at_nginx_and_others_are_served(tmp_path: Path) -> None:
    with limited(tmp_path, proxies=("127.0.0.1",)) as running, proxied(tmp_path, running) as port:
        survey = Survey.from_json(call(running.survey)[1])
        honest = Device(tmp_path, port, "127.0.0.9")

        def submitted() -> bytes:
            body = submission_to_json(survey, Submission.fresh(survey.mechanism.randomize("bus")))
            return honest.asked(head(running, len(body)) + body)

        assert b" 200 " in submitted()
        lines: list[socket.socket] = []
        try:
            for number in range(300):
                slow = Device(tmp_path, port, f"127.0.0.{20 + number % 10}")
                kind = number % 4
                lines.append(slow.raw() if kind == 0 else slow.line())
                if kind:
                    lines[-1].sendall([b"", head(running, 100), b"POST /v1", head(running, 100_000) + b"{"][kind])
                if number % 30 == 0:
                    assert b" 200 " in submitted()
            assert b" 200 " in submitted()
            # None of it has come through: the collector holds nginx's few kept connections and this one.
            held = re.search(r"^deniable_connections (\d+)$", running.metrics(), re.MULTILINE)
            assert held is not None
            assert int(held[1]) <= 40
            patience = time.monotonic() + 60
            while still := open_lines(lines):
                assert time.monotonic() < patience, f"{len(still)} slow ones are still connected"
                assert b" 200 " in submitted()
                time.sleep(0.5)
        finally:
            for line in lines:
                line.close()


def test_strangers_do_not_administer_and_do_not_flood(tmp_path: Path) -> None:
    with limited(tmp_path, proxies=("127.0.0.1",)) as running, proxied(tmp_path, running) as port:
        context = ssl.create_default_context(cafile=str(tmp_path / "localhost.pem"))

        def status(path: str, body: bytes | None = None) -> int:
            try:
                with urllib.request.urlopen(f"https://localhost:{port}{path}", body, timeout=30, context=context) as found:
                    return int(found.status)
            except urllib.error.HTTPError as error:
                with error:
                    return error.code

        assert status("/v1/admin/surveys", b"title = 1") == 403
        assert status(f"/v1/surveys/{running.hash}") == 200
        assert status(f"/v1/surveys/{running.hash}/batches", b"x" * (17 << 20)) == 413
        assert 429 in {status(f"/v1/surveys/{running.hash}") for _ in range(400)}
    said = (tmp_path / "site.log").read_text() if (tmp_path / "site.log").exists() else ""
    assert "127.0.0.1" not in said
