"""The mechanism a command is about: name, epsilon, domain and parameters as options."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, TypeVar

import click

from deniable.core import Domain, Epsilon, Mechanism, mechanism_class, mechanism_from_recipe, parse_json
from deniable.errors import InvalidParameter
from deniable.surveys import FORMS, parse_domain

EXAMPLES = (
    ("Categories", "categories:a,b,c"),
    ("Points", "points:0,0;3,4"),
    ("Circle", "circle"),
    ("Rectangle", "rectangle:0,1,0,1"),
)
Command = TypeVar("Command", bound=Callable[..., Any])


def mechanism_options(command: Command) -> Command:
    """NAME, --epsilon, --domain and --param."""
    decorators = [
        click.argument("name"),
        click.option("--epsilon", "-e", required=True, help="Privacy level: a number or a ratio such as 1/3."),
        click.option("--domain", "-d", help=f"What a value may be: {FORMS}."),
        click.option("--param", "-p", multiple=True, metavar="KEY=VALUE", help="A parameter of the mechanism; may be repeated."),
    ]
    for decorate in reversed(decorators):
        command = decorate(command)
    return command


def chosen_mechanism(name: str, epsilon: str, domain: str | None, param: tuple[str, ...]) -> Mechanism:
    """Build what the options describe, exactly as a recipe would."""
    kind = mechanism_class(name)
    level = Epsilon(epsilon)
    parameters = dict(_parameter(kind, text) for text in param)
    _check_complete(kind, parameters)
    space = parse_domain(domain) if domain is not None else _usual_domain(kind)
    return mechanism_from_recipe(
        {"mechanism": name, "domain": space.recipe(), "epsilon": str(level.exact), "parameters": parameters}
    )


def _usual_domain(kind: type[Mechanism]) -> Domain:
    field = next(field for field in fields(kind) if field.name == "domain")
    if isinstance(field.default, Domain):
        return field.default
    if field.default_factory is not MISSING:
        domain: Domain = field.default_factory()
        return domain
    form = next((form for name, form in EXAMPLES if name in {one.__name__ for one in kind.domain_types}), "interval:0,1")
    raise InvalidParameter(f"{kind.name} has no usual domain; give one with --domain, for example --domain '{form}'")


def _check_complete(kind: type[Mechanism], parameters: dict[str, Any]) -> None:
    """Name the parameters that have no default and were not given."""
    needed = [field.name for field in fields(kind) if field.init and field.default is field.default_factory is MISSING]
    missing = [name for name in needed if name not in (*parameters, "domain", "epsilon")]
    if missing:
        designed = ": `deniable design` finds such parameters and writes the recipe" if kind.name.startswith("designed") else ""
        raise InvalidParameter(f"{kind.name} needs " + " and ".join(f"--param {name}=…" for name in missing) + designed)


def _parameter(kind: type[Mechanism], text: str) -> tuple[str, Any]:
    """One KEY=VALUE. Whole numbers and JSON are read; other numbers stay text, which is exact."""
    key, equals, value = text.partition("=")
    key = key.strip().replace("-", "_")
    known = [field.name for field in fields(kind) if field.init and field.name not in ("domain", "epsilon")]
    if not equals:
        raise InvalidParameter(f"--param needs KEY=VALUE, got {text[:60]!r}")
    if key not in known:
        near = difflib.get_close_matches(key, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(known) or 'none'}"
        raise InvalidParameter(f"{kind.name} has no parameter {key[:60]!r}; {hint}")
    value = value.strip()
    if value in ("true", "false", "null") or value[:1] in ("[", "{", '"'):
        return key, parse_json(value)
    try:
        return key, int(value)
    except ValueError:
        return key, value
