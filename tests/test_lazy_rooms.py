"""Domains, channels and joint mechanisms are loaded when they are first asked for, and nobody can tell."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import deniable

ROOMS = ["domains", "channels", "joint"]


def homes(room: str) -> set[tuple[str, str]]:
    module: Any = importlib.import_module(f"deniable.{room}")
    return {(f"deniable.{room}.{home}", name) for name, home in module._HOME_OF.items()}


@pytest.mark.parametrize("room", ROOMS)
def test_lazy_names_are_those_type_checkers_see(room: str) -> None:
    tree = ast.parse((Path(deniable.__file__).parent / room / "__init__.py").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    own = [node for node in block.body if isinstance(node, ast.ImportFrom) and str(node.module).startswith("deniable.")]
    imports = {(str(node.module), alias.name) for node in own for alias in node.names}
    assert imports == homes(room)


@pytest.mark.parametrize("room", ROOMS)
def test_every_name_is_there_and_is_listed(room: str) -> None:
    module = importlib.import_module(f"deniable.{room}")
    for name in module.__all__:
        assert getattr(module, name).__doc__
    assert set(module.__all__) <= set(dir(module))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = module.nothing


def fresh(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout.strip()


def test_a_first_report_loads_no_other_domain_or_channel() -> None:
    code = (
        "import sys, deniable; deniable.KaryRandomizedResponse(domain=deniable.Categories(9), epsilon=1).randomize(3);"
        "print(*sorted(name for name in sys.modules if name.startswith(('deniable.domains.', 'deniable.channels.', 'difflib'))))"
    )
    wanted = {"channels.base", "channels.sets", "channels.two_level", "domains.base", "domains.categories"}
    assert set(fresh(code).split()) == {f"deniable.{name}" for name in wanted}


def test_a_recipe_finds_a_domain_that_nobody_has_loaded() -> None:
    recipe = deniable.Circle(24, cells=24).recipe()
    code = f"from deniable.domains import domain_from_recipe as read; print(read({recipe!r}).recipe() == {recipe!r})"
    assert fresh(code) == "True"


def test_an_unknown_kind_is_told_all_kinds() -> None:
    code = (
        "from deniable.domains import domain_from_recipe as read\n"
        "try:\n    read({'kind': 'hexagon'})\nexcept Exception as error:\n    print(error)"
    )
    told = fresh(code)
    assert all(kind in told for kind in ("binary", "categories", "circle", "interval", "polygon", "record", "trajectory", "text"))
