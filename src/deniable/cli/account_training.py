"""`deniable account training`: how many rounds of training a person's lifetime pays for."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from deniable.cli.terminal import counted, print_json
from deniable.core import Ball, as_fraction, show_fraction
from deniable.errors import InvalidParameter
from deniable.surveys import parse_domain


@click.command()
@click.option("--domain", "-d", required=True, help="The updates: ball:DIMENSION, or ball:DIMENSION,CLIP.")
@click.option("--users", "-n", required=True, type=click.IntRange(1, 10**9), help="How many people can take part.")
@click.option("--lifetime", required=True, help="What all rounds of one person may cost together.")
@click.option("--target-error", required=True, help="How far the mean update of a round may be off, in the units of the clip.")
@click.option("--delta", help="Also say what shuffled reports tell, except with this probability.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def training(domain: str, users: int, lifetime: str, target_error: str, delta: str | None, as_json: bool) -> None:
    """How many rounds of training a lifetime pays for.

    With everyone in every round, and with groups that take turns.

    \b
    deniable account training --domain ball:512 --users 100000 --lifetime 8 --target-error 0.1
    """
    from deniable.planning import affordable_rounds, training_choices

    ball = parse_domain(domain)
    if not isinstance(ball, Ball):
        raise InvalidParameter("domain must be a ball, for example --domain ball:512")
    near, failing = as_fraction(target_error), None if delta is None else as_fraction(delta)
    if near is None or (delta is not None and failing is None):
        raise InvalidParameter("target-error and delta must be numbers")
    asked: dict[str, Any] = {"lifetime": lifetime, "users": users, "target_error": float(near)}
    choices = training_choices(ball, delta=None if failing is None else float(failing), **asked)
    together = affordable_rounds(ball, **asked)
    if as_json:
        rows = [{**asdict(choice), "epsilon_per_round": float(choice.epsilon_per_round)} for choice in choices]
        print_json({"everyone_in_every_round": together, "choices": rows})
        return
    if not choices:
        click.echo("Not even one round is that close. Train fewer parameters, allow a larger error, or ask more people.")
    for choice in choices:
        click.echo(
            f"{counted(choice.rounds, 'round')}: every person takes part in {choice.times} at epsilon "
            f"{show_fraction(choice.epsilon_per_round)}, in groups of {choice.people_per_round:,}."
            + ("" if choice.shuffled_epsilon is None else f" Shuffled: epsilon {choice.shuffled_epsilon:.3g}, delta {delta}.")
        )
    click.echo(f"With everyone in every round: {counted(together, 'round')}.")
