"""Recipes in files, beside the reports that were drawn by them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from deniable.core import Mechanism, mechanism_from_recipe, parse_json
from deniable.errors import InvalidParameter, Malformed

ENDING = ".recipe.json"
LARGEST = 1 << 24


def recipe_beside(path: str) -> Path:
    """Where the recipe of a file of reports stands: `reports.csv.recipe.json` beside `reports.csv`."""
    return Path(path + ENDING)


def write_recipe(mechanism: Mechanism, path: str | Path) -> None:
    """The public recipe and its fingerprint."""
    document = {"fingerprint": mechanism.fingerprint, "recipe": mechanism.recipe()}
    Path(path).write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_recipe(path: str | Path) -> Mechanism:
    """The mechanism of a recipe file: the recipe alone, or a document with a field `recipe`."""
    with open(path, "rb") as file:
        data = file.read(LARGEST + 1)
    name = Path(path).name
    if len(data) > LARGEST:
        raise Malformed(f"{name} is too large to be a recipe")
    try:
        document = parse_json(data)
    except Malformed as error:
        raise Malformed(f"{name} is not a recipe: {error}; `deniable randomize --output` writes one") from None
    recipe = document["recipe"] if isinstance(document, dict) and "recipe" in document else document
    mechanism = mechanism_from_recipe(recipe, allow_large=True)
    stated = document.get("fingerprint", mechanism.fingerprint)
    if stated != mechanism.fingerprint:
        raise InvalidParameter(f"{name} states another fingerprint than its recipe has: it was changed, or made by another release")
    return mechanism


def _beside(paths: Sequence[str]) -> str:
    """Where it was looked for."""
    names = [recipe_beside(path).name for path in paths if path != "-"]
    return f", and there is no {names[0]} beside them" if names else ""


def recipe_of(paths: Sequence[str], given: str | None) -> Mechanism:
    """The recipe that was named, or the one that stands beside the reports."""
    if given is not None:
        return read_recipe(given)
    for path in paths:
        if path != "-" and not Path(path).exists():
            raise click.UsageError(f"there is no file {path[-60:]!r}")
    beside = [recipe_beside(path) for path in paths if path != "-" and recipe_beside(path).exists()]
    if not beside:
        raise click.UsageError(
            f"the recipe of the reports is missing{_beside(paths)}: give it by --recipe FILE "
            "(`deniable randomize --output` writes it)"
        )
    mechanisms = [read_recipe(path) for path in beside]
    if len({mechanism.fingerprint for mechanism in mechanisms}) > 1:
        raise click.UsageError(
            "the files were drawn by different recipes; estimate from each of them on its own, or name one by --recipe"
        )
    return mechanisms[0]
