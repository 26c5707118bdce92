"""What must agree in the files of the project: versions, locks, hooks, workflow."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

import deniable

ROOT = Path(__file__).parents[2]
LOCKS = sorted((ROOT / "requirements").glob("*.lock"))


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_one_version_everywhere() -> None:
    versions = {
        "pyproject": tomllib.loads(text("pyproject.toml"))["project"]["version"],
        "reproduce": tomllib.loads(text("reproduce/pyproject.toml"))["project"]["version"],
        "citation": re.findall(r"^version: (.+)$", text("CITATION.cff"), re.MULTILINE)[0],
        "javascript": json.loads(text("sdk/js/package.json"))["version"],
        "changelog": re.findall(r"^## \[(\d.*?)\]", text("CHANGELOG.md"), re.MULTILINE)[0],
    }
    assert versions == dict.fromkeys(versions, deniable.__version__)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.stem)
def test_a_lock_holds_names_versions_and_hashes_only(lock: Path) -> None:
    package = re.compile(r"^[a-z0-9][a-z0-9.-]*==[\w.+!]+( ; [^\\]+)? \\$")
    digest = re.compile(r"^    --hash=sha256:[0-9a-f]{64}( \\)?$")
    wrong = [line for line in lock.read_text(encoding="utf-8").splitlines() if not (package.match(line) or digest.match(line))]
    assert wrong == []


@pytest.mark.parametrize("lock", [path for path in LOCKS if path.stem != "heavy"], ids=lambda path: path.stem)
def test_a_lock_covers_every_direct_dependency(lock: Path) -> None:
    extras = tomllib.loads(text("pyproject.toml"))["project"]["optional-dependencies"]
    left_out = {"flower", "spark", "torch"}
    wanted = {re.split(r"[<>=!;\[ ]", line)[0].lower() for name, lines in extras.items() if name not in left_out for line in lines}
    locked = set(re.findall(r"^([a-z0-9.-]+)==", lock.read_text(encoding="utf-8"), re.MULTILINE))
    assert wanted - {"deniable"} <= locked


def test_the_heavy_tests_bring_spark() -> None:
    assert set(re.findall(r"^([a-z0-9.-]+)==", text("requirements/heavy.lock"), re.MULTILINE)) == {"py4j", "pyspark"}


def test_the_lowest_lock_is_the_lower_bounds() -> None:
    extras = tomllib.loads(text("pyproject.toml"))["project"]["optional-dependencies"]
    bounds = dict(
        re.findall(r"^([\w-]+)(?:\[\w+\])?>=([\d.]+)", "\n".join(line for lines in extras.values() for line in lines), re.M)
    )
    locked = dict(re.findall(r"^([a-z0-9.-]+)==([\w.]+)", text("requirements/lowest.lock"), re.MULTILINE))
    for name, bound in bounds.items():
        if name in locked:
            assert locked[name].split(".")[: len(bound.split("."))] == bound.split("."), name


def test_hooks_and_workflow_call_what_developers_call() -> None:
    makefile, hooks, workflow = text("Makefile"), text(".pre-commit-config.yaml"), text(".github/workflows/checks.yml")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    called = set(re.findall(r"run: make ([a-z-]+)$", workflow, re.MULTILINE))
    assert called
    assert called <= targets
    for tool in ("ruff check", "ruff format --check", "mypy"):
        assert f"$(BIN)/{tool}" in makefile
        assert f"entry: .venv/bin/{tool}" in hooks
    assert "://" not in hooks


def test_every_target_is_explained_at_the_top_of_the_makefile() -> None:
    makefile = text("Makefile")
    declared = next(line for line in makefile.splitlines() if line.startswith(".PHONY:")).split()[1:]
    explained = re.findall(r"^# make ([a-z-]+) ", makefile, re.MULTILINE)
    assert set(declared) == set(explained)
