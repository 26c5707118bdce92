"""`deniable estimate`: files of reports in, estimates with their uncertainty out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.answers import QUESTIONS, Answer, Wish, answer, usual_question
from deniable.cli.effect import given, refuse_unused
from deniable.cli.engine import engine_for, engine_options, engine_recipe, files_told, read_by_engine
from deniable.cli.recipes import recipe_of
from deniable.cli.terminal import block_chart, byte_progress, console, counted, print_json, table
from deniable.errors import InvalidParameter, Malformed

if TYPE_CHECKING:
    from deniable.batch import Accumulator, Intake
    from deniable.core import Mechanism

TARGETS = {"these-users": "these users", "population": "population"}
PROJECTIONS = ("simplex", "non-negative", "norm-sub", "norm-cut", "base-cut")
MOST_ROWS, COLUMNS = 60, 64
USED_BY = {
    "bins": ("distribution", "histogram"),
    "method": ("distribution", "quantiles"),
    "levels": ("quantiles",),
    "multiples_of": ("distribution", "quantiles"),
    "narrowest_peak": ("distribution", "quantiles"),
    "project": ("frequency", "histogram"),
    "share": ("heavy-hitters",),
    "together": ("frequency", "distribution", "histogram", "quantiles", "heavy-hitters"),
    "intervals": ("frequency", "mean", "variance", "distribution", "histogram", "quantiles", "heavy-hitters"),
}
"""The questions that an option is about."""
NO_TABLES = (".dn", ".jsonl", ".ndjson")


@click.command(short_help="Turn reports into estimates with intervals.")
@click.argument("reports", nargs=-1, required=True)
@click.option("--recipe", "-r", metavar="FILE", help="The recipe; by default REPORTS.recipe.json beside the reports.")
@click.option("--what", "-w", type=click.Choice(list(QUESTIONS)), help="What to estimate; by default what suits the domain.")
@click.option("--field", help="The field of a record to ask about.")
@click.option("--bins", type=click.IntRange(1), help="How many bins a distribution has.")
@click.option(
    "--method",
    type=click.Choice(["penalized", "ems", "em"]),
    default="penalized",
    show_default=True,
    help="penalized: as smooth as the reports support; ems: smoothed; em: maximum likelihood.",
)
@click.option("--levels", default=".25,.5,.75", show_default=True, help="Which quantiles, such as .1,.5,.9.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level of the intervals.")
@click.option(
    "--intervals",
    type=click.Choice(["auto", "wald", "exact"]),
    default="auto",
    show_default=True,
    help="auto also holds for few reports; wald is the normal approximation; exact is conservative.",
)
@click.option("--together", is_flag=True, help="Make all intervals hold at once at this level.")
@click.option("--multiples-of", type=float, help="Assume that all values are multiples of this number; the answer says so.")
@click.option(
    "--narrowest-peak",
    type=float,
    help="Assume a smooth density, nowhere steeper than one triangular peak of this width; the answer says so.",
)
@click.option(
    "--target",
    type=click.Choice(list(TARGETS)),
    default="these-users",
    show_default=True,
    help="Estimate the value of the people who answered, or of the population.",
)
@click.option(
    "--project",
    type=click.Choice(PROJECTIONS),
    help="Project shares onto possible ones; this adds bias, and the intervals stay as they were.",
)
@click.option("--share", type=float, default=0.0, help="Heavy hitters: report words with at least this share of people.")
@click.option("--column", default="output", show_default=True, help="The column of a table that holds the outputs.")
@click.option("--base", type=click.Choice(["16", "10"]), default="16", show_default=True, help="How outputs are written in text.")
@click.option("--chart", type=click.Path(dir_okay=False), help="Draw the estimates to a .png, .svg, .html or .json file.")
@click.option("--strict", is_flag=True, help="Stop at the first record or file that cannot be used.")
@engine_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def estimate(
    reports: tuple[str, ...],
    recipe: str | None,
    what: str | None,
    field: str | None,
    levels: str,
    target: str,
    chart: str | None,
    as_json: bool,
    column: str,
    base: str,
    strict: bool,
    engine: str | None,
    master: str | None,
    **wishes: Any,
) -> None:
    """Estimate from the reports in REPORTS, one or more files ('-' is standard input).

    Files hold wire batches (.dn), wire JSON by lines (.jsonl), or tables (.csv, .parquet, .arrow) with a column of outputs. They
    are read piece by piece, so they may be larger than the memory. Records that cannot be used are counted by reason and left out.

    With --engine, REPORTS are Parquet files, patterns in quotes ('reports/*.parquet'), directories, the same in S3
    ('s3://bucket/*.parquet', which needs no --engine), or, for spark, other addresses.
    """
    if master is not None and engine != "spark":
        raise click.UsageError("--master is the address of a Spark cluster; use it with --engine spark")
    if chart is not None:
        from deniable.charts import check_ending

        check_ending(chart)
    if len({Path(path).resolve() for path in reports}) < len(reports):
        raise click.UsageError("a file is given twice; its reports would count twice")
    wanted = _levels(levels)
    _check_table_options(reports)
    engine = engine_for(reports, engine)
    mechanism = recipe_of(reports, recipe) if engine is None else engine_recipe(reports, recipe)
    question = what or (usual_question(mechanism.domain) if field is None else None)
    if engine is None:
        intake = _read(mechanism, reports, column, int(base), strict, quiet=as_json)
    else:
        intake = read_by_engine(engine, master, mechanism, reports, column, int(base), strict, quiet=as_json)
    if intake.n == 0:
        raise Malformed("; ".join(["there are no reports to estimate from", *intake.summary()]))
    source = _part(intake.accumulator, field)
    asked = question or usual_question(source.mechanism.domain)
    _check_effect(asked, chart)
    record = None if field is None else intake.accumulator
    if record is not None and record.n != source.n and asked != "frequency" and given("target") and target == "these-users":
        raise click.UsageError("--target these-users has no effect here: who answered this field is a sample of all")
    estimated = answer(source, Wish(what=asked, target=TARGETS[target], levels=wanted, record=record, field=field, **wishes))
    if chart is not None:
        _draw(estimated, asked, source, chart)
    if as_json:
        print_json(_document(estimated, asked, source, intake, wishes["level"], field, chart, wishes["together"]))
    else:
        _print(estimated, asked, source, wishes["level"], chart, together=wishes["together"])
    if estimated.needed is not None:
        from deniable.estimators import too_few_words

        click.echo(f"deniable: {too_few_words(source.n, estimated.needed)}", err=True)
    for sentence in intake.summary():
        click.echo(f"deniable: {sentence}", err=True)


def _check_table_options(reports: tuple[str, ...]) -> None:
    """A column and how its numbers are written are those of tables."""
    if all(Path(path).suffix in NO_TABLES for path in reports):
        refuse_unused(f"on {' and '.join(NO_TABLES)} files", "it is for tables", "column", "base")


def _check_effect(what: str, chart: str | None) -> None:
    """An option that was given and has no effect is a mistake."""
    for option, questions in USED_BY.items():
        drawn = option == "bins" and what == "direction" and chart is not None
        if what not in questions and not drawn:
            refuse_unused(f"on --what {what}", f"use it with --what {' or '.join(questions)}", option)


def _levels(text: str) -> tuple[float, ...]:
    try:
        levels = tuple(float(part) for part in text.split(","))
    except ValueError:
        levels = ()
    if not levels or not all(0 < level < 1 for level in levels):
        raise InvalidParameter("levels must be numbers between 0 and 1 with commas between them, for example .25,.5,.75")
    return levels


def _read(mechanism: Mechanism, paths: tuple[str, ...], column: str, base: int, strict: bool, *, quiet: bool) -> Intake:
    from deniable.batch import read_reports, total_bytes

    with byte_progress("reading", total_bytes(paths), hidden=quiet) as progress:
        return read_reports(mechanism, paths, column=column, base=base, strict=strict, progress=progress)


def _part(source: Accumulator, field: str | None) -> Accumulator:
    """The sums of a record's field, or the sums themselves."""
    from deniable.batch import Joined
    from deniable.core import Record

    if not isinstance(source, Joined) or not isinstance(source.mechanism.domain, Record):
        if field is not None:
            raise click.UsageError(f"--field is for records; {source.mechanism.name} reports single values")
        return source
    if field is None or field not in source.parts:
        raise click.UsageError(f"--field must name one of the record's fields: {', '.join(source.parts)}")
    return source.parts[field]


def _document(
    estimated: Answer,
    what: str,
    source: Accumulator,
    intake: Intake,
    level: float,
    field: str | None,
    chart: str | None,
    together: bool,
) -> dict[str, Any]:
    return {
        "mechanism": source.mechanism.name,
        "epsilon": float(source.mechanism.privacy),
        "fingerprint": intake.mechanism.fingerprint,
        "field": field,
        "n": source.n,
        "refused": intake.refused.total(),
        "refused_by_reason": dict(intake.refused),
        "notes": intake.notes,
        **files_told(intake),
        "what": what,
        "estimates": estimated.rows,
        "target": estimated.target,
        "level": level,
        "method": estimated.method,
        "assumes": estimated.assumes,
        "together": together,
        "too_few": estimated.needed is not None,
        "reports_needed": estimated.needed,
        "chart": chart,
    }


def _draw(estimated: Answer, what: str, source: Accumulator, path: str) -> None:
    from deniable.charts import save

    mechanism = source.mechanism
    subtitle = f"{counted(source.n, 'report')} by {mechanism.name} at ε = {float(mechanism.privacy):g}, {estimated.target}"
    save(estimated.draw(f"Estimated {what}", subtitle), path)


def _print(estimated: Answer, what: str, source: Accumulator, level: float, chart: str | None, *, together: bool) -> None:
    from rich.markup import escape

    numbers = ("estimate", "low", "high", "standard error")
    mechanism = source.mechanism
    title = f"{what.capitalize()}: {counted(source.n, 'report')} by {mechanism.name} at epsilon {float(mechanism.privacy):g}"
    shown = table("", *numbers, title=title, numbers=numbers)
    for row in estimated.rows[:MOST_ROWS]:
        shown.add_row(escape(row["label"]), *(f"{row[key]:.6g}" for key in ("value", "low", "high", "standard_error")))
    out = console()
    if len(estimated.rows) > MOST_ROWS and "from" in estimated.rows[0]:
        _print_blocks(out, title, estimated.rows)
    else:
        out.print(shown)
        if len(estimated.rows) > MOST_ROWS:
            out.print(f"… and {len(estimated.rows) - MOST_ROWS} more; --json prints all of them")
    out.print(f"{100 * level:g} % intervals for {estimated.target}; {estimated.method}", soft_wrap=True, markup=False)
    every = "all intervals together hold" if together else "each interval on its own holds"
    assumed = f", if {estimated.assumes}" if estimated.assumes else ""
    out.print(f"In {100 * level:g} of 100 such surveys {every} the true value{assumed}.", soft_wrap=True, markup=False)
    if estimated.vague:
        out.print("Wide intervals are what the reports say: many different distributions would give them.", soft_wrap=True)
    if chart is not None:
        out.print(f"chart: {chart}", soft_wrap=True, markup=False)


def _print_blocks(out: Any, title: str, rows: list[dict[str, Any]]) -> None:
    """Many bins: columns of blocks, several bins in each."""
    together = -(-len(rows) // COLUMNS)
    columns = [sum(row["value"] for row in rows[i : i + together]) for i in range(0, len(rows), together)]
    out.print(title, style="bold", soft_wrap=True, markup=False)
    for line in block_chart(columns):
        out.print(f"  {line}", markup=False)
    left, right = f"{rows[0]['from']:.6g}", f"{rows[-1]['to']:.6g}"
    out.print(f"  {left}{' ' * max(1, len(columns) - len(left) - len(right))}{right}")
    out.print(f"{len(rows)} bins; --json prints all of them, --bins makes them fewer")
