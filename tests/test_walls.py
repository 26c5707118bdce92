"""The floor plan: two layers, one door for each package, and no seeds near private values."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import deniable
from deniable.errors import MissingPackage

SOURCE = Path(deniable.__file__).parent
ROOT = SOURCE.parents[1]
DEVICE = ["core", "surveys"]
"""What a device needs: the standard library is enough."""
ARRAYS = ["batch", "estimators", "privacy", "planning", "studies", "charts", "collector", "cli"]
"""NumPy and more from here on. A package imports only from those before it."""
PLAN = [*DEVICE, *ARRAYS]
FILES = sorted(SOURCE.rglob("*.py"))
ARRAY_PACKAGES = {"numpy", "scipy", "numba", "cryptography", "narwhals"}
PACKAGES: dict[str, set[str]] = {
    "core": set(),
    "surveys": set(),
    "batch": ARRAY_PACKAGES | {"pyarrow", "pyspark"},
    "estimators": ARRAY_PACKAGES,
    "privacy": ARRAY_PACKAGES | {"gmpy2", "sklearn"},
    "planning": ARRAY_PACKAGES | {"highspy"},
    "studies": ARRAY_PACKAGES | {"flwr", "sklearn", "torch", "skops", "rbcl", "mpyc"},
    "charts": {"numpy", "altair", "vl_convert"},
    "collector": {"cryptography", "numpy", "starlette", "msgspec", "uvicorn", "sqlalchemy", "pyarrow"},
    "cli": {"numpy", "click", "rich", "pyarrow"},
}


def home(path: Path) -> str:
    """The package a file belongs to; files at the top belong to none."""
    parts = path.relative_to(SOURCE).parts
    return "cli" if parts[0] == "__main__.py" else parts[0] if len(parts) > 1 else ""


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path) -> Iterator[tuple[str, str]]:
    """Module and name of everything a file imports, anywhere in it."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively"
            yield from ((str(node.module), alias.name) for alias in node.names)


def label(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def test_packages_import_only_from_those_before_them_and_only_through_their_doors() -> None:
    wrong = []
    for path in FILES:
        own = home(path)
        for module, name in imported(path):
            parts = module.split(".")
            if parts[0] != "deniable":
                continue
            if parts == ["deniable"]:
                parts = ["deniable", name]
            if parts[1] in ("errors", "_door", "_extras", "_results", "__version__") or own in ("", parts[1]):
                continue
            if parts[1] not in PLAN or PLAN.index(parts[1]) > PLAN.index(own):
                wrong.append(f"{label(path)} must not import {module}")
            elif len(parts) > 2:
                wrong.append(f"{label(path)}: import {name} from deniable.{parts[1]}, not from {module}")
    assert wrong == []


def test_doors_show_only_what_their_package_or_one_before_it_holds() -> None:
    wrong = []
    for place, package in enumerate(PLAN):
        door = (SOURCE / package / "__init__.pyi").read_text(encoding="utf-8") if package != "cli" else ""
        homes = set(re.findall(r"^from deniable\.(\w+)", door, re.MULTILINE))
        wrong += [f"the door of {package} shows names of {home}" for home in homes - {"errors"} if PLAN.index(home) > place]
    assert wrong == []


def test_packages_use_only_what_their_extras_install() -> None:
    wrong = []
    for path in FILES:
        allowed = sys.stdlib_module_names | {"deniable"} | PACKAGES.get(home(path), set())
        wrong += [f"{label(path)} must not use {module}" for module, _ in imported(path) if module.split(".")[0] not in allowed]
    assert wrong == []


# A hash function's seed is part of the public report; conformance tests and simulated data have seeds of their own.
SEEDED = ("privacy/conformance/", "testing.py", "studies/trajectories/random_paths.py", "cli/flights.py")
HASH_SEEDS = ("core/channels/hashing.py", "batch/hashing.py")


def seeds(path: Path) -> Iterator[str]:
    """What in a file makes randomness that can be repeated."""
    for module, name in imported(path):
        if module == "random" or module.startswith("numpy.random") or (module == "numpy" and name == "random"):
            yield module
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            if node.attr in ("default_rng", "RandomState", "Generator") or (node.attr == "random" and owner in ("np", "numpy")):
                yield f"line {node.lineno}: {node.attr}"
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
            arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            if label(path) not in HASH_SEEDS and any(argument.arg == "seed" for argument in arguments):
                yield f"line {node.lineno}: {node.name} takes a seed"


def test_nothing_that_touches_private_values_takes_a_seed() -> None:
    assert [f"{label(path)}: {what}" for path in FILES if not label(path).startswith(SEEDED) for what in seeds(path)] == []


def test_every_file_has_one_subject_and_says_which() -> None:
    wrong = []
    for path in FILES:
        if not ast.get_docstring(tree(path)):
            wrong.append(f"{label(path)}: say what the file is about")
        # The verifier stays one file, whatever it learns: people copy it to where nothing else is installed.
        most = 420 if label(path) == "privacy/auditing/verifier.py" else 330
        if len(path.read_text(encoding="utf-8").splitlines()) > most:
            wrong.append(f"{label(path)} has more than {most} lines")
        if path.stem in ("utils", "helpers", "common", "misc"):
            wrong.append(f"{label(path)}: its name says nothing")
    assert wrong == []


def test_the_drawing_in_contributing_is_the_tree_on_disk() -> None:
    drawing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("src/deniable/\n")[1].split("```")[0]
    drawn = re.findall(r"^  (\w+)(?:/|\.py)", drawing, re.MULTILINE)
    packages = {path.name for path in SOURCE.iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    assert set(drawn) - {"errors"} == packages == set(PLAN)
    assert [name for name in drawn if name in PLAN] == PLAN


# What a first report loads.


def run(code: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


HEAVY = '{"numpy", "scipy", "numba", "cryptography", "altair", "click", "rich"}'


@pytest.mark.parametrize("package", DEVICE)
def test_a_device_needs_the_standard_library_only(package: str) -> None:
    everything = f"import sys, deniable.{package} as door; [getattr(door, name) for name in door.__all__]"
    assert run(f"{everything}; print({HEAVY} & set(sys.modules))") == "set()"


def test_a_first_report_loads_no_other_domain_or_channel() -> None:
    code = (
        "import sys, deniable; deniable.KaryRandomizedResponse(domain=deniable.Categories(9), epsilon=1).randomize(3);"
        "names = [name.removeprefix('deniable.core.') for name in sys.modules if name.startswith('deniable.core.')];"
        f"print(*sorted(name for name in names if name.startswith(('domains.', 'channels.')))); print({HEAVY} & set(sys.modules))"
    )
    loaded, heavy = run(code).split("\n")
    assert set(loaded.split()) == {"channels.base", "channels.sets", "channels.two_level", "domains.base", "domains.categories"}
    assert heavy == "set()"


def test_a_recipe_finds_a_domain_that_nobody_has_loaded() -> None:
    recipe = deniable.Circle(24, cells=24).recipe()
    assert run(f"from deniable.core import domain_from_recipe as read; print(read({recipe!r}).recipe() == {recipe!r})") == "True"


def test_an_unknown_kind_of_domain_is_told_all_kinds() -> None:
    code = (
        "from deniable.core import domain_from_recipe as read\n"
        "try:\n    read({'kind': 'hexagon'})\nexcept Exception as error:\n    print(error)"
    )
    told = run(code)
    assert all(kind in told for kind in ("binary", "categories", "circle", "interval", "polygon", "record", "trajectory", "text"))


@pytest.mark.parametrize("package", [package for package in PLAN if package != "cli"])
def test_every_name_of_a_door_is_there_and_says_what_it_is(package: str) -> None:
    door = getattr(deniable, package)
    assert list(door.__all__) == sorted(door.__all__) == dir(door)
    for name in door.__all__:
        try:
            value = getattr(door, name)
        except MissingPackage as error:
            if error.name == "flwr":  # it has an environment of its own: tests/studies/federated/test_simulation.py
                continue
            raise
        assert not inspect.isclass(value) | inspect.isfunction(value) or value.__doc__, f"{package}.{name} has no docstring"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = door.nothing
