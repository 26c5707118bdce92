"""`deniable design --workload`: the best mechanism for linear questions."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.terminal import console, counted, print_json, table, waiting
from deniable.core import Epsilon, as_fraction
from deniable.errors import InvalidParameter, NotSupported

if TYPE_CHECKING:
    from deniable.core import Privacy
    from deniable.planning import WorkloadDesign


def design_questions(
    *,
    workload: str,
    size: int | None,
    epsilon: str,
    error: Any,
    prior: str,
    method: Any,
    privacy: str | None,
    chart: str | None,
    recipe_out: str | None,
    as_json: bool,
) -> None:
    """Design, write what was asked for, and print."""
    from deniable.planning import design_workload

    if chart is not None:
        from deniable.charts import check_ending

        check_ending(chart)
    if recipe_out is not None and method == "descent":
        raise NotSupported("--method descent is only for comparison and has no recipe; use --method convex")
    people: Any = "uniform" if prior in ("worst", "uniform") else [part.strip() for part in prior.split(",")]
    if privacy is not None:
        _unequal(workload, read_privacy(privacy, size, epsilon), people, error, method, chart, recipe_out, as_json)
        return
    with waiting("solving the convex program"):
        design = design_workload(workload, epsilon, size=size, error=error, prior=people, method=method)
    if recipe_out is not None:
        assert design.mechanism is not None
        Path(recipe_out).write_text(json.dumps(design.mechanism.recipe()) + "\n", encoding="utf-8")
    if chart is not None:
        from deniable.charts import save, workload_table_chart

        save(workload_table_chart(design), chart)
    if as_json:
        shown = {key: value for key, value in design.to_dict().items() if recipe_out is None or key != "recipe"}
        holds = None if design.mechanism is None else design.mechanism.certificate().holds
        print_json({**shown, "epsilon": epsilon, "holds": holds, "recipe_out": recipe_out, "chart": chart})
        return
    _print(design)
    for what, where in (("recipe", recipe_out), ("chart", chart)):
        if where is not None:
            click.echo(f"{what}: {where}")


def read_privacy(text: str, size: int | None, epsilon: str) -> Privacy:
    """A promise from the command line; levels and distances count in units of epsilon."""
    from deniable.core import Privacy

    if text.endswith(".csv"):
        return Privacy(_multiples(text, Epsilon(epsilon).exact))
    kind, _, rest = text.partition(":")
    listed = [part.strip() for part in rest.split(",")] if rest else []
    if kind == "metric" and (listed or size is not None):
        return Privacy.metric(listed or range(size or 0), epsilon)
    if kind == "sensitive" and size is not None and all(part.isdecimal() for part in listed):
        return Privacy.sensitive(size, [int(part) for part in listed], epsilon)
    raise InvalidParameter(
        "--privacy must be sensitive:0,3 or metric (both with --size), metric:0,1,2.5, or a .csv table of multiples of epsilon"
    )


def _multiples(path: str, unit: Fraction) -> list[list[Fraction | None]]:
    """A table of levels; an empty cell promises nothing."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
    levels: list[list[Fraction | None]] = []
    for x, row in enumerate(rows):
        numbers = [as_fraction(cell) for cell in row]
        if any(cell and number is None for cell, number in zip(row, numbers, strict=True)):
            raise InvalidParameter("--privacy: the table must hold numbers, or nothing where nothing is promised")
        levels.append([None if number is None or x == y else number * unit for y, number in enumerate(numbers)])
    return levels


def _unequal(
    workload: str, privacy: Privacy, people: Any, error: str, method: str, chart: str | None, recipe_out: str | None, as_json: bool
) -> None:
    from deniable.planning import design_unequal

    if error != "mean" or method != "convex" or chart is not None:
        raise NotSupported("--privacy goes with --error mean and --method convex, and has no chart")
    with waiting("solving the convex program"):
        design = design_unequal(workload, privacy, prior=people)
    certificate = design.mechanism.certificate()
    if recipe_out is not None:
        Path(recipe_out).write_text(json.dumps(design.mechanism.recipe()) + "\n", encoding="utf-8")
    if as_json:
        shown = {key: value for key, value in design.to_dict().items() if recipe_out is None or key != "recipe"}
        print_json({**shown, "holds": certificate.holds, "recipe_out": recipe_out})
        return
    out = console()
    out.print(f"[bold]{design.mechanism.name}[/bold]  best of {counted(design.rows, 'extremal row')}", soft_wrap=True)
    rows = table("", "mean over the people", numbers=["mean over the people"])
    rows.add_row("this mechanism", f"{design.error:.6g}")
    rows.add_row("no mechanism with this promise goes below", f"{design.lower_bound:.6g}")
    rows.add_row("gap", "none: the bound is 0" if design.gap is None else f"{100 * design.gap:.4f} %")
    out.print(rows)
    for line in privacy.words().splitlines():
        out.print(line, soft_wrap=True)
    out.print(f"privacy {'holds' if certificate.holds else 'DOES NOT HOLD'}: {certificate.inequality}", soft_wrap=True)
    if recipe_out is not None:
        click.echo(f"recipe: {recipe_out}")


def _print(design: WorkloadDesign) -> None:
    out, asked = console(), design.workload
    name = "table of the descent" if design.mechanism is None else design.mechanism.name
    out.print(f"[bold]{name}[/bold]  {design.method}; {design.channel.outputs} outputs", soft_wrap=True)
    out.print(
        f"{counted(asked.questions, 'question')} about {counted(asked.size, 'value')}; squared errors of all of them added up, "
        "for one person, beyond sampling: divide by the number of people",
        soft_wrap=True,
    )
    head = "mean over the people" if design.objective == "mean" else "worst value"
    rows = table("", head, numbers=[head])
    rows.add_row("this mechanism", f"{design.error:.6g}")
    if design.lower_bound is None:
        rows.add_row("no mechanism goes below", "not worked out by the descent; --method convex has it")
    else:
        rows.add_row("no mechanism goes below", f"{design.lower_bound:.6g}")
        rows.add_row("gap", "none: the bound is 0" if design.gap is None else f"{100 * design.gap:.4f} %")
    rows.add_row("mean over the people", f"{design.exact.mean:.6g}")
    rows.add_row("worst value", f"{design.exact.worst:.6g}")
    out.print(rows)
    if design.mechanism is not None:
        certificate = design.mechanism.certificate()
        out.print(f"privacy {'holds' if certificate.holds else 'DOES NOT HOLD'}: {certificate.inequality}", soft_wrap=True)
        out.print(f"designed in {design.seconds:.1f} s; fingerprint {design.mechanism.fingerprint}")
