"""`deniable randomize`: private values in, private reports out."""

from __future__ import annotations

import re
import sys
from typing import Any

import click

from deniable.cli.choice import chosen_mechanism, mechanism_options
from deniable.cli.recipes import recipe_beside, write_recipe
from deniable.cli.report_files import FORMATS, write_reports
from deniable.cli.rows import Row, read_rows
from deniable.cli.terminal import counted, print_json
from deniable.core import Categories, Domain, Interval, Mechanism
from deniable.errors import OutOfDomain
from deniable.surveys import parse_value

BATCH = 20_000
"""From so many values on, compiled kernels pay for their start."""
CHUNK = 1 << 16
MOST_ROWS_NAMED = 20
STANDARD_OUTPUT = ("-", "/dev/stdout")
_NEGATIVE = re.compile(r"-\.?\d")
_MINUS = "\N{MINUS SIGN}"


class TakesNegativeNumbers(click.Command):
    """A command whose values may begin with a minus: `-5` is a number, `--epsilno` is still a typo."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Hide the minus of numbers from the option parser."""
        return super().parse_args(ctx, [_MINUS + arg[1:] if _NEGATIVE.match(arg) else arg for arg in args])


@click.command(cls=TakesNegativeNumbers, short_help="Turn private values into private reports.")
@mechanism_options
@click.argument("values", nargs=-1)
@click.option("--input", "-i", "source", metavar="FILE", help="Read values from a CSV file ('-' is standard input).")
@click.option("--column", "-c", multiple=True, help="The column that holds the values; twice for places.")
@click.option("--output", "-o", metavar="FILE", help="Write the reports here instead of to standard output.")
@click.option("--recipe-out", metavar="FILE", help="Where the recipe goes; by default OUTPUT.recipe.json beside the reports.")
@click.option("--format", "kind", type=click.Choice(FORMATS), default="csv", show_default=True, help="How reports are written.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document about the run.")
def randomize(
    name: str,
    epsilon: str,
    domain: str | None,
    param: tuple[str, ...],
    values: tuple[str, ...],
    source: str | None,
    column: tuple[str, ...],
    output: str | None,
    recipe_out: str | None,
    kind: str,
    as_json: bool,
) -> None:
    """Randomize VALUES, or a column of a CSV file, with the mechanism NAME.

    Rows that do not belong to the domain are left out and named by number, never by value. Others on this
    machine may see command lines: give real data by --input. With --output, the public recipe is written beside the reports, so
    that `deniable estimate` can read them.
    """
    if bool(values) == (source is not None):
        raise click.UsageError("give either values or --input FILE")
    if column and source is None:
        raise click.UsageError("--column needs --input FILE")
    mechanism = chosen_mechanism(name, epsilon, domain, param)
    if source is None:
        rows = [Row(place, text.replace(_MINUS, "-", 1)) for place, text in enumerate(values, start=1)]
    else:
        rows = read_rows(mechanism.domain, source, column)
    recipe_path = recipe_out or (None if output is None else str(recipe_beside(output)))
    if recipe_path is not None:
        write_recipe(mechanism, recipe_path)
    outputs, refused = randomized(mechanism, rows, progress=not as_json)
    if as_json:
        if output is not None:
            write_reports(mechanism, outputs, output, kind)
        print_json({**_document(mechanism, outputs, refused, output), "recipe_file": recipe_path})
    else:
        write_reports(mechanism, outputs, output, kind)
        if output is not None and output not in STANDARD_OUTPUT:
            click.echo(f"{counted(len(outputs), 'report')}: {output}, with the recipe {recipe_path}")
    if refused:
        click.echo(f"deniable: {_refusal(mechanism, refused, len(rows))}", err=True)
        click.get_current_context().exit(1)


def randomized(mechanism: Mechanism, rows: list[Row], *, progress: bool = False) -> tuple[list[int], list[int]]:
    """The outputs of all rows that belong to the domain, and the numbers of those that do not."""
    values: list[Any] = []
    numbers: list[int] = []
    refused: list[int] = []
    for row in rows:
        try:
            values.append(row.value if row.parsed else parse_value(mechanism.domain, row.value))
            numbers.append(row.number)
        except OutOfDomain:
            refused.append(row.number)
    if len(values) < BATCH:
        outputs = []
        for number, value in zip(numbers, values, strict=True):
            try:
                outputs.append(mechanism.randomize(value).output)
            except OutOfDomain:
                refused.append(number)
    else:
        outputs, late = _in_chunks(mechanism, values, numbers, progress)
        refused += late
    return outputs, sorted(refused)


def _in_chunks(mechanism: Mechanism, values: list[Any], numbers: list[int], progress: bool) -> tuple[list[int], list[int]]:
    """By the batch kernels; a chunk with a bad value is looked through one by one."""
    from deniable.batch import randomize_many

    outputs: list[int] = []
    refused: list[int] = []
    with click.progressbar(
        range(0, len(values), CHUNK), label="randomizing", file=sys.stderr, hidden=not (progress and sys.stderr.isatty())
    ) as starts:
        for start in starts:
            chunk = values[start : start + CHUNK]
            try:
                outputs += randomize_many(mechanism, chunk).ints()
                continue
            except OutOfDomain:
                pass
            good = [_belongs(mechanism, value) for value in chunk]
            refused += [number for number, fine in zip(numbers[start : start + CHUNK], good, strict=True) if not fine]
            kept = [value for value, fine in zip(chunk, good, strict=True) if fine]
            outputs += randomize_many(mechanism, kept).ints() if kept else []
    return outputs, refused


def _belongs(mechanism: Mechanism, value: Any) -> bool:
    try:
        mechanism.encode(value)
    except OutOfDomain:
        return False
    return True


def _document(mechanism: Mechanism, outputs: list[int], refused: list[int], path: str | None) -> dict[str, Any]:
    document = {
        "name": mechanism.name,
        "epsilon": float(mechanism.privacy),
        "fingerprint": mechanism.fingerprint,
        "recipe": mechanism.recipe(),
        "count": len(outputs),
        "refused": len(refused),
        "refused_rows": refused,
        "output": path,
    }
    if path is None:
        document["reports"] = [{"output": format(output, "x"), "value": mechanism.decode(output)} for output in outputs]
    return document


_REMEDY: dict[type[Domain], str] = {
    Interval: "Every value must be a number in it: drop missing ones, and clip the others first or choose a wider domain"
}


def _refusal(mechanism: Mechanism, refused: list[int], count: int) -> str:
    shown = ", ".join(str(number) for number in refused[:MOST_ROWS_NAMED])
    more = f" and {len(refused) - MOST_ROWS_NAMED:,} more" if len(refused) > MOST_ROWS_NAMED else ""
    rows = f"row{'s' if len(refused) > 1 else ''} {shown}{more}"
    verbs = ("does not belong", "was") if len(refused) == 1 else ("do not belong", "were")
    named = isinstance(mechanism.domain, Categories) and mechanism.domain.labels is not None
    remedy = (
        mechanism.domain.remedy
        if named
        else _REMEDY.get(type(mechanism.domain), "Clip such values first, or choose a wider domain")
    )
    first = f"{len(refused):,} of {counted(count, 'value')} {verbs[0]} to {mechanism.domain!r}"
    return f"{first} and {verbs[1]} left out: {rows}. {remedy}"
