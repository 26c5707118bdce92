"""`deniable joint account`: what joint randomized response gives and what it costs, before anyone uses it."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.terminal import console, counted, print_json, table
from deniable.core import Epsilon
from deniable.errors import InvalidParameter

if TYPE_CHECKING:
    from deniable.core import Pair
    from deniable.studies import Accounting

DATA = ("Kosarak", "Amazon", "E-commerce", "Census")


@click.command(short_help="Variance and all privacy numbers, before anyone answers.")
@click.option("--users", "-n", type=int, help="How many users answer, in pairs.")
@click.option("--ones", type=int, help="How many of them hold a one (for the variance).")
@click.option("--example", "data", type=click.Choice(DATA, case_sensitive=False), help="A published data set instead.")
@click.option("--epsilon", "-e", required=True, help="Privacy level against strangers: a number or a ratio such as 1/3.")
@click.option("--colluders", type=int, default=0, show_default=True, help="How many users pool what they know.")
@click.option("--epsilon-collusion", "collusion", help="Privacy level against a colluding partner; at least epsilon.")
@click.option("--published", is_flag=True, help="The published heuristic instead: no protection against a colluding partner.")
@click.option("--optimal", is_flag=True, help="The least variance with epsilon kept against colluders who do not know the pairing.")
@click.option("--leftover", is_flag=True, help="Allow an odd number of users: the last one answers alone, by randomized response.")
@click.option("--runs", type=int, default=0, show_default=True, help="Also simulate this many surveys.")
@click.option("--chart", type=click.Path(dir_okay=False), help="Draw variance and privacy to a .png, .svg, .html or .json file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; infinite numbers are null.")
def account(
    users: int | None,
    ones: int | None,
    data: str | None,
    epsilon: str,
    colluders: int,
    collusion: str | None,
    published: bool,
    optimal: bool,
    leftover: bool,
    runs: int,
    chart: str | None,
    as_json: bool,
) -> None:
    """Randomized in pairs, errors tend to cancel, but a colluding partner learns more. Show both effects side by side."""
    from deniable.studies import account as accounted
    from deniable.studies import variance_joint, variance_randomized_response

    n, count = _crowd(users, ones, data)
    if runs < 0:
        raise InvalidParameter("--runs must not be negative")
    if chart is not None:
        from deniable.charts import check_ending

        check_ending(chart)
    level = Epsilon(epsilon)
    seats = n + n % 2 if leftover else n
    pair, setting = _choose(level, seats, colluders, count, collusion, published, optimal)
    accounting = accounted(pair, n, colluders, leftover=leftover)
    variance = float(variance_joint(pair, n, count, leftover=leftover))
    against_partner = float(Epsilon(collusion)) if collusion is not None else accounting.epsilon_known_pairing
    plain = variance_randomized_response(against_partner, n)
    document: dict[str, Any] = {
        "n": n,
        "ones": count,
        "colluders": colluders,
        "setting": setting,
        "epsilon": float(level),
        "p": float(pair.truth),
        "rho": float(pair.correlation),
        "weights": [str(weight) for weight in (pair.both, pair.one, pair.neither)],
        "epsilon_marginal": accounting.epsilon_marginal,
        "epsilon_secret_pairing": accounting.epsilon_secret_pairing,
        "epsilon_known_pairing": accounting.epsilon_known_pairing,
        "epsilon_known_pairing_is_infinite": math.isinf(accounting.epsilon_known_pairing),
        "epsilon_printed": accounting.epsilon_printed,
        "exposed_fraction": accounting.exposed_fraction,
        "weakened_fraction": accounting.weakened_fraction,
        "variance": variance,
        "variance_rr": variance_randomized_response(float(level), n),
        "variance_rr_at_collusion_epsilon": plain,
        "warnings": _warnings(pair, accounting, variance, plain, leftover and n % 2 == 1),
    }
    if runs:
        document["simulation"] = _simulated(pair, level, n, count, runs, leftover, quiet=as_json)
    if chart is not None:
        _draw(pair, level, n + n % 2, chart, setting)
        document["chart"] = chart
    print_json(document) if as_json else _print(document)


def _crowd(users: int | None, ones: int | None, data: str | None) -> tuple[int, int]:
    if data is not None:
        if users is not None or ones is not None:
            raise InvalidParameter("give either --example or --users and --ones, not both")
        from deniable.studies import PUBLISHED_COUNTS

        return PUBLISHED_COUNTS[next(name for name in DATA if name.lower() == data.lower())]
    if users is None or ones is None:
        raise InvalidParameter("--users and --ones are missing: how many users, how many of them with a one (or give --example)")
    return users, ones


def _choose(level: Epsilon, n: int, m: int, ones: int, collusion: str | None, published: bool, optimal: bool) -> tuple[Pair, str]:
    from deniable.studies import bounded_pair, optimum, published_pair

    if (collusion is not None) + published + optimal != 1:
        raise InvalidParameter(
            "say what a colluding partner may learn: --epsilon-collusion C (at least epsilon), "
            "or --published (no protection against it), or --optimal; exactly one of them"
        )
    if collusion is not None:
        return bounded_pair(level, collusion), f"bounded at {Epsilon(collusion)} against a colluding partner"
    if published:
        return published_pair(level), "published heuristic: p = E/(1+E), rho = 1 - 1/p"
    return optimum(level, n, m, ones).pair, "least variance with epsilon kept against colluders who do not know the pairing"


def _warnings(pair: Pair, accounting: Accounting, variance: float, plain: float, alone: bool) -> list[str]:
    warnings = []
    if math.isinf(accounting.epsilon_known_pairing):
        warnings.append(
            f"A colluding partner, or anyone who knows the partner's true value, learns this user's bit outright "
            f"with probability q = {float(pair.lie):.4g}."
        )
    elif plain <= variance and pair.correlation:
        warnings.append(
            f"Plain randomized response run at epsilon = {accounting.epsilon_known_pairing:.6g} has variance {plain:.6g}, "
            "below this one; joint answers pay off only when strangers and partners deserve different guarantees."
        )
    if accounting.epsilon_secret_pairing > accounting.epsilon_printed * (1 + 1e-9):
        warnings.append(
            f"The published theorem would claim {accounting.epsilon_printed:.6g} for {accounting.m} colluders; "
            f"the exact number is {_shown(accounting.epsilon_secret_pairing)}."
        )
    if alone:
        warnings.append("n is odd: the last user, chosen at random, answers alone by plain randomized response with the same p.")
    return warnings


def _simulated(pair: Pair, level: Epsilon, n: int, ones: int, runs: int, leftover: bool, *, quiet: bool) -> dict[str, Any]:
    from deniable.core import Pair as Table
    from deniable.core import two_level_weights
    from deniable.studies import simulate

    low, high = two_level_weights(1, 2, level)
    document = {}
    with _progress(2 * runs, hidden=quiet) as advance:
        for name, each in (("joint", pair), ("randomized_response", Table.independent(high, low))):
            simulated = simulate(each, n, ones, runs, leftover=leftover, progress=advance)
            document[name] = {
                "runs": runs,
                "mse": simulated.mse,
                "mse_standard_error": simulated.mse_standard_error,
                "are_percentiles": simulated.percentiles(),
            }
    return document


@contextmanager
def _progress(total: int, *, hidden: bool) -> Iterator[Callable[[int], None]]:
    """A bar on standard error where someone is looking."""
    if hidden or not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task("simulating", total=total)
        yield lambda done: bar.advance(task, done)


def _draw(pair: Pair, level: Epsilon, n: int, path: str, setting: str) -> None:
    from deniable.charts import joint_chart, save
    from deniable.core import Pair as Table
    from deniable.core import two_level_weights
    from deniable.studies import published_pair

    low, high = two_level_weights(1, 2, level)
    tables = {"this table": pair, "randomized response": Table.independent(high, low), "published": published_pair(level)}
    if pair == tables["published"]:
        del tables["published"]
    save(joint_chart(tables, n, title=f"Joint randomized response, {n} users, ε = {level}", subtitle=setting), path)


def _print(document: dict[str, Any]) -> None:
    out = console()
    out.print(f"[bold]joint randomized response[/bold]  {document['setting']}", soft_wrap=True)
    out.print(
        f"{counted(document['n'], 'user')}, {counted(document['ones'], 'one')}, {counted(document['colluders'], 'colluder')}",
        soft_wrap=True,
    )
    out.print(f"p = {document['p']:.6g}, rho = {document['rho']:.6g}")
    rows = table("privacy of one honest user", "epsilon", numbers=["epsilon"])
    for label, key in (
        ("against strangers (marginal)", "epsilon_marginal"),
        ("against the colluders, pairing secret", "epsilon_secret_pairing"),
        ("against a partner, pairing known", "epsilon_known_pairing"),
        ("what the published theorem claims", "epsilon_printed"),
    ):
        rows.add_row(label, _shown(document[key]))
    out.print(rows)
    out.print(f"honest users whose bit a colluding partner knows for certain: {document['exposed_fraction']:.4%}")
    out.print(f"honest users for whom only the partner's number holds: {document['weakened_fraction']:.4%}")
    rows = table("variance of the estimated count", "variance", numbers=["variance"])
    rows.add_row("joint", f"{document['variance']:.6g}")
    rows.add_row(f"randomized response at epsilon = {document['epsilon']:g}", f"{document['variance_rr']:.6g}")
    rows.add_row("randomized response at the partner's epsilon", f"{document['variance_rr_at_collusion_epsilon']:.6g}")
    for name, simulated in document.get("simulation", {}).items():
        rows.add_row(f"simulated, {name.replace('_', ' ')}", f"{simulated['mse']:.6g} ± {simulated['mse_standard_error']:.2g}")
    out.print(rows)
    for warning in document["warnings"]:
        out.print(f"[bold]warning:[/bold] {warning}", soft_wrap=True)
    if "chart" in document:
        click.echo(f"chart: {document['chart']}")


def _shown(number: float) -> str:
    return "infinite" if math.isinf(number) else f"{number:.6f}"
