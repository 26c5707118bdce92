"""`deniable compare`: a figure and a table of several mechanisms' errors over epsilon."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.cli.terminal import console, print_json, table
from deniable.core import as_fraction
from deniable.errors import InvalidParameter
from deniable.surveys import parse_domain

if TYPE_CHECKING:
    from fractions import Fraction

    from deniable.planning import Comparison

STEPS = 16
MOST_LEVELS = 200
TABLES = (".csv", ".md", ".tex")
METRICS = ("mse", "rmse", "mae", "worst-mse", "worst-rmse", "worst-mae")


@click.command(short_help="Compare mechanisms over epsilon: one figure, one table.")
@click.argument("mechanisms", nargs=-1, required=True)
@click.option(
    "--epsilon",
    "-e",
    default="0.5:8",
    show_default=True,
    help=f"LOW:HIGH in {STEPS} steps, LOW:HIGH:STEP, or a list such as 1,2,4.",
)
@click.option(
    "--task", "-t", type=click.Choice(["frequency", "mean", "value"]), default="mean", show_default=True, help="What is estimated."
)
@click.option("--metric", type=click.Choice(METRICS), default="mse", show_default=True, help="How errors are measured.")
@click.option("--domain", "-d", help="What a value may be; interval:0,1 or categories:20 if left out.")
@click.option("--users", "-n", type=click.IntRange(1), default=10_000, show_default=True, help="How many people answer.")
@click.option("--chart", type=click.Path(dir_okay=False), help="Draw the figure to a .png, .svg, .html or .json file.")
@click.option("--table", "table_file", type=click.Path(dir_okay=False), help="Write the table to a .csv, .md or .tex file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def compare_command(
    mechanisms: tuple[str, ...],
    epsilon: str,
    task: str,
    metric: str,
    domain: str | None,
    users: int,
    chart: str | None,
    table_file: str | None,
    as_json: bool,
) -> None:
    """Compare the errors of several MECHANISMS over epsilon: computed from their weights, not simulated.

    Mechanisms that other packages add are compared by name, too.

    \b
    deniable compare duchi pm hm laplace --epsilon 0.5:8 --task mean --metric mse --chart errors.svg --table errors.tex
    deniable compare k-rr oue olh subset --task frequency --domain categories:100
    """
    from deniable.planning import compare

    if table_file is not None and Path(table_file).suffix not in TABLES:
        raise InvalidParameter(f"a table file must end in {', '.join(TABLES)}, got {table_file[-40:]!r}")
    if chart is not None:
        from deniable.charts import check_ending

        check_ending(chart)
    space = None if domain is None else parse_domain(domain)
    comparison = compare(mechanisms, parse_levels(epsilon), task=task, metric=metric, domain=space, users=users)
    if chart is not None:
        from deniable.charts import save

        save(comparison.plot(), chart)
    if table_file is not None:
        Path(table_file).write_text(written(comparison, Path(table_file).suffix), encoding="utf-8")
    if as_json:
        print_json({**comparison.to_dict(), "chart": chart, "table": table_file})
        return
    _print(comparison)
    for what, path in (("chart", chart), ("table", table_file)):
        if path is not None:
            click.echo(f"{what}: {path}")


def parse_levels(text: str) -> list[Fraction]:
    """Levels of epsilon: LOW:HIGH in equal steps, LOW:HIGH:STEP, or a list.

    >>> [str(level) for level in parse_levels("1:2:0.5")], len(parse_levels("0.5:8")), str(parse_levels("0.5:8")[1])
    (['1', '3/2', '2'], 16, '1')
    """
    parts = [as_fraction(part) for part in text.split(":" if ":" in text else ",")]
    numbers = [part for part in parts if part is not None and part > 0]
    if len(numbers) != len(parts) or (":" in text and len(parts) > 3):
        raise InvalidParameter(
            f"--epsilon must be LOW:HIGH, LOW:HIGH:STEP or a list such as 1,2,4, all positive; got {text[:60]!r}"
        )
    if ":" not in text:
        return numbers
    low, high = numbers[:2]
    step = numbers[2] if len(numbers) == 3 else (high - low) / (STEPS - 1)
    if high <= low or (high - low) / step > MOST_LEVELS:
        raise InvalidParameter(f"--epsilon: HIGH must be above LOW, in at most {MOST_LEVELS} steps; got {text[:60]!r}")
    return [low + step * i for i in range(int((high - low) / step) + 1)]


def written(comparison: Comparison, ending: str) -> str:
    """The table as CSV, Markdown or LaTeX; in the last two the least error of a row is bold."""
    names = list(comparison.errors)
    if ending == ".csv":
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(["epsilon", *names])
        rows.writerows(
            [float(level), *(comparison.errors[name][i] for name in names)] for i, level in enumerate(comparison.epsilons)
        )
        return text.getvalue()
    bold, lines = ("\\textbf{{{}}}", []) if ending == ".tex" else ("**{}**", [])
    for i, level in enumerate(comparison.epsilons):
        errors = [comparison.errors[name][i] for name in names]
        cells = [bold.format(f"{error:.4g}") if error == min(errors) else f"{error:.4g}" for error in errors]
        lines.append([f"{float(level):g}", *cells])
    if ending == ".md":
        head = ["| ε | " + " | ".join(names) + " |", "|" + "---|" * (len(names) + 1)]
        return "\n".join([*head, *("| " + " | ".join(line) + " |" for line in lines)]) + "\n"
    body = [" & ".join(line) + r" \\" for line in lines]
    head = [f"% {comparison.quantity} on {comparison.domain!r}", rf"\begin{{tabular}}{{r{'r' * len(names)}}}", r"\hline"]
    return "\n".join([*head, r"$\varepsilon$ & " + " & ".join(names) + r" \\ \hline", *body, r"\hline", r"\end{tabular}"]) + "\n"


def _print(comparison: Comparison) -> None:
    out, names = console(), list(comparison.errors)
    out.print(f"{comparison.quantity} on {comparison.domain!r}", markup=False, soft_wrap=True)
    rows = table("epsilon", *names, numbers=["epsilon", *names])
    for i, level in enumerate(comparison.epsilons):
        errors = [comparison.errors[name][i] for name in names]
        rows.add_row(
            f"{float(level):g}", *(f"[bold]{error:.4g}[/bold]" if error == min(errors) else f"{error:.4g}" for error in errors)
        )
    out.print(rows)
    for one in comparison.left_out:
        out.print(f"left out: {one.mechanism}: {one.reason}", markup=False, soft_wrap=True)
