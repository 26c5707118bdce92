"""docs/adding-a-mechanism.md, followed: the mechanism on the page, registered in a program and installed as a package."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import shlex
import subprocess
import sys
import venv
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.following import block_steps, blocks
from tests.proofs.statements import check

import deniable
from deniable.cli.app import main
from deniable.core import (
    Categories,
    Circle,
    Interval,
    KaryRandomizedResponse,
    Mechanism,
    mechanism_class,
    mechanism_from_recipe,
    mechanisms_for,
    names,
)
from deniable.core.mechanisms import registry
from deniable.errors import InvalidParameter, NotSupported, UnknownMechanism
from deniable.estimators import average_error
from deniable.planning import compare
from deniable.privacy import CHECKS, proof_page, run_check

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "adding-a-mechanism.md").read_text(encoding="utf-8")
FILE, CONFORMS = blocks(PAGE, "python")
(PROJECT,) = blocks(PAGE, "toml")
COMMANDS = [command for body in blocks(PAGE, "console") for command, _ in block_steps(body)]
NAME = "truncated-geometric"


@pytest.fixture
def kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The class on the page, from a file outside the repository; forgotten again afterwards."""
    path = tmp_path / "truncated_geometric.py"
    path.write_text(FILE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("truncated_geometric", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "truncated_geometric", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(registry, "_registered", {})
    return module.TruncatedGeometric


@pytest.fixture
def registered(kind: type[Mechanism]) -> type[Mechanism]:
    return deniable.register(kind)


def test_a_registered_mechanism_is_found_by_its_name(registered: type[Mechanism]) -> None:
    assert names()[-1] == NAME
    assert mechanism_class(NAME) is registered
    example = next(registered.examples())
    assert mechanism_from_recipe(example.recipe()) == example
    with pytest.raises(UnknownMechanism, match=NAME):
        mechanism_class("truncated-geometrics")


def test_a_registered_mechanism_is_compared_by_its_name(registered: type[Mechanism]) -> None:
    comparison = compare([NAME, "bounded-laplace"], [1], task="value", domain=deniable.Interval(0, 20))
    expected = average_error(registered(domain=deniable.Interval(0, 20), epsilon=1), "squared")
    assert comparison.errors[NAME] == (expected,)


def test_without_registering_nobody_knows_it(kind: type[Mechanism]) -> None:
    with pytest.raises(UnknownMechanism):
        mechanism_from_recipe(next(kind.examples()).recipe())


def test_the_planner_weighs_it(registered: type[Mechanism]) -> None:
    assert registered in mechanisms_for("distribution", Interval(0, 20))
    assert registered not in mechanisms_for("mean", Interval(0, 20))
    assert registered not in mechanisms_for("distribution", Circle())


@pytest.mark.slow
def test_every_command_on_the_page_works_with_it(
    registered: type[Mechanism], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in COMMANDS:
        program, *arguments = shlex.split(command)
        result = CliRunner().invoke(main, arguments)
        assert program == "deniable"
        assert result.exit_code == 0, (command, result.output)
        if arguments[0] in ("show", "plan"):
            assert NAME in result.output
    rows = json.loads(CliRunner().invoke(main, ["mechanisms", "--family", "numeric", "--json"]).output)
    assert NAME in [row["name"] for row in rows]


@pytest.mark.parametrize("conformance", CHECKS, ids=lambda one: one.__name__)
def test_it_conforms(conformance: Any, registered: type[Mechanism]) -> None:
    assert run_check(conformance, next(registered.examples())).outcome in ("passed", "skipped")


def test_its_proof_is_generated_and_true(registered: type[Mechanism]) -> None:
    page = proof_page(registered)
    for mechanism in [*registered.examples(), *(dataclasses.replace(next(registered.examples()), epsilon=e) for e in ("0.3", 3))]:
        check(page, mechanism)
    with pytest.raises(AssertionError):
        check(page.replace("max(column) / min(column)", "min(column) / max(column)"), next(registered.examples()))


def test_a_tail_rounded_down_would_be_seen(registered: type[Mechanism], monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["truncated_geometric"]
    monkeypatch.setattr(module.math, "ceil", lambda number: number.numerator // number.denominator - 1)
    assert not all(example.certificate().holds for example in islice(registered.examples(), 2))


def test_names_of_this_package_cannot_be_taken(kind: type[Mechanism]) -> None:
    taken = type("Window", (kind,), {"name": "window"})
    with pytest.raises(InvalidParameter, match="a mechanism of deniable itself"):
        deniable.register(dataclasses.dataclass(frozen=True, kw_only=True, repr=False)(taken))


@pytest.mark.parametrize(
    ("changes", "why"),
    [({"name": "My Answer"}, "lower-case"), ({"name": ""}, "lower-case"), ({"tasks": ("everything",)}, "tasks")],
)
def test_what_cannot_work_is_refused_when_it_is_registered(kind: type[Mechanism], changes: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidParameter, match=why):
        deniable.register(type("Other", (kind,), changes))


def test_two_classes_cannot_share_a_name(registered: type[Mechanism]) -> None:
    assert deniable.register(registered) is registered
    with pytest.raises(InvalidParameter, match="already registered"):
        deniable.register(type("Other", (registered,), {}))


def test_what_is_no_mechanism_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="frozen dataclass"):
        deniable.register(Categories)  # type: ignore[type-var]


class Point:
    """An entry point as a broken package would have it."""

    name, value = "broken", "broken:Broken"

    def __init__(self, found: Any) -> None:
        self._found = found

    def load(self) -> Any:
        if isinstance(self._found, Exception):
            raise self._found
        return self._found


@pytest.mark.parametrize("found", [ImportError("no module named broken"), AttributeError("Broken"), KaryRandomizedResponse])
def test_a_package_that_does_not_work_is_named(found: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_installed", lambda: {"broken": Point(found)})
    assert "broken" in names()
    with pytest.raises(NotSupported, match="broken:Broken"):
        mechanism_class("broken")


@pytest.mark.heavy
def test_installed_into_a_fresh_environment_everything_works(tmp_path: Path) -> None:
    """Builds and installs this package and the one on the page: needs a package index, and minutes."""
    home, project, work = tmp_path / "environment", tmp_path / "project", tmp_path / "work"
    project.mkdir()
    work.mkdir()
    (project / "truncated_geometric.py").write_text(FILE, encoding="utf-8")
    (project / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    venv.create(home, with_pip=True)

    def run(*command: str | Path) -> str:
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=work, timeout=900, check=False)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    python = home / "bin" / "python"
    if subprocess.run([str(python), "-m", "pip", "install", "--quiet", "hatchling"], check=False, capture_output=True).returncode:
        pytest.skip("no package index can be reached, so nothing can be built")
    run(python, "-m", "pip", "install", "--quiet", f"{ROOT}[arrays,cli,design]")
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", project)
    for command in COMMANDS:
        program, *arguments = shlex.split(command)
        printed = run(home / "bin" / program, *arguments)
        if arguments[0] in ("show", "plan"):
            assert NAME in printed
    assert run(python, "-c", CONFORMS).startswith(f"# {NAME}\n")
    client = (
        "import json, deniable; recipe = json.load(open('reports.csv.recipe.json'))['recipe'];"
        "m = deniable.mechanism_from_recipe(recipe); r = m.randomize(3);"
        "print(deniable.decode_report(m, deniable.encode_report(m, r)) == r)"
    )
    assert run(python, "-c", client).strip() == "True"
