"""`deniable show`: one mechanism, its certificate, its error and its density."""

from __future__ import annotations

import math
from typing import Any

import click

from deniable.cli.choice import chosen_mechanism, mechanism_options
from deniable.cli.mechanisms import summary
from deniable.cli.references import cited
from deniable.cli.terminal import block_chart, console, print_json, table
from deniable.core import Binary, Categories, Circle, Interval, Mechanism, meaning, mechanism_class
from deniable.errors import NotSupported

LOSSES = ("absolute", "squared")
COLUMNS = 64


@click.command(short_help="Show one mechanism: its promise, its error, its picture.")
@mechanism_options
@click.option(
    "--chart", type=click.Path(dir_okay=False), help="Also draw what reports look like to a .png, .svg, .html or .json file."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(name: str, epsilon: str, domain: str | None, param: tuple[str, ...], chart: str | None, as_json: bool) -> None:
    """Show what NAME promises at a privacy level, what it costs in accuracy, and why the promise holds."""
    mechanism = chosen_mechanism(name, epsilon, domain, param)
    if chart is not None:
        _draw(mechanism, chart)
    facts = describe(mechanism)
    if as_json:
        print_json({**facts, "chart": chart})
    else:
        _print(mechanism, facts)
        if chart is not None:
            click.echo(f"chart: {chart}")


def describe(mechanism: Mechanism) -> dict[str, Any]:
    """Everything `show` knows, as one JSON document."""
    certificate = mechanism.certificate()
    return {
        "name": mechanism.name,
        "family": mechanism.family,
        "summary": summary(type(mechanism)),
        "source": mechanism.source,
        "references": [work.as_json() for work in cited(mechanism.source)],
        "domain": repr(mechanism.domain),
        "epsilon": float(mechanism.privacy),
        "epsilon_exact": certificate.epsilon_exact,
        "holds": certificate.holds,
        "meaning": meaning(mechanism.privacy, mechanism.lifetime),
        "worst_case": _worst(mechanism),
        "average": _average(mechanism),
        "errors": _errors(mechanism),
        "frequency": _frequency(mechanism),
        "published": _published(mechanism),
        "certificate": certificate.to_dict(),
        "recipe": mechanism.recipe(),
        "fingerprint": mechanism.fingerprint,
    }


def _worst(mechanism: Mechanism) -> dict[str, Any]:
    from deniable.estimators import worst_case

    try:
        worst = {loss: worst_case(mechanism, loss) for loss in LOSSES}
    except NotSupported:
        return dict.fromkeys((*LOSSES, "at"))
    return {**{loss: at.error for loss, at in worst.items()}, "at": {loss: float(at.at) for loss, at in worst.items()}}


def _average(mechanism: Mechanism) -> dict[str, float | None]:
    from deniable.estimators import average_error

    try:
        return {loss: average_error(mechanism, loss) for loss in LOSSES}
    except NotSupported:
        return dict.fromkeys(LOSSES)


def _errors(mechanism: Mechanism) -> list[dict[str, float]]:
    from deniable.estimators import error_curve

    try:
        curves = {loss: error_curve(mechanism, loss, 5) for loss in LOSSES}
    except NotSupported:
        return []
    values = curves["absolute"].values.tolist()
    if isinstance(mechanism.domain, Circle):
        values = values[:-1]  # the end of a circle is its beginning
    return [{"value": value, **{loss: float(curves[loss].errors[i]) for loss in LOSSES}} for i, value in enumerate(values)]


def _frequency(mechanism: Mechanism) -> dict[str, float] | None:
    from deniable.estimators import support

    if not isinstance(mechanism.domain, Binary | Categories):
        return None
    try:
        law = support(mechanism)
    except NotSupported:
        return None
    return {"p": float(law.p), "q": float(law.q), "variance": law.variance(1, 0)}


def _published(mechanism: Mechanism) -> dict[str, Any] | None:
    if not mechanism.published_as:
        return None
    published = mechanism_class(mechanism.published_as)(domain=mechanism.domain, epsilon=mechanism.privacy)
    return {"name": published.name, **_worst(published)}


def _places(mechanism: Mechanism) -> list[float]:
    """Three telling private values: an end, one third, three quarters."""
    assert isinstance(mechanism.domain, Interval | Circle)
    low, width = float(mechanism.domain.low), float(mechanism.domain.width)
    return [low, low + round(width * 0.3, 12), low + round(width * 0.75, 12)]


def _draw(mechanism: Mechanism, path: str) -> None:
    from deniable.charts import check_ending, mechanism_chart, save

    check_ending(path)
    save(mechanism_chart(mechanism), path)


def _print(mechanism: Mechanism, facts: dict[str, Any]) -> None:
    from rich.markup import escape

    out = console()
    certificate = facts["certificate"]
    out.print(f"[bold]{mechanism.name}[/bold]  {escape(facts['summary'])}", soft_wrap=True)
    rows = table("", "")
    rows.show_header = False
    rows.add_row("domain", escape(facts["domain"]))
    rows.add_row("source", escape(facts["source"]))
    rows.add_row(
        "privacy",
        f"epsilon {certificate['epsilon_requested']}" + (f", delta {certificate['delta']:g}" if certificate["delta"] else ""),
    )
    rows.add_row("certificate", f"{'holds' if facts['holds'] else 'DOES NOT HOLD'}: {certificate['inequality']}")
    rows.add_row("fingerprint", facts["fingerprint"])
    out.print(rows)
    out.print(facts["meaning"], markup=False, soft_wrap=True)
    if facts["frequency"]:
        law = facts["frequency"]
        out.print(
            f"A report supports its own category with p = {law['p']:.6f} and any other with q = {law['q']:.6f}.\n"
            f"An unbiased count has a variance of {law['variance']:.6g} per user (for a rare category)."
        )
    if facts["errors"]:
        out.print(_error_table(facts))
    if isinstance(mechanism.domain, Interval | Circle):
        _print_densities(out, mechanism)
    for work in cited(facts["source"]):
        if work.kind != "software":
            out.print(f"Source: {work}", markup=False, soft_wrap=True, highlight=False)


def _error_table(facts: dict[str, Any]) -> Any:
    errors = table("private value", *(f"{loss} error" for loss in LOSSES), numbers=[f"{loss} error" for loss in LOSSES])
    for row in facts["errors"]:
        errors.add_row(f"{row['value']:g}", *(f"{row[loss]:.6f}" for loss in LOSSES))
    errors.add_section()
    errors.add_row("worst case", *(f"{facts['worst_case'][loss]:.6f}" for loss in LOSSES))
    errors.add_row("average", *(f"{facts['average'][loss]:.6f}" for loss in LOSSES))
    published = facts["published"]
    if published and published["name"] != facts["name"]:
        errors.add_row(f"worst case of {published['name']}", *(f"{published[loss]:.6f}" for loss in LOSSES))
    return errors


def _print_densities(out: Any, mechanism: Mechanism) -> None:
    from deniable.estimators import density

    try:
        curves = {value: density(mechanism, value, COLUMNS) for value in _places(mechanism)}
    except NotSupported:
        return
    top = max(float(curve.heights.max()) for curve in curves.values())
    for value, curve in curves.items():
        out.print(f"density of the report when the private value is {value:g}")
        for line in block_chart(curve.heights.tolist(), top=top):
            out.print(f"  {line}", markup=False)
        half = float(curve.values[1] - curve.values[0]) / 2 if len(curve.values) > 1 else 0.0
        # The ends of the bars, to three digits of their distance: 0.999999 is 1 here, and 4e-07 is 0.
        ends = float(curve.values[0]) - half, float(curve.values[-1]) + half
        digits = 3 - math.floor(math.log10(max(ends[1] - ends[0], 1e-300)))
        left, right = (f"{round(end, digits) + 0.0:g}" for end in ends)
        out.print(f"  {left}{' ' * max(1, len(curve.heights) - len(left) - len(right))}{right}\n")
