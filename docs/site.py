"""Build the documentation as a site that needs no network: python docs/site.py [OUTPUT]

The pages of docs/, proofs/ and spec/ keep their places, so that their links work here as they do in the repository. The
reference is written from the docstrings. A warning is an error.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from deniable.errors import MissingPackage

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("docs", "proofs", "spec", "examples", "sdk")
PAGES = (
    "README.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "LICENSE",
    "pyproject.toml",
    "benchmarks/RESULTS.md",
    "benchmarks/results.svg",
)
PACKAGES = (
    "deniable",
    "deniable.errors",
    "deniable.core",
    "deniable.surveys",
    "deniable.batch",
    "deniable.estimators",
    "deniable.privacy",
    "deniable.planning",
    "deniable.studies",
    "deniable.charts",
    "deniable.collector",
    "deniable.testing",
)


def main() -> None:
    """Gather, generate, build."""
    output = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "output" / "docs").resolve()
    with tempfile.TemporaryDirectory() as folder:
        stage = Path(folder) / "site"
        gather(stage)
        write_reference(stage / "docs" / "reference")
        command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", str(stage), str(output)]
        code = subprocess.run(command, check=False).returncode  # noqa: S603
    if code:
        sys.exit(code)
    print(f"docs: {output / 'index.html'}")


def gather(stage: Path) -> None:
    """Copy the pages; the front page moves to the root and its links with it."""
    ignore = shutil.ignore_patterns("node_modules", "_build", "__pycache__", "vectors")
    for part in PARTS:
        shutil.copytree(ROOT / part, stage / part, ignore=ignore)
    for page in PAGES:
        if (ROOT / page).exists():
            (stage / page).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / page, stage / page)
    shutil.copy(ROOT / "docs" / "conf.py", stage / "conf.py")
    front = (stage / "docs" / "index.md").read_text(encoding="utf-8")
    (stage / "docs" / "index.md").unlink()
    (stage / "index.md").write_text(re.sub(r"\]\((?!http|#)", "](docs/", front), encoding="utf-8")
    for staged in stage.rglob("*.md"):
        staged.write_text(without_last_line(staged.read_text(encoding="utf-8")), encoding="utf-8")
    proofs = "\n".join(f"{page.stem}" for page in sorted((stage / "proofs").glob("*.md")))
    text = (
        f"# Proofs\n\nOne page per mechanism: why its integers keep the promise.\n\n```{{toctree}}\n:maxdepth: 1\n\n{proofs}\n```\n"
    )
    (stage / "proofs" / "index.md").write_text(text, encoding="utf-8")


def without_last_line(text: str) -> str:
    """Examples end with an empty line for doctest, which looks like a mistake in a box."""
    return re.sub(r"^(```pycon\n.*?)\n\n```$", r"\1\n```", text, flags=re.MULTILINE | re.DOTALL)


def write_reference(folder: Path) -> None:
    """One page per package, from its own list of public names."""
    folder.mkdir()
    for package in PACKAGES:
        (folder / f"{package}.md").write_text(package_page(importlib.import_module(package)), encoding="utf-8")
    listed = "\n".join(PACKAGES)
    text = f"# Reference\n\nEvery public name, by package, from its docstring.\n\n```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n"
    (folder / "index.md").write_text(text, encoding="utf-8")


def package_page(package: ModuleType) -> str:
    """The package's own words, then its names."""
    parts = [f"# {package.__name__}\n", as_markdown(inspect.getdoc(package) or "")]
    for name in sorted(public_names(package), key=str.lower):
        try:
            parts.append(entry(name, getattr(package, name)))
        except MissingPackage as missing:
            parts.append(unloaded(package, name, str(missing)))
    return "\n".join(parts) + "\n"


def unloaded(package: ModuleType, name: str, missing: str) -> str:
    """A public name whose own extra is not installed here (Flower has an environment of its own): its words, from the source."""
    doors = Path(package.__file__ or "").with_suffix(".pyi").read_text(encoding="utf-8")
    home = re.search(rf"^from (\S+) import {name} as", doors, re.MULTILINE)
    assert home is not None, name
    source = (ROOT / "src" / home[1].replace(".", "/")).with_suffix(".py").read_text(encoding="utf-8")
    (node,) = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name]
    return f"## {name}\n\n{as_markdown(ast.get_docstring(node) or '')}\n{missing[0].upper()}{missing[1:]}.\n"


def public_names(package: ModuleType) -> list[str]:
    """The names a package lists, or all that a single file defines."""
    listed: list[str] | None = getattr(package, "__all__", None)
    return listed or [name for name, thing in vars(package).items() if getattr(thing, "__module__", None) == package.__name__]


def entry(name: str, thing: Any) -> str:
    """One public name: signature, words, public methods."""
    lines = [f"## {name}\n"]
    if callable(thing):
        lines.append(f"```python\n{name}{signature(thing)}\n```\n")
    lines.append(
        as_markdown(inspect.getdoc(thing) or "") if callable(thing) or inspect.ismodule(thing) else f"`{str(thing)[:200]}`\n"
    )
    if inspect.isclass(thing):
        for method, found in sorted(vars(thing).items()):
            target = found.fget if isinstance(found, property) else getattr(found, "__func__", found)
            words = inspect.getdoc(target) if inspect.isfunction(target) else None
            if not method.startswith("_") and words:
                shown = "" if isinstance(found, property) else signature(target)
                lines.append(f"`{method}{shown}`\n: {' '.join(words.split(chr(10) * 2)[0].split())}\n")
    return "\n".join(lines)


def signature(thing: Any) -> str:
    """As it would be written, or nothing where Python does not know it."""
    try:
        found = str(inspect.signature(thing))
    except (TypeError, ValueError):
        return ""
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", re.sub(r"<(?:[^<>]* at 0x[0-9a-f]+|factory|class '[^']*')>", "...", found))


def as_markdown(words: str) -> str:
    """Docstrings are plain text: prose stays, examples and aligned lists become blocks."""
    blocks = []
    for block in re.split(r"\n\s*\n", words):
        if block.lstrip().startswith(">>>"):
            blocks.append(f"```pycon\n{inspect.cleandoc(block)}\n```")
        elif re.search(r"^\s{2,}|\S {2,}\S", block, re.MULTILINE):
            blocks.append(f"```text\n{block}\n```")
        else:
            blocks.append(re.sub(r"([<>*_\[\]])", r"\\\1", block) if "`" not in block else block)
    return "\n\n".join(blocks) + "\n"


if __name__ == "__main__":
    main()
