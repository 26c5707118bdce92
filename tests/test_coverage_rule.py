"""Lines that coverage leaves out are those Python never runs: kernels, what type checkers read, and empty bodies."""

from __future__ import annotations

import ast
import configparser
import re
from functools import cache
from pathlib import Path

import pytest

import deniable

SOURCE = Path(deniable.__file__).parent
RULES = Path(__file__).with_name("coverage.ini")
COMPILED = {"njit", "intrinsic"}
MOST_LEFT_OUT = 0.05


@cache
def rules() -> list[re.Pattern[str]]:
    settings = configparser.ConfigParser(interpolation=None)
    settings.read(RULES)
    return [re.compile(line) for line in settings["report"]["exclude_also"].split("\n") if line]


def decorator(node: ast.expr) -> str:
    called = node.func if isinstance(node, ast.Call) else node
    return called.id if isinstance(called, ast.Name) else ""


def excused(tree: ast.Module) -> set[int]:
    """The lines a rule may name: decorators of compiled functions and overloads, tests of TYPE_CHECKING, bodies of dots."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found |= {own.lineno for own in node.decorator_list if decorator(own) in COMPILED | {"overload"}}
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            found.add(node.lineno)
    return found | {node.lineno for node in ast.walk(tree) if isinstance(node, ast.Expr) and ast.unparse(node) == "..."}


@pytest.mark.parametrize("package", sorted(path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()))
def test_only_lines_that_python_never_runs_are_left_out(package: str) -> None:
    for path in (SOURCE / package).rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        lines = {i for i, line in enumerate(text.splitlines(), 1) if any(rule.search(line) for rule in rules())}
        assert lines <= excused(ast.parse(text)), f"{path.name} has lines that a rule leaves out and Python runs"


def test_few_statements_are_compiled() -> None:
    compiled = every = 0
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        every += sum(isinstance(node, ast.stmt) for node in ast.walk(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and any(decorator(own) in COMPILED for own in node.decorator_list):
                compiled += sum(isinstance(inner, ast.stmt) for inner in ast.walk(node))
    assert 0 < compiled / every < MOST_LEFT_OUT, f"{compiled} of {every} statements are compiled and not traced"
