"""`deniable survey`: list, close, reopen and delete a collector's surveys, open the next round, say how long things are kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import click

from deniable.cli.database_option import database_option, json_option, named_survey, opened_store
from deniable.cli.terminal import console, counted, print_json, table
from deniable.errors import InvalidParameter
from deniable.surveys import Survey

_ROUND = re.compile(r"^(.*) \(round (\d+)\)$", re.DOTALL)


@click.group(short_help="List, close, reopen, delete surveys; open the next round.")
def survey() -> None:
    """Manage the surveys in a collector's database. A running collector picks up changes within a second.

    \b
    deniable survey list
    deniable survey close 3f2a9c01
    deniable survey next 3f2a9c01 --closes 2027-03-31
    """


@survey.command("list")
@database_option
@json_option
def list_command(database: str, as_json: bool) -> None:
    """List every survey: its state, its reports and its next round.

    It also says how long single reports and receipts are kept.
    """
    with opened_store(database) as store:
        counts = store.counted()
        lines = store.lines(list(store.open_hashes()))
    if as_json:
        print_json(
            [
                {
                    "hash": line.hash,
                    "title": line.title,
                    "open": line.open,
                    "reports": counts.get(line.hash, 0),
                    "next_round": line.successor,
                    "reports_days": line.reports_days,
                    "receipts_days": line.receipts_days,
                    "receipt_windows": line.receipt_windows,
                }
                for line in lines
            ]
        )
        return
    shown = table("survey", "title", "state", "reports", "next round", "kept", numbers=("reports",))
    for line in lines:
        following = "" if line.successor is None else line.successor[:12]
        state = "open" if line.open else "closed"
        shown.add_row(line.hash[:12], line.title, state, f"{counts.get(line.hash, 0):,}", following, _retention(line))
    console().print(shown)


def _retention(line: object) -> str:
    words = [
        f"{name} {counted(days, 'day')}"
        for name, days in (("reports", line.reports_days), ("receipts", line.receipts_days))  # type: ignore[attr-defined]
        if days is not None
    ]
    if line.receipt_windows is not None:  # type: ignore[attr-defined]
        words.append(f"receipts {counted(line.receipt_windows, 'earlier window')} while it runs")  # type: ignore[attr-defined]
    return ", ".join(words) or "indefinitely"


@survey.command()
@click.argument("name", metavar="SURVEY")
@database_option
@json_option
def close(name: str, database: str, as_json: bool) -> None:
    """Stop accepting reports for SURVEY."""
    _change(name, database, as_json, "close_survey", "closed")


@survey.command()
@click.argument("name", metavar="SURVEY")
@database_option
@json_option
def reopen(name: str, database: str, as_json: bool) -> None:
    """Accept reports for SURVEY again, unless its last day is over."""
    _change(name, database, as_json, "reopen_survey", "open")


@survey.command()
@click.argument("name", metavar="SURVEY")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@database_option
@json_option
def delete(name: str, yes: bool, database: str, as_json: bool) -> None:
    """Delete SURVEY with everything that was collected for it. This cannot be undone."""
    with opened_store(database) as store:
        survey_hash = named_survey(store, name)
        count = store.counted().get(survey_hash, 0)
        if not yes:
            click.confirm(f"Delete {survey_hash[:12]} with its {counted(count, 'report')} permanently?", abort=True, err=True)
        store.delete_survey(survey_hash)
        store.tidy()
    _answer(
        as_json,
        {"survey": survey_hash, "deleted_reports": count},
        f"{survey_hash[:12]} is deleted, with {counted(count, 'report')}",
    )


@survey.command("next")
@click.argument("name", metavar="SURVEY")
@click.option("--closes", metavar="DATE", help="The last day of the new round, such as 2027-03-31.")
@database_option
@json_option
def next_round(name: str, closes: str | None, database: str, as_json: bool) -> None:
    """Close SURVEY and open its next round, under a new hash.

    People can answer again, and pay again: each round has its own budget. Their ledgers add up what they spend on all rounds.
    """
    with opened_store(database) as store:
        survey_hash = named_survey(store, name)
        following = following_round(store.survey(survey_hash), closes)
        if not store.add_round(survey_hash, following):
            raise InvalidParameter(f"the round {following.hash[:12]} is there already; `deniable survey list` shows it")
    document = {"survey": following.hash, "title": following.title, "closed": survey_hash}
    _answer(as_json, document, f"{following.hash} is open: {following.title}\n{survey_hash[:12]} is closed")


def following_round(before: Survey, closes: str | None = None) -> Survey:
    """The same questions by the same mechanism, with another number in the title and no days but the new last one.

    >>> from deniable.core import Categories, make_mechanism
    >>> from deniable.surveys import Attribute
    >>> commute = make_mechanism("k-rr", domain=Categories(["bike", "bus"]), epsilon=1)
    >>> first = Survey(title="Travel", purpose="Buses.", attributes=[Attribute("how", "How?")], mechanism=commute, budget=1)
    >>> following_round(following_round(first)).title
    'Travel (round 3)'
    """
    parts = _ROUND.match(before.title)
    base, number = (parts[1], int(parts[2])) if parts else (before.title, 1)
    return replace(before, title=f"{base} (round {number + 1})", opens=None, closes=closes)


@survey.command()
@click.argument("name", metavar="SURVEY")
@click.option(
    "--reports", type=click.IntRange(0), metavar="DAYS", help="Delete single reports this many days after the survey closes."
)
@click.option(
    "--receipts",
    type=click.IntRange(0),
    metavar="DAYS",
    help="Delete the keys of counted reports this many days after the survey closes.",
)
@click.option(
    "--receipt-windows",
    "windows",
    type=click.IntRange(1, 100),
    metavar="COUNT",
    help="While the survey runs, keep the keys of this many windows before the present one; older ones are dropped.",
)
@database_option
@json_option
def keep(name: str, reports: int | None, receipts: int | None, windows: int | None, database: str, as_json: bool) -> None:
    """Set how long SURVEY's reports and receipts are kept.

    The limits begin when the survey closes. Without one, single reports and receipts are kept indefinitely, as the sums always
    are. A running collector deletes what is due within an hour. --receipt-windows bounds the receipts of a survey that runs
    for years: a report that is sent again later than that counts again.
    """
    with opened_store(database) as store:
        survey_hash = named_survey(store, name)
        if windows is not None and store.survey(survey_hash).window == "survey":
            raise InvalidParameter("--receipt-windows is for surveys with windows; this one asks once")
        store.keep_for(survey_hash, reports=reports, receipts=receipts, windows=windows)
        (line,) = store.lines([survey_hash])
    document = {"survey": survey_hash, "reports_days": reports, "receipts_days": receipts, "receipt_windows": windows}
    _answer(as_json, document, f"{survey_hash[:12]}: kept after closing: {_retention(line)}")


def _change(name: str, database: str, as_json: bool, method: str, state: str) -> None:
    with opened_store(database) as store:
        survey_hash = named_survey(store, name)
        getattr(store, method)(survey_hash)
    _answer(as_json, {"survey": survey_hash, "state": state}, f"{survey_hash[:12]} is {state}")


def _answer(as_json: bool, document: Mapping[str, object], words: str) -> None:
    if as_json:
        print_json(dict(document))
    else:
        click.echo(words)
