"""`deniable design --workload`: the best mechanism for linear questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.terminal import console, counted, print_json, table, waiting
from deniable.errors import NotSupported

if TYPE_CHECKING:
    from deniable.planning import WorkloadDesign


def design_questions(
    *,
    workload: str,
    size: int | None,
    epsilon: str,
    error: Any,
    prior: str,
    method: Any,
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
        rows.add_row("lower bound of every mechanism", "not worked out by the descent; --method convex has it")
    else:
        rows.add_row("lower bound of every mechanism", f"{design.lower_bound:.6g}")
        rows.add_row("gap", "none: the bound is 0" if design.gap is None else f"{100 * design.gap:.4f} %")
    rows.add_row("mean over the people", f"{design.exact.mean:.6g}")
    rows.add_row("worst value", f"{design.exact.worst:.6g}")
    out.print(rows)
    if design.mechanism is not None:
        certificate = design.mechanism.certificate()
        out.print(f"privacy {'holds' if certificate.holds else 'DOES NOT HOLD'}: {certificate.inequality}", soft_wrap=True)
        out.print(f"designed in {design.seconds:.1f} s; fingerprint {design.mechanism.fingerprint}")
