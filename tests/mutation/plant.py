"""Two ways to plant a fault without touching a file: in the functions that are loaded, or at import."""

from __future__ import annotations

import ast
import functools
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from tests.mutation.mutants import Mutant


def function_at(module: ModuleType, scope: str) -> FunctionType | None:
    """The function of a module that a scope names or lies in; None for what runs at import only."""
    found: Any = module
    for name in scope.split("."):
        found = _plain(vars(found).get(name))
        if isinstance(found, FunctionType):
            return found
        if not isinstance(found, type):
            return None
    return None


def _plain(found: Any) -> Any:
    """The function inside a property, a class method or a cache."""
    if isinstance(found, property):
        return found.fget
    if isinstance(found, functools.cached_property):
        return found.func
    if isinstance(found, classmethod | staticmethod):
        return found.__func__
    return found.__wrapped__ if hasattr(found, "cache_clear") else found


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def plant_in_place(module: ModuleType, mutant: Mutant) -> bool:
    """Give the loaded function its faulty code; False when only an import can plant the fault."""
    function = function_at(module, mutant.scope)
    if function is None or mutant.kind == "default":
        return False
    whole = compile(mutant.tree(), module.__file__ or "", "exec")
    found = [code for code in _codes(whole) if code.co_qualname == function.__code__.co_qualname]
    if len(found) != 1 or found[0].co_freevars != function.__code__.co_freevars:
        return False
    function.__code__ = found[0]
    for name in [name for name in sys.modules if name.startswith("deniable.")]:
        for value in list(vars(sys.modules[name]).values()):
            forget: Callable[[], None] | None = getattr(value, "cache_clear", None)
            if forget is not None and getattr(value, "__module__", "") == module.__name__:
                forget()
    return True


class _FaultyLoader(importlib.machinery.SourceFileLoader):
    """Loads a given tree under the name and place of a module. Writes no bytecode."""

    tree: ast.Module

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.tree, self.path, "exec")


class PlantedImport(MetaPathFinder):
    """An import hook that gives one module another content."""

    def __init__(self, module: str, path: Path, tree: ast.Module) -> None:
        self.module = module
        self._loader = _FaultyLoader(module, str(path))
        self._loader.tree = tree

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        """The faulty module, and nothing else."""
        if fullname != self.module:
            return None
        folder = [str(Path(self._loader.path).parent)] if self._loader.path.endswith("__init__.py") else None
        return importlib.util.spec_from_file_location(
            fullname, self._loader.path, loader=self._loader, submodule_search_locations=folder
        )
