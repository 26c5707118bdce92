"""The notebooks in examples/notebooks: run, kept with small outputs, and shown as pages of the documentation.

    make notebooks                 # runs them all and writes outputs and pages
    python -m tests.notebooks      # the same

Jupyter is not needed: a notebook here is a list of cells that run from top to bottom in one namespace. Charts are kept as SVG
and nothing else, so a notebook stays small and needs no network to be looked at.
tests/test_notebooks.py compares the pages with the notebooks, and a heavy test runs every cell and compares what it prints.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import sys
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "examples" / "notebooks"
PAGES = ROOT / "docs" / "notebooks"
INDEX = ROOT / "docs" / "notebooks.md"
IMAGES = ROOT / "docs" / "images"
PICTURE = "image/svg+xml"

Notebook = dict[str, Any]


class CellFailed(AssertionError):
    """A cell raised; the message has its number and the traceback."""


def paths() -> list[Path]:
    """All notebooks, in the order of their names, which begin with a number."""
    return sorted(NOTEBOOKS.glob("*.ipynb"))


def read(path: Path) -> Notebook:
    """A notebook as plain values."""
    notebook: Notebook = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def source(cell: dict[str, Any]) -> str:
    """A cell's text; notebooks keep it as one string or as lines."""
    text = cell["source"]
    return text if isinstance(text, str) else "".join(text)


def run(notebook: Notebook, folder: Path) -> Notebook:
    """The same notebook with the outputs that its cells have now, run from top to bottom in `folder`."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells, count = [], 0
    # Warnings are part of what a reader sees, whatever filters somebody else has set; those of the notebook itself last to its end.
    with contextlib.chdir(folder), warnings.catch_warnings():
        warnings.resetwarnings()
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                count += 1
                cell = {**cell, "execution_count": count, "outputs": list(_outputs(source(cell), names, count))}
            cells.append(cell)
    return {**notebook, "cells": cells}


def _outputs(code: str, names: dict[str, Any], count: int) -> Iterator[dict[str, Any]]:
    """What a cell prints, and what its last line is worth."""
    tree = ast.parse(code, f"cell {count}")
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None  # type: ignore[attr-defined]
    printed, value = io.StringIO(), None
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            exec(compile(tree, f"cell {count}", "exec"), names)
            if last is not None:
                value = eval(compile(last, f"cell {count}", "eval"), names)
    except Exception:
        raise CellFailed(f"cell {count} failed:\n{code}\n{traceback.format_exc()}") from None
    if text := printed.getvalue():
        yield {"name": "stdout", "output_type": "stream", "text": text}
    if value is not None and not (last is not None and code.rstrip().endswith(";")):
        yield {"data": _shown(value), "execution_count": count, "metadata": {}, "output_type": "execute_result"}


def _shown(value: Any) -> dict[str, str]:
    """As Jupyter shows it: a chart as a picture, a result or a frame as a table, anything else as text."""
    if hasattr(value, "to_dict") and type(value).__module__.startswith("altair"):
        import vl_convert

        return {PICTURE: vl_convert.vegalite_to_svg(value.to_dict()), "text/plain": "<a chart>"}
    shown = {"text/plain": repr(value)}
    if hasattr(value, "_repr_html_"):
        shown["text/html"] = re.sub(r"<style scoped>.*?</style>\s*", "", value._repr_html_(), flags=re.DOTALL)
    return shown


def written(notebook: Notebook) -> str:
    """A notebook as a file: keys in order, so that a change shows as a small difference."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def printed(notebook: Notebook) -> list[str]:
    """What a run must repeat: every text and table, and that there was a picture where there is one."""
    kept = []
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            kept.append(output["text"] if "text" in output else data.get("text/html", data["text/plain"]))
    return kept


def title(notebook: Notebook) -> str:
    """The heading of the first cell."""
    return source(notebook["cells"][0]).splitlines()[0].removeprefix("# ")


def lead(notebook: Notebook) -> str:
    """The first paragraph under the heading."""
    return source(notebook["cells"][0]).split("\n\n")[1].replace("\n", " ")


def page(path: Path) -> tuple[str, dict[str, bytes]]:
    """A notebook as a page of the documentation, and its pictures by their names in docs/images."""
    notebook = read(path)
    pictures: dict[str, bytes] = {}
    parts = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            parts.append(source(cell).replace("](../../docs/", "](../"))
            continue
        parts.append(f"```python\n{source(cell)}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if PICTURE in data:
                name = f"notebook-{path.stem}-{len(pictures) + 1}.svg"
                pictures[name] = data[PICTURE].encode()
                parts.append(f"![{_alternative(source(cell))}](../images/{name})")
            elif "text/html" in data:
                parts.append(re.sub(r"\n\s*", "\n", data["text/html"]).strip())  # a block of HTML ends at an empty line
            else:
                parts.append("```text\n" + (output.get("text") or data["text/plain"]).rstrip("\n") + "\n```")
    first, *rest = parts
    where = f"*This page is [{path.name}](../../examples/notebooks/{path.name}), run by `make notebooks`.*"
    return "\n\n".join([first, where, *rest]) + "\n", pictures


def _alternative(code: str) -> str:
    """What a picture shows, in words: the comment that the cell begins with."""
    return code.splitlines()[0].removeprefix("# ") if code.startswith("# ") else "a chart"


def index() -> str:
    """The gallery: every notebook with what it is about and its first picture."""
    parts = [
        "# Notebooks",
        "Three short notebooks (seconds; the third about half a minute), with the output they had here. Every simulation has a\n"
        "seed, so yours will print the same. Open them in Jupyter from a checkout (`pip install '.[all]' pandas jupyterlab`), or\n"
        "read them as pages.",
    ]
    for path in paths():
        notebook, (_, pictures) = read(path), page(path)
        parts += [f"## [{title(notebook)}](notebooks/{path.stem}.md)", lead(notebook)]
        parts += [f"![{title(notebook)}](images/{name})" for name in list(pictures)[:1]]
    names = "\n".join(f"/docs/notebooks/{path.stem}" for path in paths())
    parts += [f"```{{toctree}}\n:maxdepth: 1\n:hidden:\n\n{names}\n```"]
    return "\n\n".join(parts) + "\n"


def files() -> Iterator[tuple[Path, bytes]]:
    """Every file of the documentation that is made from the notebooks, with what it should hold."""
    yield INDEX, index().encode()
    for path in paths():
        text, pictures = page(path)
        yield PAGES / f"{path.stem}.md", text.encode()
        for name, picture in pictures.items():
            yield IMAGES / name, picture


def stray() -> list[Path]:
    """Pages and pictures of notebooks that are no more."""
    expected = {path for path, _ in files()}
    return [path for path in [*PAGES.glob("*.md"), *IMAGES.glob("notebook-*.svg")] if path not in expected]


def write_pages() -> None:
    """The pages of the notebooks as they are kept."""
    PAGES.mkdir(exist_ok=True)
    for path in stray():
        path.unlink()
    for path, content in files():
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)
            sys.stdout.write(f"{path.relative_to(ROOT)}\n")


def main() -> None:
    """Run all of them, or those that are named, from the folder they lie in; keep outputs that changed; write the pages."""
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    chosen = [path for path in paths() if not sys.argv[1:] or path.stem in sys.argv[1:]]
    for path in chosen:
        before = read(path)
        after = run(before, NOTEBOOKS)
        if printed(after) != printed(before) or "--draw" in sys.argv:
            path.write_text(written(after), encoding="utf-8")
            sys.stdout.write(f"{path.relative_to(ROOT)}\n")
    write_pages()


if __name__ == "__main__":
    main()
