"""`deniable plan`: which mechanism, how much epsilon, how many people."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.effect import refuse_unused
from deniable.cli.hypothesis_test import probabilities
from deniable.cli.terminal import console, counted, print_json, table, waiting
from deniable.errors import DeniableError, InvalidParameter
from deniable.surveys import parse_domain

if TYPE_CHECKING:
    from deniable.planning import Candidate, Plan, ShuffledPlan

USUAL = {
    "mean": "interval:0,1",
    "distribution": "interval:0,1",
    "quantile": "interval:0,1",
    "heavy-hitters": "text:6",
    "location": "rectangle:0,1,0,1",
    "vector": "ball:512",
    "items": "item-set:3,20",
    "key-values": "key-value:3,20;0,1",
    "key-distributions": "key-value:3,20;0,1,4",
    "trend": "binary",
}
SHOWN = 12


@click.command("plan", short_help="Choose a mechanism, epsilon and the number of people.")
@click.option(
    "--task",
    "-t",
    help="frequency, mean, distribution, quantile, heavy-hitters, location, vector, items, key-values, key-distributions, "
    "trend, test or workload.",
)
@click.option("--size", type=int, help="How many categories there are (frequency, trend, workload).")
@click.option("--domain", "-d", help="The domain, such as categories:a,b,c or interval:18,90.")
@click.option("--users", "-n", "users", type=int, help="How many people answer; by default the fewest that meet the target.")
@click.option("--epsilon", "-e", help="Everything one person spends; by default the smallest that meets the target.")
@click.option("--target-error", type=float, help="The largest error you accept.")
@click.option("--half-width", type=float, help="Instead of an error: the largest half-width of a 95 % interval you accept.")
@click.option("--max-bytes", type=int, help="The most bytes a report may take.")
@click.option("--attributes", type=int, default=1, show_default=True, help="How many questions of this kind everyone is asked.")
@click.option("--repeats", type=int, default=1, show_default=True, help="How often everyone is asked.")
@click.option("--unchanging", is_flag=True, help="With --repeats: values do not change, so one answer is kept and sent again.")
@click.option(
    "--spread",
    "data",
    default="even",
    show_default=True,
    help="Whose error counts: even (people spread evenly) or worst (the worst value).",
)
@click.option("--bins", type=int, default=16, show_default=True, help="For distribution and quantile: the number of bins.")
@click.option(
    "--metric",
    type=click.Choice(["half-width", "wasserstein"]),
    default="half-width",
    show_default=True,
    help="For distribution: the half-width of the bins' 95 % intervals, or the distance from the true distribution.",
)
@click.option("--quantile", "level", type=float, default=0.5, show_default=True, help="For the task quantile: 0.5 is the median.")
@click.option(
    "--words", type=int, default=10, show_default=True, help="For heavy-hitters: about how many frequent words there are."
)
@click.option("--periods", type=int, default=1, help="For trend: how many periods there are; epsilon is for all of them.")
@click.option("--changes", type=int, help="For trend: how many times a value changes at most.")
@click.option("--window", type=int, help="For trend: epsilon holds for any stretch of this many periods, not for all periods.")
@click.option("--untrackable", is_flag=True, help="For trend: only methods whose reports cannot be linked by their content.")
@click.option("--workload", help="For the task workload: prefix, ranges, histogram, marginals:K or a .csv file.")
@click.option("--test", "hypotheses", nargs=2, metavar="P0 P1", help="For test: the shares under both hypotheses.")
@click.option(
    "--simulate", type=click.IntRange(2), help="Also simulate every candidate in this many surveys (at most 20,000 users each)."
)
@click.option(
    "--shuffled", is_flag=True, help="Reports are shuffled: --epsilon is the central target, and the local epsilon is computed."
)
@click.option(
    "--delta", type=float, default=1e-6, show_default=True, help="With --shuffled: the probability with which the target may fail."
)
@click.option("--chart", type=click.Path(dir_okay=False), help="Draw the frontier to a .png, .svg, .html or .json file.")
@click.option("--recipe-out", type=click.Path(dir_okay=False), help="Write the pick's recipe to a file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def plan_command(
    task: str | None,
    size: int | None,
    domain: str | None,
    hypotheses: tuple[str, str] | None,
    simulate: int | None,
    unchanging: bool,
    shuffled: bool,
    delta: float,
    chart: str | None,
    recipe_out: str | None,
    as_json: bool,
    **numbers: Any,
) -> None:
    """Rank the mechanisms for a question by predicted error, and pick one.

    Give two of --users, --epsilon and a target (--half-width or --target-error); the third is computed. Errors are predicted
    from closed forms or from the mechanisms' own weights; --simulate measures them.
    """
    from deniable.planning import TASKS, Question, plan, plan_shuffled

    if task is None:
        raise InvalidParameter(f"--task is missing: what is to be learned? One of {', '.join(TASKS)}; `deniable plan -h` has more")
    if task not in TASKS:
        near = difflib.get_close_matches(task, TASKS, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise InvalidParameter(f"--task must be one of {', '.join(TASKS)}, got {task[:40]!r}{hint}")
    if chart is not None:
        from deniable.charts import check_ending

        check_ending(chart)
    _check_effect(task, shuffled=shuffled, **numbers)
    pair = None
    if hypotheses is not None:
        pair = (probabilities("P0", hypotheses[0]), probabilities("P1", hypotheses[1]))
        size = len(pair[0]) if size is None and domain is None else size
    question = Question(
        task=task,  # type: ignore[arg-type]  # checked above
        domain=parse_domain(_domain(task, size, domain)),
        hypotheses=pair,
        changing=not unchanging,
        **numbers,
    )
    with waiting("weighing the mechanisms"):
        mixed = plan_shuffled(question, delta=delta) if shuffled else None
        planned = plan(question) if mixed is None else mixed.shuffled
    tried = {} if simulate is None else _simulated(planned, simulate)
    if recipe_out is not None:
        recipe = planned.pick.to_dict()["recipe"]
        Path(recipe_out).write_text(json.dumps(recipe) + "\n", encoding="utf-8")
    if chart is not None:
        from deniable.charts import plan_chart, save

        save(plan_chart(planned), chart)
    if as_json:
        document = planned.to_dict() if mixed is None else {**planned.to_dict(), "shuffled": mixed.to_dict()}
        for one, row in zip(planned.candidates, document["candidates"], strict=True):
            row.update(tried.get(one.label, {}))
        print_json({**document, "recipe_out": recipe_out, "chart": chart})
    else:
        if mixed is not None:
            _print_shuffled(mixed)
        _print(planned, tried)
        for what, where in (("recipe", recipe_out), ("chart", chart)):
            if where is not None:
                click.echo(f"{what}: {where}")
    if planned.warning is not None:
        click.echo(f"deniable: {planned.warning}", err=True)


USED_BY = {
    "bins": ("distribution", "quantile"),
    "metric": ("distribution",),
    "level": ("quantile",),
    "words": ("heavy-hitters",),
    "periods": ("trend",),
    "changes": ("trend",),
    "window": ("trend",),
    "untrackable": ("trend",),
    "workload": ("workload",),
    "hypotheses": ("test",),
}
"""The tasks that an option belongs to; all others belong to every task."""


def _check_effect(task: str, *, shuffled: bool, repeats: int, **_: Any) -> None:
    for option, tasks in USED_BY.items():
        if task not in tasks:
            refuse_unused(f"on --task {task}", f"use it with --task {' or '.join(tasks)}", option)
    if not shuffled:
        refuse_unused("without a shuffler", "use it with --shuffled", "delta")
    if task == "trend":
        refuse_unused("on --task trend", "--periods says how often everyone is asked", "repeats", "unchanging")
    elif repeats == 1:
        refuse_unused("on people who are asked once", "use it with --repeats", "unchanging")


def _domain(task: str, size: int | None, domain: str | None) -> str:
    if size is not None:
        if domain is not None or task not in ("frequency", "test", "trend", "workload"):
            raise InvalidParameter(
                "--size is the number of categories of a frequency, a trend or a workload; elsewhere use --domain"
            )
        return f"categories:{size}"
    if task == "test" and domain is None:
        raise InvalidParameter("--test is missing: the shares of the values under P0 and under P1, such as --test 0.5,0.5 0.6,0.4")
    if domain is None and task not in USUAL:
        raise InvalidParameter("--size is missing: how many categories are there? (or --domain categories:a,b,c)")
    return domain if domain is not None else USUAL[task]


MOST_TRIED = 20_000


def _simulated(planned: Plan, runs: int) -> dict[str, dict[str, Any]]:
    """Measured errors by label, for as many users as can be tried at once."""
    users, errors = min(planned.users, MOST_TRIED), {}
    for one in planned.candidates:
        try:
            tried = one.way.simulated(users, runs)
        except DeniableError:
            continue
        errors[one.label] = {
            "simulated_users": users,
            "simulated_error": tried.error,
            "simulated_standard_error": tried.standard_error,
            "predicted_for_simulated_users": one.way.predict(users).error,
        }
    return errors


def _print(planned: Plan, tried: dict[str, dict[str, Any]]) -> None:
    from deniable.planning import TRIED

    out, question = console(), planned.question
    least = " (the smallest epsilon)" if float(planned.epsilon) > TRIED[0] else " (enough; less was not tried)"
    given = {None: "", "epsilon": least, "users": " (the fewest users)"}[planned.found]
    several = f"{question.attributes} x " if question.attributes > 1 else ""
    asked = f"{several}{question.domain!r}, {counted(planned.users, 'user')}"
    out.print(f"[bold]{question.task}[/bold] on {asked}, ε = {float(planned.epsilon):.6g}{given}")
    out.print(f"error: {planned.error_means}", soft_wrap=True)
    columns = ["error", "± 95 %", "bytes", "draws", "counters", "1 % malicious"]
    head = ["mechanism", *columns, *(["measured"] if tried else [])]
    rows = table(*head, numbers=head[1:])
    for one in planned.candidates[:SHOWN]:
        rows.add_row(*_row(one), *([_measured(tried.get(one.label))] if tried else []))
    out.print(rows)
    if len(planned.candidates) > SHOWN:
        out.print(f"… and {len(planned.candidates) - SHOWN} more; --json has them all")
    out.print(f"pick: [bold]{planned.pick.label}[/bold]. {planned.why}", soft_wrap=True)
    out.print(f"estimate with: {planned.pick.way.estimator}", soft_wrap=True)
    if planned.pick.way.in_survey:
        out.print(f"in a survey: {planned.pick.way.in_survey}", soft_wrap=True, markup=False)
    certificate = planned.pick.recipes[-1].certificate()
    out.print(f"privacy {'holds' if planned.pick.holds else 'DOES NOT HOLD'}: {certificate.inequality}", soft_wrap=True)
    if planned.left_out:
        out.print(f"left out: {', '.join(one.mechanism for one in planned.left_out)} (--json says why)", soft_wrap=True)


def _print_shuffled(mixed: ShuffledPlan) -> None:
    """The same central promise, by who is trusted."""
    out = console()
    out.print(f"({mixed.target:.4g}, {mixed.delta:g})-private in the central sense, {counted(mixed.shuffled.users, 'user')}:")
    rows = table("who is trusted", "epsilon of a report", "mechanism", "error", numbers=["epsilon of a report", "error"])
    local, among, central = mixed.local.pick, mixed.shuffled.pick, mixed.central_error
    rows.add_row("nobody", f"{mixed.target:.4g}", local.label, f"{local.predicted_error:.3g}")
    rows.add_row("a shuffler", f"{float(mixed.shuffled.epsilon):.4g}", among.label, f"{among.predicted_error:.3g}")
    rows.add_row("the collector", "none", "noise on exact numbers", "not known" if central is None else f"{central:.3g}")
    out.print(rows)
    out.print(f"The shuffled reports have epsilon {mixed.epsilon:.4g}; `deniable account shuffle` says under which conditions.")


def _row(one: Candidate) -> list[str]:
    half = "" if one.interval_half_width is None else f"{one.interval_half_width:.4g}"
    gain = "" if one.poisoning is None else f"{one.poisoning:+.3g}"
    numbers = (one.bytes_per_report, one.client_operations, one.server_operations)
    return [one.label, f"{one.predicted_error:.4g}", half, *map(str, numbers), gain]


def _measured(tried: dict[str, Any] | None) -> str:
    if tried is None:
        return ""
    predicted = tried["predicted_for_simulated_users"]
    return f"{tried['simulated_error'] / predicted:.3f} ± {tried['simulated_standard_error'] / predicted:.3f} x predicted"
