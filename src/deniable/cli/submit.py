"""`deniable submit`: rows of a file, each randomized here as a device of its own would, and handed to a collector."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.rows import read_rows
from deniable.cli.survey_address import ca_option, find_survey, said, token_from
from deniable.cli.terminal import print_json
from deniable.core import Epsilon, meaning, show_fraction
from deniable.errors import InvalidEpsilon, NotAdmitted, NotDelivered, OutOfDomain
from deniable.surveys import USUAL_LIMIT, parse_value

if TYPE_CHECKING:
    from deniable.surveys import Transport

BATCH = 5000
TOKEN = "DENIABLE_SUBMIT_TOKEN"  # noqa: S105 - the name of a variable
NO_TOKEN = (401, 403)
LATER = (429, 503)


@click.command()
@click.argument("file", metavar="FILE.csv")
@click.option("--survey", "-s", "url", required=True, help="The survey's address, or its collector's: http://127.0.0.1:8000.")
@click.option("--column", "-c", multiple=True, help="The column with the answers; a survey's attributes name theirs themselves.")
@click.option("--max-epsilon", default=str(USUAL_LIMIT), show_default=True, help="The most that one row's report may cost.")
@click.option(
    "--token-file", type=click.Path(exists=True, dir_okay=False), help=f"A file with a token, where one is needed; else ${TOKEN}."
)
@ca_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def submit(
    file: str, url: str, column: tuple[str, ...], max_epsilon: str, token_file: str | None, ca: str | None, as_json: bool
) -> None:
    """Randomize every row of FILE.csv on this machine and submit the reports.

    Every row counts as one person's answer. The true values never leave this process. For answers of one person, with
    a ledger and a budget, use deniable.surveys. A collector that takes reports only with a token gets it from --token-file or
    the environment, over HTTPS or on this machine.
    """
    from deniable.surveys import HttpTransport

    token = token_from(token_file, TOKEN)
    place = find_survey(url, "--survey", ca=ca)
    survey, base = place.document(), place.collector
    _check(survey, Epsilon(max_epsilon, allow_large=True).exact)
    names = column or (survey.names if survey.strategy is None else ())
    rows = read_rows(survey.mechanism.domain, file, tuple(names))
    sent, known, refused = 0, 0, []
    transport = HttpTransport(timeout=60, token=token, ca=ca)
    with click.progressbar(
        range(0, len(rows), BATCH), label="submitting", file=sys.stderr, hidden=as_json or not sys.stderr.isatty()
    ) as starts:
        for start in starts:
            values, bad = _values(survey, rows[start : start + BATCH])
            refused += bad
            if values:
                answer = _handed_over(survey, base, values, transport)
                sent += answer["accepted"]
                known += answer["known"]
    document = {"survey": survey.hash, "rows": len(rows), "accepted": sent, "known": known, "refused_rows": refused}
    if as_json:
        print_json(document)
    else:
        click.echo(f"{sent:,} reports counted by {base}")
    if refused:
        told = (
            f"{len(refused):,} of {len(rows):,} rows do not belong to the survey's domain and were not sent: row {_named(refused)}"
        )
        click.echo(f"deniable: {told}", err=True)
        click.get_current_context().exit(1)


def _check(survey: Any, most: Fraction) -> None:
    """The survey came from outside: what it costs is the user's decision."""
    cost = survey.mechanism.privacy.exact
    if cost > most:
        raise InvalidEpsilon(
            f"the survey costs epsilon={show_fraction(cost)} for each answer, more than --max-epsilon {show_fraction(most)}. "
            f"{meaning(cost)} If you accept that for everyone in the file, raise --max-epsilon"
        )


def _named(rows: list[int]) -> str:
    return ", ".join(map(str, rows[:20])) + (f" and {len(rows) - 20} more" if len(rows) > 20 else "")


def _values(survey: Any, rows: list[Any]) -> tuple[list[Any], list[int]]:
    values: list[Any] = []
    refused: list[int] = []
    for row in rows:
        try:
            value = row.value if row.parsed else parse_value(survey.mechanism.domain, row.value)
            survey.mechanism.encode(value)
        except OutOfDomain:
            refused.append(row.number)
        else:
            values.append(value)
    return values, refused


def _handed_over(survey: Any, base: str, values: list[Any], transport: Transport) -> dict[str, int]:
    """One batch under one key, sent until it is acknowledged."""
    import json

    from deniable.core import Record
    from deniable.surveys import BATCH_TYPE, Patience, batch_head

    if isinstance(survey.mechanism.domain, Record):
        values_many: Any = {name: [value[name] for value in values] for name in survey.mechanism.domain.fields}
    else:
        values_many = values
    body = batch_head(survey) + survey.mechanism.randomize_many(values_many).to_bytes()
    patience = Patience(attempts=8)
    for attempt in range(patience.attempts):
        if attempt:
            patience.wait(attempt - 1)
        try:
            status, answer = transport.post(f"{base}/v1/surveys/{survey.hash}/batches", body, BATCH_TYPE)
        except NotDelivered:
            continue
        if status == 200:
            counted: dict[str, int] = json.loads(answer)
            return counted
        if status in NO_TOKEN:
            step = f"set {TOKEN}, or give --token-file; `deniable token NAME --role submit` makes one on the collector's machine"
            raise NotAdmitted(f"the collector takes reports only with a token: {step} ({said(status, answer)})")
        if status not in LATER:
            raise NotDelivered(f"the collector refused the reports: {said(status, answer)}")
    raise NotDelivered("the collector cannot be reached; nothing more was sent")
