"""`deniable design`: the best mechanism for a question, its error, and the bound that proves it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.effect import refuse_unused
from deniable.cli.terminal import console, print_json, table
from deniable.core import Circle, Domain, Interval, Rectangle
from deniable.errors import InvalidParameter, NotSupported
from deniable.surveys import parse_domain

if TYPE_CHECKING:
    from deniable.planning import Answer

USUAL = {"interval": "interval:0,1", "circle": "circle", "rectangle": "rectangle:0,1,0,1"}


@click.command(short_help="Compute the best mechanism for a question, with a proof.")
@click.option(
    "--domain", "-d", default="interval", show_default=True, help="interval[:0,1], circle[:period] or rectangle[:x0,x1,y0,y1]."
)
@click.option("--loss", "-l", default="absolute", show_default=True, help="absolute, squared or power:K.")
@click.option("--epsilon", "-e", help="Privacy level: a number or a ratio such as 1/3.")
@click.option(
    "--prior",
    default="worst",
    show_default=True,
    help="Whose error counts: worst, uniform, at:VALUE, or on average under weights such as 3,2,1 (of equal cells of an "
    "interval, or of the values of a --workload).",
)
@click.option("--unbiased", is_flag=True, help="The mean of a report must be the value; minimise the worst variance.")
@click.option(
    "--test", nargs=2, metavar="P0 P1", help="Instead of numbers: a test between two distributions (see `deniable extremal`)."
)
@click.option("--workload", help="Linear questions instead of a domain: prefix, ranges, histogram, marginals:K or a .csv file.")
@click.option("--size", type=int, help="With --workload: how many values there are.")
@click.option("--error", default="mean", show_default=True, help="With --workload: mean over the people, or worst value.")
@click.option("--method", default="convex", show_default=True, help="With --workload: convex, or descent as published.")
@click.option(
    "--privacy",
    help="With --workload: privacy levels for pairs of values: sensitive:VALUES, metric[:POSITIONS], or a .csv "
    "of multiples of epsilon.",
)
@click.option("--divergence", default="kl", show_default=True, help="With --test: kl, tv, chi2 or hellinger.")
@click.option("--chart", type=click.Path(dir_okay=False), help="Draw densities and errors to a .png, .svg, .html or .json file.")
@click.option("--recipe-out", type=click.Path(dir_okay=False), help="Write the mechanism's recipe to a file.")
@click.option("--table", "as_table", is_flag=True, help="Print the page 'What is optimal?' instead (takes a minute or two).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def design(
    domain: str,
    loss: str,
    epsilon: str | None,
    prior: str,
    unbiased: bool,
    test: tuple[str, str] | None,
    divergence: str,
    chart: str | None,
    recipe_out: str | None,
    as_table: bool,
    as_json: bool,
    **linear: Any,
) -> None:
    """Find the best mechanism, measure it, and show a bound that no mechanism with this epsilon can beat."""
    from deniable.planning import design as best

    if as_table:
        from deniable.cli.design_page import page

        click.echo(page(), nl=False)
        return
    if epsilon is None:
        raise InvalidParameter("--epsilon is missing: give a privacy level, for example --epsilon 1")
    _check_effect(workload=linear["workload"] is not None, test=test is not None)
    if linear["workload"] is not None:
        from deniable.cli.workload import design_questions

        design_questions(epsilon=epsilon, prior=prior, chart=chart, recipe_out=recipe_out, as_json=as_json, **linear)
        return
    if test is not None:
        from deniable.cli.hypothesis_test import design_test

        design_test(*test, epsilon, divergence, recipe_out=recipe_out, as_json=as_json)
        return
    space = parse_domain(USUAL.get(domain.strip(), domain))
    _check_chart(chart, space)
    people: Any = [part.strip() for part in prior.split(",")] if "," in prior else prior
    answer = best(space, "squared" if unbiased and loss == "absolute" else loss, epsilon, people, unbiased)
    if recipe_out is not None:
        Path(recipe_out).write_text(json.dumps(answer.mechanism.recipe()) + "\n", encoding="utf-8")
    if chart is not None:
        _draw(answer, loss if not unbiased else "squared", chart)
    if as_json:
        shown = {key: value for key, value in answer.to_dict().items() if recipe_out is None or key != "recipe"}
        print_json(
            {**shown, "epsilon": epsilon, "holds": answer.mechanism.certificate().holds, "recipe_out": recipe_out, "chart": chart}
        )
        return
    _print(answer)
    for what, where in (("recipe", recipe_out), ("chart", chart)):
        if where is not None:
            click.echo(f"{what}: {where}")


def _check_effect(*, workload: bool, test: bool) -> None:
    if not workload:
        refuse_unused("without a workload", "use it with --workload", "size", "error", "method", "privacy")
    else:
        refuse_unused("on --workload", "its questions are about values that are counted", "domain", "loss", "unbiased", "test")
    if workload or not test:
        refuse_unused("without a test", "use it with --test", "divergence")
    else:
        refuse_unused("on --test", "use it without --test", "domain", "loss", "prior", "unbiased", "chart")


def _print(answer: Answer) -> None:
    out = console()
    mechanism = answer.mechanism
    out.print(f"[bold]{mechanism.name}[/bold]  {answer.method}", soft_wrap=True)
    rows = table("", answer.objective, numbers=[answer.objective])
    rows.add_row("this mechanism", f"{answer.worst_case:.6g}")
    bound = "lower bound for every mechanism" if answer.certified else "lower bound for every mechanism (the solver stopped early)"
    rows.add_row(bound, f"{answer.lower_bound:.6g}")
    rows.add_row("ratio of the two", f"{answer.gap:.5f}" if answer.lower_bound > 0 else "none: the bound is 0")
    rows.add_row(f"published ({answer.published['name']})", f"{answer.published['worst_case']:.6g}")
    if answer.predicted is not None:
        rows.add_row("limit for large ε (a prediction, no bound)", f"{answer.predicted['error']:.6g}")
    out.print(rows)
    certificate = mechanism.certificate()
    out.print(f"privacy {'holds' if certificate.holds else 'DOES NOT HOLD'}: {certificate.inequality}", soft_wrap=True)
    out.print(f"designed in {answer.seconds:.1f} s; fingerprint {mechanism.fingerprint}")


def _check_chart(chart: str | None, space: Domain) -> None:
    if chart is None:
        return
    from deniable.charts import check_ending

    check_ending(chart)
    if not isinstance(space, Interval | Circle | Rectangle):
        raise NotSupported("--chart draws densities over an interval, a circle or a rectangle")


def _draw(answer: Answer, loss: str, path: str) -> None:
    from deniable.charts import design_chart, save

    power: Any = float(loss.removeprefix("power:")) if loss.startswith("power:") else loss
    save(design_chart(answer, power), path)
