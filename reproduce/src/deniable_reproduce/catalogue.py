"""Finds every artifact by its name, and imports only the one that is asked for.

`figure-5.8` lives in figures/figure_5_08.py, `table-4.1` in tables/table_4_1.py, `example-3` in examples/example_3.py,
`beyond-disc` in beyond/disc.py, and what a source states without a picture in claims/, as its module attribute ARTIFACT.
A new file appears here by itself.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
import re
from functools import cache

from deniable.errors import InvalidParameter
from deniable_reproduce import artifact as interface
from deniable_reproduce import beyond, claims, examples, figures, tables

SHELVES = {"figures": figures, "tables": tables, "examples": examples, "claims": claims, "beyond": beyond}


class UnknownArtifact(InvalidParameter):
    """No table, figure or example has the name that was asked for."""


def artifact_name(shelf: str, module: str) -> str:
    """What people call the artifact of a module: figure_5_08 is figure-5.8, figure_b_1 is figure-b.1, beyond/disc beyond-disc."""
    if shelf == "beyond":
        return "beyond-" + module.removeprefix("beyond_").replace("_", "-")
    numbered = re.fullmatch(r"(figure|table|example)_([a-z]|\d+)(?:_(\d+))?", module)
    if numbered is None:
        return module.replace("_", "-")
    kind, chapter, number = numbered.groups()
    chapter = str(int(chapter)) if chapter.isdigit() else chapter
    return f"{kind}-{chapter}" if number is None else f"{kind}-{chapter}.{int(number)}"


def _order(name: str) -> tuple[str, int, str, int, str]:
    """Figures before tables before examples, chapters before appendices, numbers as numbers."""
    kind, _, rest = name.partition("-")
    chapter, _, number = rest.partition(".")
    rank = {"figure": "1", "table": "2", "example": "3", "poster": "4", "lecture": "5", "beyond": "6"}.get(kind, "7")
    return (
        rank,
        int(chapter) if chapter.isdigit() else 1000,
        "" if chapter.isdigit() else chapter,
        int(number) if number.isdigit() else 0,
        name,
    )


@cache
def _modules() -> dict[str, str]:
    modules = {}
    for shelf, package in SHELVES.items():
        for module in pkgutil.iter_modules(package.__path__):
            if not module.name.startswith("_") and not module.ispkg:
                modules[artifact_name(shelf, module.name)] = f"{package.__name__}.{module.name}"
    return {name: modules[name] for name in sorted(modules, key=_order)}


def names() -> list[str]:
    """Every artifact there is, in the order of the sources; nothing is imported for it."""
    return list(_modules())


def find(name: str) -> interface.Artifact:
    """The artifact of that name, or an error that says which one was probably meant."""
    wanted = name.strip().lower()
    if wanted not in _modules():
        near = difflib.get_close_matches(wanted, names(), n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else "`deniable reproduce list` names all of them."
        raise UnknownArtifact(f"no artifact is called {name[:60]!r}; {hint}")
    artifact = importlib.import_module(_modules()[wanted]).ARTIFACT
    if not isinstance(artifact, interface.Artifact):
        raise UnknownArtifact(f"the module of {wanted} has no ARTIFACT; give it one.")
    return artifact
