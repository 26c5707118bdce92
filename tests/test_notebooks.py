"""The notebooks run, print what they were kept with, and are the pages of the documentation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests import notebooks

STEMS = [path.stem for path in notebooks.paths()]
REMEDY = "run: make notebooks"
LARGEST = 150_000
CODE: dict[str, Any] = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}


def test_there_is_one_for_each_reader() -> None:
    assert STEMS == ["1-plan-randomize-estimate", "2-compare-mechanisms", "3-models-on-private-data"]


def test_pages_and_pictures_are_made_from_the_notebooks() -> None:
    stale = [path.name for path, content in notebooks.files() if not path.exists() or path.read_bytes() != content]
    assert stale == [], REMEDY
    assert notebooks.stray() == [], REMEDY


@pytest.mark.parametrize("stem", STEMS)
def test_a_notebook_is_small_and_was_run_to_its_end(stem: str) -> None:
    path = notebooks.NOTEBOOKS / f"{stem}.ipynb"
    text = path.read_text(encoding="utf-8")
    assert len(text) < LARGEST
    assert "<script" not in text
    notebook = notebooks.read(path)
    assert text == notebooks.written(notebook)
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert sum(bool(cell["outputs"]) for cell in cells) >= 5
    assert sum(notebooks.PICTURE in output.get("data", {}) for cell in cells for output in cell["outputs"]) >= 2


@pytest.mark.heavy
@pytest.mark.parametrize("stem", STEMS)
def test_a_notebook_runs_and_prints_what_it_says(stem: str) -> None:
    kept = notebooks.read(notebooks.NOTEBOOKS / f"{stem}.ipynb")
    assert notebooks.printed(notebooks.run(kept, notebooks.NOTEBOOKS)) == notebooks.printed(kept), REMEDY


def ran(*sources: str, folder: Path) -> list[str]:
    return notebooks.printed(notebooks.run({"cells": [{**CODE, "source": source} for source in sources]}, folder))


def test_cells_share_their_names_and_show_their_last_line(tmp_path: Path) -> None:
    assert ran("a = 2\nprint('two')", "a + 1", "a = 5", folder=tmp_path) == ["two\n", "3"]


def test_a_cell_that_fails_is_named(tmp_path: Path) -> None:
    with pytest.raises(notebooks.CellFailed, match="cell 2 failed"):
        ran("a = 2", "b = missing", folder=tmp_path)


@pytest.mark.slow
def test_a_chart_becomes_a_picture_and_nothing_else(tmp_path: Path) -> None:
    code = "from deniable import Window\nWindow(epsilon=1).certificate().plot()"
    (cell,) = notebooks.run({"cells": [{**CODE, "source": code}]}, tmp_path)["cells"]
    (output,) = cell["outputs"]
    assert output["data"][notebooks.PICTURE].startswith("<svg")
    assert "vega" not in json.dumps(output)
