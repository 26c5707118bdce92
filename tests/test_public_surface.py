"""`import deniable` is light, its names are complete, and the documents tell the truth."""

from __future__ import annotations

import doctest
import inspect
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

import deniable
from deniable.cli.app import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
WITH_A_SERVER = {"operating"}
"""Examples that ask the collector of their page: test_docs_followed.py follows it."""


def test_every_public_name_exists() -> None:
    assert deniable.__all__ == sorted(deniable.__all__)
    for name in deniable.__all__:
        assert inspect.getdoc(getattr(deniable, name)), f"{name} has no docstring"
    assert set(deniable.__all__) <= set(dir(deniable))


def test_the_surface_is_small_and_the_rest_is_one_room_away() -> None:
    assert len(deniable.__all__) <= 35
    assert deniable.core.Disc.__module__ == "deniable.core.domains.plane"
    assert deniable.errors.InvalidEpsilon is not None
    assert deniable.core.mechanism_class("pm").name == "pm"


def test_a_room_is_loaded_when_it_is_asked_for() -> None:
    code = "import sys, deniable; print('deniable.core' in sys.modules); print(deniable.core.Disc.__name__)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "Disc"]


def test_a_package_without_what_it_needs_says_what_is_missing() -> None:
    code = (
        "import sys; sys.modules['numpy'] = None; import deniable\n"
        "try:\n    deniable.estimators.shares\nexcept ImportError as error:\n    print(error.name, error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "numpy this needs numpy, which is not installed: pip install 'deniable[arrays]'"


def test_help_begins_with_an_example_and_a_tour() -> None:
    tour = inspect.getdoc(deniable) or ""
    for name in ("Categories", "KaryRandomizedResponse", "Client", "encode_report", "DeniableError", "deniable.estimators"):
        assert name in tour
    for name in re.findall(r"deniable\.(\w+)", tour):
        assert getattr(deniable, name) is not None
    assert max(len(line) for line in tour.splitlines()) <= 132


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = deniable.nothing  # type: ignore[attr-defined]


def test_the_version_is_the_packages() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        assert tomllib.load(file)["project"]["version"] == deniable.__version__


def test_importing_is_light() -> None:
    code = "import sys, deniable; sys.exit('numpy' in sys.modules or 'click' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem not in WITH_A_SERVER], ids=lambda page: page.stem)
def test_examples_in_documents_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # some of them write files
    assert doctest.testfile(str(page), module_relative=False).failed == 0


def test_commands_in_the_readme_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = readme.split("## On the command line")[1].split("\n## ")[0]  # the survey's four commands have a test of their own
    commands = re.findall(r"^\$ deniable (.*)$", section, re.MULTILINE)
    assert len(commands) == 7
    for command in commands:
        result = CliRunner().invoke(main, shlex.split(command))
        assert result.exit_code == 0, (command, result.output)
    assert (tmp_path / "output" / "window.svg").read_text(encoding="utf-8").startswith("<svg")


def test_links_in_documents_lead_somewhere() -> None:
    for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
