"""`deniable submit`: rows of a file, each randomized here as a device of its own would, and handed to a collector."""

from __future__ import annotations

import sys
from typing import Any

import click

from deniable.cli.domain_text import parse_value
from deniable.cli.rows import read_rows
from deniable.cli.terminal import print_json
from deniable.errors import InvalidParameter, NotDelivered, OutOfDomain

BATCH = 5000
LATER = (429, 503)


@click.command()
@click.argument("file", metavar="FILE.csv")
@click.option("--survey", "-s", "url", required=True, help="The survey's address: http://…/v1/surveys/<hash>.")
@click.option("--column", "-c", multiple=True, help="The column with the answers; a survey's attributes name theirs themselves.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--quiet", "-q", is_flag=True, help="No progress bar.")
def submit(file: str, url: str, column: tuple[str, ...], as_json: bool, quiet: bool) -> None:
    """Randomize every row of FILE.csv on this machine and submit the reports.

    Every row counts as one person's answer. The true values never leave this process. For answers of one person, with
    a ledger and a budget, use deniable.client.

    \b
    deniable submit answers.csv --survey http://127.0.0.1:8000/v1/surveys/<hash>
    """
    survey, base = _fetched(url)
    names = column or (survey.names if survey.strategy is None else ())
    rows = read_rows(survey.mechanism.domain, file, tuple(names))
    sent, known, refused = 0, 0, []
    with click.progressbar(
        range(0, len(rows), BATCH), label="submitting", file=sys.stderr, hidden=as_json or quiet or not sys.stderr.isatty()
    ) as starts:
        for start in starts:
            values, bad = _values(survey, rows[start : start + BATCH])
            refused += bad
            if values:
                answer = _handed_over(survey, base, values)
                sent += answer["accepted"]
                known += answer["known"]
    document = {"survey": survey.hash, "rows": len(rows), "accepted": sent, "known": known, "refused_rows": refused}
    if as_json:
        print_json(document)
    else:
        click.echo(f"{sent:,} reports counted by {base}")
    if refused:
        click.echo(
            f"deniable: {len(refused)} rows do not belong to the survey's domain and were not sent: {_named(refused)}", err=True
        )
        click.get_current_context().exit(1)


def _named(rows: list[int]) -> str:
    return ", ".join(map(str, rows[:20])) + (f" and {len(rows) - 20} more" if len(rows) > 20 else "")


def _fetched(url: str) -> tuple[Any, str]:
    """The survey, checked against the hash in its address, and the address without it."""
    from deniable.client import HttpTransport
    from deniable.surveys import Survey

    base, mark, name = url.rstrip("/").partition("/v1/surveys/")
    if not mark or len(name) != 64:
        raise InvalidParameter("--survey must be an address such as http://127.0.0.1:8000/v1/surveys/<64 hexadecimal digits>")
    status, data = HttpTransport().get(url.rstrip("/"))
    if status != 200:
        raise NotDelivered(f"the collector does not give out this survey (status {status})")
    return Survey.from_json(data, hash=name), base


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


def _handed_over(survey: Any, base: str, values: list[Any]) -> dict[str, int]:
    """One batch under one key, sent until it is acknowledged."""
    import json

    from deniable.client import HttpTransport, Patience
    from deniable.domains import Record
    from deniable.surveys import BATCH_TYPE, batch_head

    if isinstance(survey.mechanism.domain, Record):
        values_many: Any = {name: [value[name] for value in values] for name in survey.mechanism.domain.fields}
    else:
        values_many = values
    body = batch_head(survey) + survey.mechanism.randomize_many(values_many).to_bytes()
    transport, patience = HttpTransport(timeout=60), Patience(attempts=8)
    for attempt in range(patience.attempts):
        if attempt:
            patience.wait(attempt - 1)
        try:
            status, answer = transport.post(f"{base}/v1/surveys/{survey.hash}/batches", body, BATCH_TYPE)
        except NotDelivered:
            continue
        if status == 200:
            found: dict[str, int] = json.loads(answer)
            return found
        if status not in LATER:
            raise NotDelivered(f"the collector refused the reports (status {status})")
    raise NotDelivered("the collector cannot be reached; nothing more was sent")
