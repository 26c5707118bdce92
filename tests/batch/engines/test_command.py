"""`deniable estimate --engine`: the answers of reading without one, and errors in one line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from pyarrow import parquet

from deniable.cli.app import main
from deniable.cli.recipes import write_recipe
from deniable.core import Categories, make_mechanism

from .parquet_files import K_RR, reports_of, table_of, write_parts
from .test_exports import NARROW, collected, export


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["estimate", *map(str, arguments)])


def told(*arguments: str | Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(run(*arguments, "--json").stdout)
    return document


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Reports in three files, with the recipe beside their directory."""
    write_parts(tmp_path / "reports", reports_of(K_RR, 3000), 3)
    write_recipe(K_RR, tmp_path / "reports.recipe.json")
    return tmp_path / "reports"


def test_an_engine_changes_nothing_about_the_answer(directory: Path) -> None:
    files = sorted(directory.iterdir())
    recipe = directory.parent / "reports.recipe.json"
    plain = told(*files, "--recipe", recipe)
    for paths in ([directory], [directory / "*.parquet"], files):
        found = told(*paths, "--recipe", recipe, "--engine", "local")
        assert found.pop("files") == 3
        assert found.pop("broken_files") == {}
        assert found == plain
    assert run(directory, "--engine", "local").stdout == run(*files, "--recipe", recipe).stdout
    assert run(f"{directory}/", "--engine", "local").exit_code == 0


def test_a_broken_file_is_named_and_counted_and_the_answer_still_comes(directory: Path) -> None:
    (directory / "part-1.parquet").write_bytes(b"PAR1 and nothing more")
    done = run(directory, "--engine", "local")
    assert done.exit_code == 0
    assert "Frequency" in done.stdout
    assert "deniable: part-1.parquet cannot be read" in done.stderr
    assert "deniable: 1 of 3 files could not be read to the end" in done.stderr
    found = told(directory, "--engine", "local")
    assert (found["files"], found["broken_files"]) == (3, {"part-1.parquet": 0})
    strict = run(directory, "--engine", "local", "--strict")
    assert (strict.exit_code, strict.stdout) == (1, "")
    assert strict.stderr.startswith("deniable: part-1.parquet cannot be read")


def test_nothing_but_broken_files_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"nothing")
    write_recipe(K_RR, tmp_path / "a.parquet.recipe.json")
    done = run(tmp_path / "a.parquet", "--engine", "local")
    assert done.exit_code == 1
    assert "there are no reports to estimate from; a.parquet cannot be read" in done.stderr


def test_mixed_recipes_are_refused_by_file_name(directory: Path) -> None:
    other = make_mechanism("k-rr", domain=Categories(100), epsilon=2)
    strange = directory / "strange.parquet"
    parquet.write_table(table_of(reports_of(other, 100)), strange)
    done = run(directory, "--engine", "local")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "strange.parquet, row 1: the record is of another recipe" in done.stderr
    write_recipe(other, f"{strange}.recipe.json")
    assert "strange.parquet was drawn by another recipe" in run(directory, "--engine", "local").stderr


def test_an_export_brings_its_own_recipe(tmp_path: Path) -> None:
    store, survey, _ = collected(tmp_path, NARROW)
    path = export(store, survey, tmp_path / "sums.parquet")
    found = told(path, "--engine", "local")
    assert (found["n"], found["fingerprint"]) == (600, survey.mechanism.fingerprint)


def test_wrong_questions_are_refused(directory: Path) -> None:
    for arguments, words in [
        (["--engine", "flink"], "'local', 'spark'"),
        (["--engine", "local", "--master", "local[2]"], "--master is the address of a Spark cluster"),
        (["--master", "local[2]"], "--master is the address of a Spark cluster"),
        (["--engine", "local", "--column", "outptu"], "did you mean output"),
    ]:
        done = run(directory, *arguments)
        assert (done.exit_code, done.stdout) == (2, ""), arguments
        assert words in done.stderr
    assert "no file matches" in run(directory / "x*", "--engine", "local").stderr
    (directory.parent / "reports.recipe.json").unlink()
    assert "give the recipe" in run(directory, "--engine", "local").stderr
    assert "give the recipe" in run("hdfs://host/reports", "--engine", "spark").stderr


def test_without_pyspark_one_line_says_what_to_install(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    done = run(directory, "--engine", "spark")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "pip install 'deniable[spark]'" in done.stderr
