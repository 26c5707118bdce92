"""Import walls: a room imports only from rooms above it, and only the packages it is allowed."""

from __future__ import annotations

import ast
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import deniable

SOURCE = Path(deniable.__file__).parent
ROOMS = ["frozen", "errors", "exact", "randomness", "domains", "channels", "reports", "mechanisms", "wire"]
ROOMS += ["batch", "accumulators", "utility", "design", "estimators", "classifiers", "trajectories", "privacy", "auditing"]
ROOMS += ["planning", "joint"]
ROOMS += ["testing", "datasets", "surveys", "client", "secure", "charts", "collector", "engines", "experiments", "dashboard", "cli"]
PHONE = ROOMS[: ROOMS.index("wire") + 1]
"""What a phone can install: the standard library is enough."""

PACKAGES: dict[str, set[str]] = {
    "batch": {"numpy", "numba", "llvmlite", "cryptography", "narwhals"},  # llvmlite is what numba itself is made of
    "accumulators": {"numpy", "numba"},
    "utility": {"numpy", "scipy"},
    "design": {"numpy", "scipy", "highspy", "pyscipopt"},
    "estimators": {"numpy", "scipy", "numba"},
    "classifiers": {"numpy", "scipy", "numba", "sklearn", "torch", "skops"},  # the last three only when a model needs them
    "trajectories": {"numpy", "scipy", "numba"},
    "privacy": {"numpy", "scipy", "numba"},
    "auditing": {"numpy", "scipy", "sklearn"},  # the last one only to propose events
    "planning": {"numpy", "scipy"},
    "joint": {"numpy", "scipy", "numba"},
    "testing": {"numpy", "scipy", "cryptography"},
    "datasets": {"numpy", "pyarrow", "narwhals"},
    "secure": {"rbcl", "cryptography", "mpyc", "numpy"},  # the last two only inside a committee member's process
    "collector": {"numpy", "starlette", "msgspec", "uvicorn", "sqlalchemy", "pyarrow"},
    "engines": {"numpy", "pyarrow", "pyspark"},
    "experiments": {"numpy", "scipy", "altair", "sklearn", "torch"},  # the last two only for case studies
    "dashboard": {"numpy", "starlette"},
    "charts": {"altair", "vl_convert", "numpy"},
    "cli": {"click", "rich"},
}
FILES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py").replace("__main__", "cli")


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def imported(path: Path) -> Iterator[str]:
    """Full names of everything a file imports, anywhere in it."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively"
            assert node.module is not None
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def label(path: Path) -> str:
    return str(path.relative_to(SOURCE))


@pytest.mark.parametrize("path", FILES, ids=label)
def test_a_room_imports_only_from_rooms_above(path: Path) -> None:
    room = room_of(path)
    assert room in ROOMS, f"{room} is a room the map does not know"
    allowed = [*PHONE, "surveys"] if room == "client" else PHONE if room == "surveys" else ROOMS[: ROOMS.index(room)]
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "deniable":
            top_name = len(parts) < 2 or parts[1] not in ROOMS
            assert not top_name or parts[1].startswith("__"), f"{name}: import from the room, not from the top"
            assert top_name or parts[1] == room or parts[1] in allowed, f"{room} must not import {name}"


@pytest.mark.parametrize("path", FILES, ids=label)
def test_a_room_uses_only_its_packages(path: Path) -> None:
    allowed = sys.stdlib_module_names | {"deniable"} | PACKAGES.get(room_of(path), set())
    for name in imported(path):
        assert name.split(".")[0] in allowed, f"{room_of(path)} must not use {name}"


@pytest.mark.parametrize("path", [path for path in FILES if room_of(path) not in ("testing", "datasets")], ids=label)
def test_no_seedable_generator_outside_testing(path: Path) -> None:
    for name in imported(path):
        assert not name.startswith(("random.", "numpy.random")), f"{name} is not a source of private randomness"
        assert name != "random"
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Attribute):
            assert node.attr not in ("default_rng", "RandomState", "Generator"), f"line {node.lineno}"
            assert not (node.attr == "random" and isinstance(node.value, ast.Name) and node.value.id in ("np", "numpy"))


def arguments(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Iterator[str]:
    for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        yield argument.arg


# The hash function's seed is part of the public report, and datasets are made up in a repeatable way.
SEEDS_ALLOWED = {"channels/hashing.py", "batch/hashing.py"}


@pytest.mark.parametrize("path", [path for path in FILES if room_of(path) not in ("testing", "datasets")], ids=label)
def test_no_public_function_takes_a_seed(path: Path) -> None:
    if label(path) in SEEDS_ALLOWED:
        pytest.skip("hash seeds are public outputs")
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
            assert "seed" not in arguments(node), f"{node.name} in line {node.lineno} takes a seed"


@pytest.mark.parametrize("path", FILES, ids=label)
def test_files_have_one_subject_and_a_docstring(path: Path) -> None:
    assert ast.get_docstring(tree(path)), "say what the file is about"
    assert len(path.read_text().splitlines()) <= 330
    assert path.stem not in ("utils", "helpers", "common", "misc")


FIRST_REPORT = """
import sys
from deniable.mechanisms import mechanism_class
from deniable import client
report = mechanism_class("k-rr")(epsilon=1).randomize(3)
heavy = sorted({"numpy", "scipy", "numba", "cryptography", "altair", "click", "rich"} & set(sys.modules))
print(report.output, heavy)
"""


def run(code: str) -> tuple[str, float]:
    """What a fresh interpreter prints, and the processor time it took: other work here must not count."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60, env=plain)
    assert done.returncode == 0, done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_a_first_report_needs_no_numpy_and_is_quick() -> None:
    runs = [run(FIRST_REPORT) for _ in range(3)]
    assert all(output.strip().endswith("[]") for output, _ in runs), runs[0][0]
    assert min(seconds for _, seconds in runs) < 0.3


@pytest.mark.parametrize("room", [*PHONE, "client"])
def test_a_phone_needs_the_standard_library_only(room: str) -> None:
    heavy = '{"numpy", "scipy", "numba", "cryptography", "altair", "click", "rich"}'
    output, _ = run(f"import sys, deniable.{room}; print(sorted({heavy} & set(sys.modules)))")
    assert output.strip() == "[]"


def test_asking_for_a_batch_is_what_loads_numpy() -> None:
    code = "import sys, deniable; before = 'numpy' in sys.modules; import deniable.batch; print(before, 'numpy' in sys.modules)"
    assert run(code)[0].strip() == "False True"


@pytest.mark.parametrize("room", [room for room in ROOMS if (SOURCE / room).is_dir()])
def test_a_room_says_in_one_sentence_what_it_is_for(room: str) -> None:
    text = (SOURCE / room / "README.md").read_text(encoding="utf-8")
    title, sentence = text.strip().split("\n\n")
    assert title == f"# {room}"
    assert sentence.endswith(".")
    assert "\n" not in sentence
