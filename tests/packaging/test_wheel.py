"""The wheel holds what it should, installs into an empty environment, and says what to install where an extra is missing."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.heavy

NEEDS_AN_EXTRA = {
    "collector": ["serve", "survey.toml"],
    "files": ["estimate", "reports.parquet"],
    "models": ["quantify", "model.skops", "data.csv", "--sensitive", "a"],
}
"""Commands that cannot work in a plain installation."""


def run(*command: str | Path, cwd: Path | None = None, timeout: int = 600) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=cwd, timeout=timeout, check=False)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    tools = folder / "tools"
    venv.create(tools, with_pip=True)
    got = run(tools / "bin" / "python", "-m", "pip", "install", "--quiet", "build")
    if got.returncode:
        pytest.skip("no package index can be reached, so nothing can be built in isolation")
    made = run(tools / "bin" / "python", "-m", "build", "--outdir", folder, ROOT)
    assert made.returncode == 0, made.stdout + made.stderr
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


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("empty")
    venv.create(home, with_pip=True)
    got = run(home / "bin" / "python", "-m", "pip", "install", "--quiet", next(built.glob("*.whl")))
    assert got.returncode == 0, got.stderr
    return home / "bin"


def test_a_plain_installation_works(installed: Path, tmp_path: Path) -> None:
    assert run(installed / "deniable", "--version").stdout.strip().startswith("deniable")
    assert run(installed / "deniable", "doctor").returncode == 0
    code = (
        "import deniable; from deniable.estimators import shares;"
        "m = deniable.KaryRandomizedResponse(domain=deniable.Categories(3), epsilon=1);"
        "print(shares(m.randomize_many([0] * 600 + [1] * 300)).n)"
    )
    assert run(installed / "python", "-c", code).stdout.strip() == "900"
    question = ["randomize", "k-rr", "-e", "1", "-d", "categories:yes,no", "yes", "no", "--output", "reports.csv"]
    assert run(installed / "deniable", *question, cwd=tmp_path).returncode == 0
    assert run(installed / "deniable", "estimate", "reports.csv", cwd=tmp_path).returncode == 0
    assert run(installed / "deniable", "show", "window", "-e", "2", "--chart", "w.svg", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("extra", NEEDS_AN_EXTRA)
def test_a_missing_extra_is_named(extra: str, installed: Path, tmp_path: Path) -> None:
    for name in ("survey.toml", "model.skops", "data.csv"):
        (tmp_path / name).write_text("a\n1\n", encoding="utf-8")
    question = ["randomize", "k-rr", "-e", "1", "-d", "categories:yes,no", "yes", "--output", "reports.csv"]
    assert run(installed / "deniable", *question, cwd=tmp_path).returncode == 0
    (tmp_path / "reports.csv.recipe.json").rename(tmp_path / "reports.parquet.recipe.json")
    (tmp_path / "reports.parquet").write_bytes(b"PAR1" + bytes(64) + b"PAR1")
    result = run(installed / "deniable", *NEEDS_AN_EXTRA[extra], cwd=tmp_path)
    assert result.returncode != 0
    assert "Traceback" not in result.stderr
    assert f"deniable[{extra}]" in result.stderr, result.stderr


def test_the_interpreter_is_one_that_is_promised() -> None:
    assert sys.version_info >= (3, 11)
