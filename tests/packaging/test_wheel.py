"""The wheel holds what it should, and it and every extra work in an empty environment."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from deniable._extras import EXTRAS

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.heavy

MOST_MEGABYTES = {"collector": 250, "cli": 40, "": 20}
"""On disk, with bytecode and everything that is installed with it."""
FETCHED = [extra for extra in EXTRAS if extra not in ("torch", "spark", "flower")]
"""torch and Spark are gigabytes; Flower gets an environment of its own in tests/studies/federated/test_simulation.py."""
QUESTION = ["k-rr", "--epsilon", "1", "--domain", "categories:yes,no"]
WORKS: dict[str, list[str]] = {
    "cli": ["randomize", *QUESTION, "yes", "no", "--output", "reports.csv"],
    "arrays": ["-c", "import deniable.estimators as e; assert e.shares and e.mean and e.distribution"],
    "charts": ["-c", "from deniable.charts import density_chart, save; save(density_chart(W, [0.5]), 'chart.svg')"],
    "design": [
        "-c",
        "from deniable.planning import design; assert design(W.domain, 'absolute', 1).mechanism.certificate().holds",
    ],
    "postgresql": ["-c", "import psycopg; psycopg.pq.version()"],
    "files": ["-c", "import pyarrow.parquet; from deniable.batch import read_reports"],
    "joint": ["-c", "from deniable.studies import BlindRequest, bounded_pair; import mpyc"],
    "models": ["-c", "import sklearn, skops.io; from deniable.studies import load_model, study"],
    "demo": ["-c", "from deniable.cli.flights import flights; assert len(flights()) > 300_000"],
}
"""What must work with an extra alone: arguments of the command, or a line of Python."""


def run(*command: str | Path, cwd: Path | None = None, timeout: int = 600) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=cwd, timeout=timeout, check=False)


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("tools")
    venv.create(home, with_pip=True)
    got = run(home / "bin" / "python", "-m", "pip", "install", "--quiet", "build", "uv")
    if got.returncode:
        pytest.skip("no package index can be reached, so nothing can be built in isolation")
    return home / "bin"


@pytest.fixture(scope="module")
def built(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    done = run(tools / "python", "-m", "build", "--outdir", folder, ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_wheel_holds_the_package_and_its_pages(built: Path) -> None:
    names = zipfile.ZipFile(next(built.glob("*.whl"))).namelist()
    for wanted in ("deniable/__init__.py", "deniable/py.typed", "deniable/collector/dashboard/sdk/index.js"):
        assert any(name == wanted for name in names), wanted
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/")) or "__pycache__" in name]


def test_the_source_archive_can_be_tested(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = archive.getnames()
    for wanted in ("pyproject.toml", "Makefile", "tests/conftest.py", "README.md", "SECURITY.md"):
        assert any(name.endswith(f"/{wanted}") for name in names), wanted


def installed(extra: str, tools: Path, built: Path, home: Path) -> Path:
    """An empty environment with the wheel and one extra; its programs."""
    venv.create(home, with_pip=False)
    wheel = next(built.glob("*.whl"))
    wanted = f"deniable[{extra}] @ {wheel.as_uri()}" if extra else str(wheel)
    got = run(
        tools / "uv", "pip", "install", "--quiet", "--compile-bytecode", "--python", home / "bin" / "python", wanted, timeout=1800
    )
    assert got.returncode == 0, got.stderr
    return home / "bin"


def megabytes(programs: Path) -> float:
    packages = next((programs.parent / "lib").glob("python*/site-packages"))
    return sum(path.lstat().st_size for path in packages.rglob("*") if path.is_file()) / 2**20


def test_a_plain_installation_is_all_a_device_needs(tools: Path, built: Path, tmp_path: Path) -> None:
    programs = installed("", tools, built, tmp_path)
    listed = run(tools / "uv", "pip", "list", "--python", programs / "python", "--format", "freeze").stdout.split()
    assert [line.partition("==")[0] for line in listed if line.partition("==")[0] not in ("pip", "setuptools")] == ["deniable"]
    assert megabytes(programs) < MOST_MEGABYTES[""]
    code = (
        "from deniable import Categories, Client, KaryRandomizedResponse;"
        "asked = KaryRandomizedResponse(domain=Categories(['yes', 'no']), epsilon=1);"
        "print(len(Client(asked.recipe(), max_epsilon=1).randomize('yes')))"
    )
    assert int(run(programs / "python", "-c", code).stdout) > 0
    said = run(programs / "deniable", "doctor")
    assert said.returncode == 2
    assert said.stderr == "deniable: this needs click, which is not installed: pip install 'deniable[cli]'\n"


@pytest.mark.parametrize("extra", FETCHED)
def test_every_extra_brings_what_it_promises(extra: str, tools: Path, built: Path, tmp_path: Path) -> None:
    programs = installed(extra, tools, built, tmp_path / "home")
    modules = EXTRAS[extra][1]
    # Looked for, not imported: one of them imports what newer environments no longer have, and only its files are read.
    looked = f"from importlib.util import find_spec; assert all(map(find_spec, {modules!r}))"
    there = run(programs / "python", "-c", looked)
    assert there.returncode == 0, there.stderr
    assert megabytes(programs) < MOST_MEGABYTES.get(extra, 1200)
    if extra not in WORKS:
        return
    work = WORKS[extra]
    code = f"import deniable; W = deniable.Window(domain=deniable.Interval(0, 1), epsilon=1); {work[1]}"
    done = run(programs / "python", *(["-c", code] if work[0] == "-c" else ["-m", "deniable", *work]), cwd=tmp_path)
    assert done.returncode == 0, done.stderr


SURVEY = """
title = "Travel"
purpose = "To count."
epsilon = 2
release = "live"
[attributes.commute]
question = "How did you get to work?"
domain = "categories:bike,bus,car,walk"
mechanism = "k-rr"
"""
ANSWER = """
import json, sys, urllib.request
from deniable.surveys import Ledger, Session
address, survey = sys.argv[1:]
Session.open(address, survey, Ledger("ledger.db")).answer({"commute": "bus"})
with urllib.request.urlopen(f"{address}/v1/surveys/{survey}/estimates", timeout=60) as answer:
    print(json.dumps(json.load(answer)["attributes"][0]))
"""


def test_a_collector_alone_counts_and_says_what_estimates_need(tools: Path, built: Path, tmp_path: Path) -> None:
    programs = installed("collector", tools, built, tmp_path / "home")
    (tmp_path / "survey.toml").write_text(SURVEY, encoding="utf-8")
    serving = subprocess.Popen(
        [programs / "deniable", "serve", "survey.toml", "--port", "0", "--json"], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    try:
        assert serving.stdout is not None
        told = json.loads(serving.stdout.readline())
        done = run(programs / "python", "-c", ANSWER, told["address"], told["surveys"][0]["hash"], cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        note = json.loads(done.stdout)
        assert note["n"] == 1
        assert note["views"] == []
        assert note["note"].endswith("pip install 'deniable[arrays]'")
    finally:
        serving.terminate()
        serving.wait(60)


def test_the_interpreter_is_one_that_is_promised() -> None:
    assert sys.version_info >= (3, 11)
