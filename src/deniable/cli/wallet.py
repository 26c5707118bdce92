"""`deniable wallet`: a person's tokens for surveys that ask for them."""

from __future__ import annotations

import click

from deniable.cli.survey_address import ca_option, find_survey
from deniable.cli.terminal import counted, print_json


@click.group(short_help="Fetch and count the tokens of one person.")
def wallet() -> None:
    """Tokens admit a person to a survey without naming them.

    Fetch them well before you answer, so that the timing reveals nothing.
    """


@wallet.command()
@click.argument("source", metavar="SURVEY")
@click.option(
    "--wallet", "path", required=True, type=click.Path(dir_okay=False), help="The file that holds the tokens (created if missing)."
)
@click.option("--code", required=True, envvar="DENIABLE_CODE", help="The invitation code, or what the issuer asks for.")
@click.option("--count", type=click.IntRange(1), help="How many tokens; by default all that a person gets.")
@ca_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def fetch(source: str, path: str, code: str, count: int | None, ca: str | None, as_json: bool) -> None:
    """Fetch tokens for the survey at the address SURVEY, with a code. An interrupted fetch is resumed."""
    from deniable.privacy import Wallet
    from deniable.surveys import HttpTransport

    survey = find_survey(source, "SURVEY", ca=ca).document()
    left = Wallet(path).fetch(survey, code, HttpTransport(ca=ca), count=count)
    print_json({"survey": survey.hash, "tokens": left}) if as_json else click.echo(
        f"{path}: {counted(left, 'token')} for {survey.title}"
    )


@wallet.command()
@click.argument("survey")
@click.option(
    "--wallet", "path", required=True, type=click.Path(exists=True, dir_okay=False), help="The file that holds the tokens."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(survey: str, path: str, as_json: bool) -> None:
    """Count the tokens that are left for a survey; SURVEY is its hash."""
    from deniable.privacy import Wallet

    left = Wallet(path).left(survey)
    print_json({"survey": survey, "tokens": left}) if as_json else click.echo(f"{counted(left, 'token')} left")
