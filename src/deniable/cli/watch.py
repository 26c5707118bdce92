"""`deniable watch`: a survey's estimates in the terminal, as they come in."""

from __future__ import annotations

import json
import time
from typing import Any

import click

from deniable.cli.survey_address import SurveyAddress, ca_option, find_survey, said
from deniable.cli.terminal import console, print_json, table
from deniable.errors import NotDelivered

MOST_ROWS = 12


@click.command()
@click.argument("url")
@click.option("--every", default=2.0, show_default=True, type=click.FloatRange(0.2, 3600), help="Seconds between looks.")
@ca_option
@click.option("--once", is_flag=True, help="Look once and stop.")
@click.option("--json", "as_json", is_flag=True, help="Print the estimates as JSON, once.")
def watch(url: str, every: float, ca: str | None, once: bool, as_json: bool) -> None:
    """Show the live estimates of the survey at URL, or of the one open survey of the collector at URL."""
    survey = find_survey(url, ca=ca)
    if as_json:
        print_json(_estimates(survey))
        return
    out = console()
    if once or not out.is_terminal:
        for part in _tables(_estimates(survey)):
            out.print(part)
        return
    from rich.console import Group
    from rich.live import Live

    shown = _tables(_estimates(survey))
    with Live(Group(*shown), console=out, refresh_per_second=4) as live:
        try:
            while True:
                time.sleep(every)
                try:
                    shown = _tables(_estimates(survey))
                    live.update(Group(*shown))
                except NotDelivered as error:  # a collector that restarts comes back
                    live.update(Group(*shown, f"{error} These are the numbers from before."))
        except KeyboardInterrupt:
            return


def _estimates(survey: SurveyAddress) -> dict[str, Any]:
    from deniable.client import HttpTransport

    status, data = HttpTransport(ca=survey.ca).get(f"{survey.url}/estimates")
    if status != 200:
        raise NotDelivered(f"the collector has no estimates there: {said(status, data)}")
    found: dict[str, Any] = json.loads(data)
    return found


def _tables(found: dict[str, Any]) -> list[Any]:
    """One table per view that is short enough to read."""
    from rich.text import Text

    made: list[Any] = []
    for attribute in found["attributes"]:
        title = f"{attribute['question']} ({attribute['n']:,} of {found['n']:,} reports, {attribute['mechanism']})"
        made.append(Text(title, style="bold"))
        if attribute["note"]:
            made.append(Text(f"  {attribute['note']}\n"))
        for view in attribute["views"]:
            rows = view["rows"]
            if view["what"] == "distribution":
                continue
            made.append(_table(view["what"], rows, percent=view["what"] in ("frequency", "words")))
    return made


def _table(what: str, rows: list[dict[str, Any]], *, percent: bool) -> Any:
    made = table(what, "estimate", "95 % from", "to", numbers=("estimate", "95 % from", "to"))
    from rich.markup import escape

    shown = sorted(rows, key=lambda row: -row["value"]) if percent else rows
    for row in shown[:MOST_ROWS]:
        scale, form = (100, "{:.1f} %") if percent else (1, "{:.4g}")
        made.add_row(escape(row["label"]), *(form.format(scale * row[name]) for name in ("value", "low", "high")))
    if len(shown) > MOST_ROWS:
        made.add_row(f"… {len(shown) - MOST_ROWS} more", "", "", "")
    return made
