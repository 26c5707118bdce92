"""Options and reading of `deniable estimate --engine`: Parquet files by the processes of one machine, or by a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from deniable._extras import required
from deniable.cli.recipes import read_recipe, recipe_beside
from deniable.cli.terminal import byte_progress
from deniable.errors import WrongRecipe

if TYPE_CHECKING:
    from deniable.batch import Folded
    from deniable.core import Mechanism

Command = TypeVar("Command", bound=Callable[..., Any])


def engine_options(command: Command) -> Command:
    """--engine and --master."""
    choice = click.Choice(["local", "spark"])
    master = click.option("--master", metavar="URL", help="The Spark cluster; by default all cores of this machine, local[*].")
    engine = click.option("--engine", type=choice, help="Read Parquet at scale: by processes of this machine, or by Spark.")
    return engine(master(command))


def engine_for(paths: tuple[str, ...], chosen: str | None) -> str | None:
    """The engine that was named; addresses in S3 are read by the local one if none was."""
    return "local" if chosen is None and any(path[:5].lower() == "s3://" for path in paths) else chosen


def engine_recipe(paths: tuple[str, ...], given: str | None) -> Mechanism:
    """The recipe that was named, the one beside the files or their directory, or the one in a collector's export."""
    if given is not None:
        return read_recipe(given)
    required("pyarrow")  # before any work is done
    from deniable.batch import exported_mechanism, sizes_of

    files = tuple(sizes_of(paths))
    named = [path.rstrip("/") for path in (*paths, *files)]
    mechanisms: dict[str, Mechanism] = {name: read_recipe(recipe_beside(name)) for name in named if recipe_beside(name).exists()}
    if not mechanisms:
        mechanisms = exported_mechanism(files)
    if not mechanisms:
        raise click.UsageError("give the recipe of the reports by --recipe FILE, or put it beside them as REPORTS.recipe.json")
    first, mechanism = next(iter(mechanisms.items()))
    for name, other in mechanisms.items():
        if other.fingerprint != mechanism.fingerprint:
            raise WrongRecipe(f"{name} was drawn by another recipe than {first}; estimate from each recipe on its own")
    return mechanism


def read_by_engine(
    name: str,
    master: str | None,
    mechanism: Mechanism,
    paths: tuple[str, ...],
    column: str,
    base: int,
    strict: bool,
    *,
    quiet: bool,
) -> Folded:
    """The sums of all files, with a bar where someone is looking."""
    required("pyarrow")  # before any work is done
    from deniable.batch import Source, engine_by_name

    source = Source(mechanism, paths, column, base, strict)
    engine = engine_by_name(name, master)
    total = None if source.remote else sum(source.sizes.values())
    with byte_progress("reading", total, hidden=quiet) as progress:
        return engine.read(source, progress)


def files_told(intake: Any) -> dict[str, Any]:
    """For the JSON document: how many files an engine found, and which of them are broken."""
    return {"files": intake.files, "broken_files": intake.broken} if hasattr(intake, "broken") else {}
