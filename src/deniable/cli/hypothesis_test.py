"""`deniable extremal`, and `deniable design --test`: the best reports for telling two distributions apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.terminal import console, counted, print_json, table
from deniable.errors import InvalidParameter

if TYPE_CHECKING:
    from deniable.planning import ExtremalDesign, SampleSize

DIVERGENCES = "kl, tv, chi2 or hellinger"
SHOWN = 12
"""Longer lists of answers are cut in the terminal; --json has them all."""


@click.command("extremal", short_help="Compute the best reports for a hypothesis test.")
@click.argument("p0")
@click.argument("p1")
@click.option("--epsilon", "-e", required=True, help="Privacy level: a number or a ratio such as 1/3.")
@click.option("--divergence", default="kl", show_default=True, help=f"What to maximise between the reports: {DIVERGENCES}.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Largest chance of rejecting P0 wrongly.")
@click.option("--beta", type=float, default=0.05, show_default=True, help="Largest chance of keeping P0 wrongly.")
@click.option("--recipe-out", type=click.Path(dir_okay=False), help="Write the mechanism's recipe to a file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def extremal_command(
    p0: str, p1: str, epsilon: str, divergence: str, alpha: float, beta: float, recipe_out: str | None, as_json: bool
) -> None:
    """Design the reports that differ most between P0 and P1, and say how many of them a test needs.

    P0 and P1 are probabilities separated by commas, such as 0.5,0.3,0.2, or files that hold them.
    """
    design_test(p0, p1, epsilon, divergence, alpha, beta, recipe_out, as_json)


def design_test(
    p0: str,
    p1: str,
    epsilon: str,
    divergence: str = "kl",
    alpha: float = 0.05,
    beta: float = 0.05,
    recipe_out: str | None = None,
    as_json: bool = False,
) -> None:
    """What the command does, for `deniable design --test` as well."""
    from deniable.planning import extremal_design, sample_size

    first, second = probabilities("P0", p0), probabilities("P1", p1)
    designed = extremal_design(first, second, epsilon, divergence)
    size = sample_size(designed.mechanism, first, second, alpha=alpha, beta=beta)
    if recipe_out is not None:
        Path(recipe_out).write_text(json.dumps(designed.mechanism.recipe()) + "\n", encoding="utf-8")
    if as_json:
        holds = designed.mechanism.certificate().holds
        print_json({**designed.to_dict(), "epsilon": epsilon, "holds": holds, "reports": size.to_dict(), "recipe_out": recipe_out})
        return
    _print(designed, size, alpha, beta)
    if recipe_out is not None:
        click.echo(f"recipe: {recipe_out}")


def probabilities(name: str, text: str) -> list[str]:
    """Numbers separated by commas, or a file of numbers separated by commas, spaces or lines.

    >>> probabilities("P0", "0.5, 0.3,0.2")
    ['0.5', '0.3', '0.2']
    """
    if "," not in text and Path(text).is_file():
        text = Path(text).read_text(encoding="utf-8")
    numbers = text.replace(",", " ").split()
    if len(numbers) < 2:
        raise InvalidParameter(f"{name} must be probabilities separated by commas, such as 0.5,0.3,0.2, or a file that holds them")
    return numbers


def _print(designed: ExtremalDesign, size: SampleSize, alpha: float, beta: float) -> None:
    out = console()
    mechanism = designed.mechanism
    out.print(f"[bold]{mechanism.name}[/bold]  {_regime(designed)}", soft_wrap=True)
    column = f"{designed.divergence} divergence"
    rows = table("", column, numbers=[column])
    rows.add_row("this mechanism", f"{designed.value:.8g}")
    rows.add_row("upper bound for every mechanism", f"{designed.upper_bound:.8g}")
    rows.add_row("ratio of the two", f"{designed.gap:.7f}")
    rows.add_row("binary mechanism", f"{designed.binary:.8g}")
    rows.add_row("k-RR", f"{designed.k_rr:.8g}")
    rows.add_row("the values themselves", f"{designed.non_private:.8g}")
    out.print(rows)
    answers = table("answer", "more likely for", "score", numbers=["answer", "score"])
    for number, score in list(enumerate(size.scores))[:SHOWN]:
        answers.add_row(str(number), _named(mechanism.decode(number)), f"{score + 0.0:.6f}")
    out.print(answers)
    if len(size.scores) > SHOWN:
        out.print(f"… and {len(size.scores) - SHOWN} more answers; --json has them all\n")
    out.print(
        f"{counted(size.sufficient, 'report')} suffice for errors of {alpha:g} and {beta:g}; "
        f"no test needs fewer than {size.necessary:,}.\n"
        f"Reject P0 when the mean score exceeds {size.threshold + 0.0:.6f}."
    )
    certificate = mechanism.certificate()
    out.print(f"privacy {'holds' if certificate.holds else 'DOES NOT HOLD'}: {certificate.inequality}", soft_wrap=True)


def _regime(designed: ExtremalDesign) -> str:
    count = len(designed.mechanism.patterns)
    return {
        "binary": "two blocks of categories: the binary mechanism",
        "k-rr": "every category on its own: k-ary randomized response",
        "blocks": f"randomized response between {count} blocks of categories",
        "staircase": f"{count} overlapping sets of categories",
    }[designed.regime]


def _named(categories: tuple[Any, ...]) -> str:
    shown = ", ".join(map(str, categories[:SHOWN]))
    return shown if len(categories) <= SHOWN else f"{shown}, … {len(categories)} in all"
