"""Files and names: a mechanism is found because of where its file is and what the file is called."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from deniable.core import TASKS, Mechanism, built_in_names, mechanism_class, mechanisms_for, names
from deniable.core.domains.categories import Categories
from deniable.core.mechanisms import registry

FOLDER = Path(registry.__file__).parent
FILES = {path.stem.replace("_", "-"): path for path in FOLDER.glob("*/[!_]*.py")}


def test_every_file_is_a_name_and_every_name_a_file() -> None:
    assert sorted(built_in_names()) == sorted(FILES)
    assert names()[: len(FILES)] == built_in_names()
    assert {path.parent.name for path in FILES.values()} == set(registry.FAMILIES)


@pytest.mark.parametrize("name", built_in_names())
def test_a_file_holds_the_one_mechanism_it_is_named_for(name: str) -> None:
    path = FILES[name]
    module = import_module(f"deniable.core.mechanisms.{path.parent.name}.{path.stem}")
    own = [kind for kind in vars(module).values() if isinstance(kind, type) and kind.__module__ == module.__name__]
    (named,) = [kind for kind in own if issubclass(kind, Mechanism) and kind.__dict__.get("name") == name]
    assert named is mechanism_class(name)
    assert named.family == path.parent.name
    # Another class may have a name only if it is no mechanism that people report by.
    unreported = {"rs-fd-field"}
    assert {kind.__dict__.get("name", name) for kind in own if issubclass(kind, Mechanism)} <= {name, *unreported}


@pytest.mark.parametrize("name", built_in_names())
def test_tags_are_words_that_somebody_reads(name: str) -> None:
    kind = mechanism_class(name)
    assert set(kind.tasks) <= set(TASKS)
    assert len(set(kind.tasks)) == len(kind.tasks)


def test_every_task_is_served() -> None:
    served = {task for name in built_in_names() for task in mechanism_class(name).tasks}
    assert served == set(TASKS)
    assert [kind.name for kind in mechanisms_for("test", Categories(3))] == ["hadamard", "k-rr"]


def test_asking_for_one_mechanism_imports_no_other() -> None:
    code = (
        "import sys; from deniable.core import mechanism_class; mechanism_class('k-rr');"
        "loaded = [n for n in sys.modules if n.startswith('deniable.core.mechanisms.') and n.count('.') == 4];"
        "print(loaded, 'importlib.metadata' in sys.modules)"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout
    assert printed.strip() == "['deniable.core.mechanisms.categorical.k_rr'] False"
