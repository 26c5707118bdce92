"""`deniable watch`: a survey's estimates in the terminal, as they come in."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from typing import Any

import click

from deniable.cli.export import TOKEN, admin_token
from deniable.cli.survey_address import SurveyAddress, ca_option, find_survey, refusal_words
from deniable.cli.terminal import console, print_json, table
from deniable.errors import InvalidParameter, NotDelivered

MOST_ROWS = 12
PERCENT = ("frequency", "words", "items", "sizes", "keys", "key-distributions", "cumulative", "tables", "trend")
PATIENCE = 30.0


@click.command()
@click.argument("url")
@click.option("--every", default=2.0, show_default=True, type=click.FloatRange(0.2, 3600), help="Seconds between updates.")
@ca_option
@click.option("--once", is_flag=True, help="Print the estimates once and stop.")
@click.option("--live", "everything", is_flag=True, help="Include reports that are not public yet; needs an admin token.")
@click.option("--token-file", type=click.Path(exists=True, dir_okay=False), help=f"A file with the token; else ${TOKEN}.")
@click.option("--json", "as_json", is_flag=True, help="Print the estimates as JSON, once.")
def watch(url: str, every: float, ca: str | None, once: bool, everything: bool, token_file: str | None, as_json: bool) -> None:
    """Follow the estimates of a survey. URL is its address, or its collector's if only one survey is open.

    The numbers change in the steps that the survey's document promises. With --live, the operator sees every report counted.
    """
    if token_file is not None and not everything:
        raise InvalidParameter("--token-file is for --live: public estimates need no token")
    token = admin_token(token_file) if everything else None
    survey = find_survey(url, ca=ca)
    if as_json:
        print_json(_estimates(survey, token))
        return
    out = console()
    if once or not out.is_terminal:
        for part in _tables(_estimates(survey, token)):
            out.print(part)
        return
    from rich.console import Group
    from rich.live import Live

    shown = _tables(_estimates(survey, token))
    with Live(Group(*shown), console=out, refresh_per_second=4) as live:
        try:
            while True:
                time.sleep(every)
                try:
                    shown = _tables(_estimates(survey, token))
                    live.update(Group(*shown))
                except NotDelivered as error:  # a collector that restarts comes back
                    live.update(Group(*shown, f"{error} These are the numbers from before."))
        except KeyboardInterrupt:
            return


def _estimates(survey: SurveyAddress, token: str | None) -> dict[str, Any]:
    from deniable.surveys import HttpTransport

    url = f"{survey.url}/estimates"
    status, data = HttpTransport(ca=survey.ca).get(url) if token is None else _everything(url, token, survey.ca)
    if status != 200:
        raise NotDelivered(f"the collector has no estimates there: {refusal_words(status, data)}")
    document: dict[str, Any] = json.loads(data)
    if token is not None and (document["as_of"] or document["waiting"]):
        raise NotDelivered("the collector does not take this token for administration; `deniable token NAME` makes one")
    return document


def _everything(url: str, token: str, ca: str | None) -> tuple[int, bytes]:
    from deniable.surveys import checked_url, not_reached, open_request

    request = urllib.request.Request(checked_url(url))  # noqa: S310 - checked
    try:
        with open_request(request, PATIENCE, token=token, ca=ca) as answer:
            return int(answer.status), bytes(answer.read())
    except urllib.error.HTTPError as answer:
        with answer:
            return answer.code, answer.read(1 << 16)
    except (OSError, http.client.HTTPException) as error:
        raise not_reached(url, error) from None


def _tables(document: dict[str, Any]) -> list[Any]:
    """One table per view that is short enough to read."""
    from rich.text import Text

    if document["waiting"]:
        return [Text(document["title"], style="bold"), Text(f"  {document['waiting']}"), Text(f"  {document['release']}")]
    blocks: list[Any] = []
    for attribute in document["attributes"]:
        title = f"{attribute['question']} ({attribute['n']:,} of {document['n']:,} reports, {attribute['mechanism']})"
        blocks.append(Text(title, style="bold"))
        if attribute["note"]:
            blocks.append(Text(f"  {attribute['note']}\n"))
        for view in attribute["views"]:
            rows = view["rows"]
            if view["what"] == "distribution":
                continue
            blocks.append(_table(view["what"], rows, percent=view["what"] in PERCENT))
    if any(attribute["views"] for attribute in document["attributes"]):
        blocks.append(Text("In 95 of 100 such surveys each interval on its own holds the true value."))
    if document["as_of"]:
        blocks.append(Text(f"As of {document['as_of']}. {document['release']}"))
    return blocks


def _table(what: str, rows: list[dict[str, Any]], *, percent: bool) -> Any:
    grid = table(what, "estimate", "95 % from", "to", numbers=("estimate", "95 % from", "to"))
    from rich.markup import escape

    in_order = (
        not percent or what in ("cumulative", "sizes", "key-distributions", "tables", "trend") or rows[0].get("start") is not None
    )  # bins of a number
    shown = rows if in_order else sorted(rows, key=lambda row: -row["value"])
    if what == "trend":  # the latest windows, the last one at the bottom
        shown = shown[-MOST_ROWS:]
    for row in shown[:MOST_ROWS]:
        scale, form = (100, "{:.1f} %") if percent else (1, "{:.4g}")
        grid.add_row(escape(row["label"]), *(form.format(scale * row[name]) for name in ("value", "low", "high")))
    if len(shown) > MOST_ROWS:
        grid.add_row(f"… {len(shown) - MOST_ROWS} more", "", "", "")
    return grid
