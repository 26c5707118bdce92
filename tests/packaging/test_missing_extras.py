"""Where an extra is not installed, everything that needs it says so in one sentence, with the command that installs it."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from deniable._extras import EXTRAS

ROOT = Path(__file__).parents[2]
SENTENCE = re.compile(r"needs [^:]+: pip install 'deniable\[([a-z]+)\]'$")
IMPORT_NAMES = {"vl-convert-python": "vl_convert", "scikit-learn": "sklearn"}
DEPENDED_ON = {"llvmlite": "numba", "joblib": "scikit-learn"}
"""Modules that come with another package of the same extra."""


def extras() -> dict[str, list[str]]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        declared: dict[str, list[str]] = tomllib.load(file)["project"]["optional-dependencies"]
    return {name: [re.split(r"[<>=!;\[ ]", line)[0] for line in lines] for name, lines in declared.items()}


BLOCK = """
import sys
from importlib.machinery import PathFinder

class Hiding:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return None if name.partition(".")[0] in BLOCKED else PathFinder.find_spec(name, path, target)

    @staticmethod
    def find_distributions(*context):
        return (one for one in PathFinder.find_distributions(*context) if one.name.lower() not in BLOCKED)

sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not PathFinder] + [Hiding]
"""
"""Modules that are not found, as if they were not installed."""


def without(blocked: Sequence[str], code: str, *arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter in which these extras cannot be imported."""
    modules = {module for extra in blocked for module in EXTRAS[extra][1]}
    command = [sys.executable, "-c", f"BLOCKED = {modules!r}\n{BLOCK}\n{code}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=600, check=False)


def test_a_plain_installation_has_no_dependency() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        assert tomllib.load(file)["project"]["dependencies"] == []


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_program_knows_what_an_extra_brings(extra: str) -> None:
    declared = {IMPORT_NAMES.get(name, name) for name in extras()[extra]} - {"deniable"}
    if extra == "collector":  # NumPy and AES come with it too, without the rest of `arrays`
        assert {"numpy", "cryptography"} < declared
        declared -= {"numpy", "cryptography"}
    known = {module for module in EXTRAS[extra][1] if module not in DEPENDED_ON}
    # pyarrow is listed with `files` only: that extra is enough for everything but Spark.
    assert known == declared - ({"pyarrow"} if extra == "spark" else set())


def test_every_module_has_one_extra() -> None:
    modules = [module for _adds, brought in EXTRAS.values() for module in brought]
    assert len(modules) == len(set(modules))


EVERY_NAME = """
import importlib
from deniable.errors import MissingPackage
for package in ("core", "surveys", "batch", "estimators", "privacy", "planning", "studies", "charts", "collector"):
    door = importlib.import_module("deniable." + package)
    for name in door.__all__:
        try:
            getattr(door, name)
        except MissingPackage as error:
            print(package, name, error, sep="\\t")
"""


def test_without_extras_a_device_has_all_it_needs_and_the_rest_says_what_is_missing() -> None:
    done = without(list(EXTRAS), EVERY_NAME)
    assert done.returncode == 0, done.stderr
    refused = [line.split("\t") for line in done.stdout.splitlines()]
    assert {package for package, _, _ in refused}.isdisjoint({"core", "surveys"})
    for package, name, said in refused:
        match = SENTENCE.search(said)
        assert match is not None, (package, name, said)
        wanted = {"charts": {"charts"}, "collector": {"collector"}}.get(package, {"arrays", "files", "flower", "joint"})
        assert match[1] in wanted, (package, name, said)
    assert len(refused) > 100


@pytest.mark.slow
@pytest.mark.parametrize("extra", EXTRAS)
def test_every_name_loads_or_names_the_extra(extra: str) -> None:
    done = without([extra], EVERY_NAME)
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        match = SENTENCE.search(line)
        assert match is not None, line
        # Where another extra brings the package too, that one may be named: whoever uses a collector needs all of it.
        # Flower has an environment of its own, so here it is always missing.
        assert match[1] in (extra, "flower") or (extra in ("arrays", "cli") and match[1] in ("charts", "collector")), line


RUN = "from deniable.cli import main\nmain(sys.argv[1:])\n"
IN_PYTHON = {
    "flower": "from deniable.studies import LocalPrivacy\n",
    "joint": "from deniable.studies import BlindRequest\n",
}
"""Where no single command shows it."""
QUESTION = ["k-rr", "--epsilon", "1", "--domain", "categories:yes,no"]
COMMANDS: dict[str, list[str]] = {
    "cli": ["doctor"],
    "arrays": ["estimate", "reports.csv"],
    "charts": ["show", *QUESTION, "--chart", "chart.svg"],
    "design": ["design", "--domain", "interval", "--loss", "absolute", "--epsilon", "1"],
    "collector": ["serve", "survey.toml"],
    "postgresql": ["token", "alice", "--database", "postgresql+psycopg://nobody@127.0.0.1:9/none"],
    "files": ["estimate", "reports.parquet"],
    "models": ["quantify", "model.skops", "data.csv", "--sensitive", "a=0:1"],
    "torch": ["quantify", "model.pt", "data.csv", "--sensitive", "a=0:1", "--trust-code"],
    "spark": ["estimate", "reports.parquet", "--engine", "spark"],
    "demo": ["demo"],
}


@pytest.mark.slow
@pytest.mark.parametrize("extra", EXTRAS)
def test_a_command_without_its_extra_says_one_sentence(extra: str, tmp_path: Path) -> None:
    made = without([], RUN, "randomize", *QUESTION, "yes", "--output", "reports.csv", folder=tmp_path)
    assert made.returncode == 0, made.stderr
    recipe = (tmp_path / "reports.csv.recipe.json").read_text(encoding="utf-8")
    (tmp_path / "reports.parquet.recipe.json").write_text(recipe, encoding="utf-8")
    (tmp_path / "reports.parquet").write_bytes(b"PAR1" + bytes(64) + b"PAR1")
    for name in ("survey.toml", "model.skops", "model.pt", "data.csv"):
        (tmp_path / name).write_text("a\n1\n", encoding="utf-8")
    done = without([extra], IN_PYTHON.get(extra, RUN), *COMMANDS.get(extra, []), folder=tmp_path)
    assert done.returncode != 0
    said = done.stderr.strip().splitlines()[-1]
    match = SENTENCE.search(said)
    assert match is not None, done.stderr
    assert match[1] == extra
    if extra in COMMANDS:
        assert done.stderr.strip() == said


def test_an_error_that_no_extra_explains_is_left_as_it_is() -> None:
    code = "from deniable._extras import required\nsys.modules['json.tool'] = None\nrequired('json.tool')\n"
    assert "ModuleNotFoundError" in without([], code).stderr


def test_a_device_answers_without_any_extra() -> None:
    code = (
        "from deniable import Categories, Client, KaryRandomizedResponse\n"
        "asked = KaryRandomizedResponse(domain=Categories(['yes', 'no']), epsilon=1)\n"
        "print(len(Client(asked.recipe(), max_epsilon=1).randomize('yes')))\n"
    )
    done = without(list(EXTRAS), code)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0


PLAIN_COMMANDS: list[list[str]] = [
    ["--version"],
    ["mechanisms"],
    ["randomize", *QUESTION, "yes", "--output", "reports.csv"],
    ["audit", "--recipe", "reports.csv.recipe.json"],
    ["doctor"],
    ["completion", "bash"],
]
"""What the command can do without arrays, in this order."""


@pytest.mark.slow
def test_the_command_works_without_arrays(tmp_path: Path) -> None:
    for command in PLAIN_COMMANDS:
        done = without([extra for extra in EXTRAS if extra != "cli"], RUN, *command, folder=tmp_path)
        assert done.returncode == 0, (command, done.stderr)
