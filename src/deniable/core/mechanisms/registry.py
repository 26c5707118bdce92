"""Every mechanism by its name: those of this package, those of installed packages, those registered by hand.

A file `family/my_name.py` beside this one holds the mechanism `my-name`; a file that begins with an underscore holds none.
Nothing is listed, and nothing is imported before it is asked for. Other packages bring theirs by an entry point in the group
`deniable.mechanisms`, named as the mechanism is. A name, once released, never changes its meaning.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from deniable.core.mechanisms.base import TASKS, Mechanism
from deniable.errors import InvalidParameter, NotSupported, UnknownMechanism

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from deniable.core.domains.base import Domain

FAMILIES = ("binary", "categorical", "numeric", "circular", "records", "spatial", "words", "sets", "vectors")
GROUP = "deniable.mechanisms"
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

Kind = TypeVar("Kind", bound=type[Mechanism])
_registered: dict[str, type[Mechanism]] = {}

FIELDS = {"mechanism", "domain", "epsilon", "parameters"}
"""The fields of a recipe."""
MOST_NESTED = 8
"""Recipes inside recipes: a record of trajectories of steps needs three."""
MOST_RECIPES = 1024
"""Recipes in a recipe, side by side and inside one another: more of them keep a device busy for seconds."""


@cache
def _modules() -> dict[str, str]:
    """The module of every mechanism of this package, by name."""
    here = os.path.dirname(__file__)
    files = ((family, file) for family in FAMILIES for file in sorted(os.listdir(f"{here}/{family}")))
    return {
        file[:-3].replace("_", "-"): f"deniable.core.mechanisms.{family}.{file[:-3]}"
        for family, file in files
        if file.endswith(".py") and not file.startswith("_")
    }


@cache
def _installed() -> dict[str, EntryPoint]:
    """The mechanisms of installed packages; looked for only when a name is not one of ours."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP)}


def built_in_names() -> list[str]:
    """The names of this package's own mechanisms, in the order of the families."""
    return list(_modules())


def names() -> list[str]:
    """All names: this package's own in the order of the families, then those of installed packages and registered ones."""
    return list(dict.fromkeys([*_modules(), *_installed(), *_registered]))


def register(kind: Kind) -> Kind:
    """Make a mechanism known by its name, from here to the end of the process; usable as a decorator.

    A package does the same for everyone who installs it by an entry point (docs/adding-a-mechanism.md).
    """
    _check(kind)
    known = _registered.get(kind.name)
    if known is not None and (known.__module__, known.__qualname__) != (kind.__module__, kind.__qualname__):
        raise InvalidParameter(f"name: {kind.name!r} is already registered, by {known.__module__}.{known.__qualname__}")
    _registered[kind.name] = kind
    return kind


def _check(kind: type[Mechanism], point: str | None = None) -> None:
    if not (isinstance(kind, type) and issubclass(kind, Mechanism) and is_dataclass(kind)):
        raise InvalidParameter("a mechanism is a frozen dataclass derived from deniable.Mechanism")
    name = kind.name
    if name != (point or name) or not NAME.fullmatch(name):
        raise InvalidParameter(f"name: {kind.name!r} must be lower-case words joined by hyphens, the same as its entry point")
    if name in _modules():
        raise InvalidParameter(f"name: {name!r} is a mechanism of deniable itself; choose another name")
    unknown = [task for task in kind.tasks if task not in TASKS]
    if unknown:
        raise InvalidParameter(f"tasks: {unknown[0]!r} is not one of {', '.join(TASKS)}")


def mechanism_class(name: str) -> type[Mechanism]:
    """The class registered under a name."""
    if name in _modules():
        members = vars(importlib.import_module(_modules()[name])).values()
        return next(kind for kind in members if isinstance(kind, type) and kind.__dict__.get("name") == name)
    if name in _registered:
        return _registered[name]
    if name in _installed():
        return _loaded(name)
    import difflib  # here, because only a misspelt name needs it

    near = difflib.get_close_matches(str(name), names(), n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else "`deniable mechanisms` lists them all"
    raise UnknownMechanism(f"no mechanism is called {str(name)[:60]!r}; {hint}")


@cache
def _loaded(name: str) -> type[Mechanism]:
    point = _installed()[name]
    try:
        kind: type[Mechanism] = point.load()
        _check(kind, name)
    except (ImportError, AttributeError, InvalidParameter) as error:
        raise NotSupported(f"the installed package that brings {name!r} ({point.value}) does not work: {error}") from error
    return kind


def make_mechanism(name: str, **recipe: Any) -> Any:
    """A mechanism by its name: `make_mechanism("k-rr", domain=Categories(5), epsilon=1)`."""
    return mechanism_class(name)(**recipe)


def all_mechanisms() -> list[type[Mechanism]]:
    """Every class that has a name."""
    return [mechanism_class(name) for name in names()]


def mechanisms_for(task: str, domain: Domain) -> list[type[Mechanism]]:
    """Every mechanism that says it serves this task and takes this domain.

    >>> from deniable.core import Binary
    >>> [kind.name for kind in mechanisms_for("frequency", Binary())]
    ['randomized-response']
    """
    return [kind for kind in all_mechanisms() if task in kind.tasks and isinstance(domain, kind.domain_types)]


def mechanism_from_recipe(recipe: dict[str, Any], *, allow_large: bool = False) -> Mechanism:
    """Rebuild a mechanism from its canonical JSON form, checking every part of it.

    Levels above 20 are refused, as they are in your own code: a recipe cannot allow them for itself. Pass
    `allow_large` to read one that nobody will answer by, for example to audit it or to estimate from old reports.
    """
    return _rebuilt(recipe, allow_large, MOST_NESTED, iter(range(MOST_RECIPES)))


def _rebuilt(recipe: object, allow_large: bool, levels: int, left: Iterator[int]) -> Mechanism:
    if not isinstance(recipe, dict) or set(recipe) != FIELDS:
        raise InvalidParameter("a recipe has exactly the fields mechanism, domain, epsilon and parameters")
    if not isinstance(recipe["mechanism"], str) or not isinstance(recipe["parameters"], dict):
        raise InvalidParameter("a recipe's mechanism is a name and its parameters are an object")
    if levels == 0:
        raise InvalidParameter(f"a recipe holds at most {MOST_NESTED} recipes inside one another")
    if next(left, None) is None:
        raise InvalidParameter(f"a recipe holds at most {MOST_RECIPES} recipes: ask fewer questions at once")
    kind = mechanism_class(recipe["mechanism"])
    parameters = {name: _inner(value, allow_large, levels - 1, left) for name, value in recipe["parameters"].items()}
    try:
        return kind.from_recipe({**recipe, "parameters": parameters}, allow_large=allow_large)
    except (TypeError, KeyError, AttributeError, ArithmeticError):
        raise InvalidParameter(f"the recipe of {recipe['mechanism']} has missing, unknown or ill-typed parameters") from None


def _inner(value: Any, allow_large: bool, levels: int, left: Iterator[int]) -> Any:
    """Recipes among the parameters, or in an object of them, as the mechanisms they describe."""
    if not isinstance(value, dict):
        return value
    if set(value) == FIELDS:
        return _rebuilt(value, allow_large, levels, left)
    return {
        name: _rebuilt(item, allow_large, levels, left) if isinstance(item, dict) and set(item) == FIELDS else item
        for name, item in value.items()
    }
