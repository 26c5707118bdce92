"""`deniable serve`: the collector of a survey."""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any, NamedTuple

import click

from deniable.cli.listening import (
    WORKER,
    address_of,
    address_options,
    connection_options,
    proxy_options,
    serving_of,
    tls_options,
    workers_option,
)
from deniable.cli.serve_settings import PREFIX, hide_password, read_settings, waiting_for
from deniable.errors import DeniableError, InvalidParameter

MOST_SHOWN = 20
"""Surveys that are listed at the start, when no file says which."""


@click.command(context_settings={"auto_envvar_prefix": PREFIX})
@click.option(
    "--settings",
    type=click.Path(exists=True, dir_okay=False),
    is_eager=True,
    expose_value=False,
    callback=read_settings,
    metavar="FILE.toml",
    help=f"Options in a file, by their names. Every option can also be a variable of the environment, such as {PREFIX}_PORT.",
)
@click.argument("surveys", nargs=-1, type=click.Path(exists=True, dir_okay=False))
@click.option("--database", default="sqlite:///collector.db", show_default=True, help="sqlite:/// or postgresql+psycopg:// URL.")
@address_options(port=8000)
@workers_option
@click.option(
    "--origin",
    "origins",
    multiple=True,
    envvar=f"{PREFIX}_ORIGIN",
    help="A web page's origin that may send reports (CORS); may be repeated.",
)
@click.option("--submit-needs-token", is_flag=True, help="Accept reports only with a token.")
@click.option(
    "--write-at-least",
    default=1,
    show_default=True,
    type=click.IntRange(1, 1000),
    help="Write at least this many reports of a window at once; fewer wait in memory, and their devices are told to retry.",
)
@tls_options
@proxy_options
@connection_options
@click.option(
    "--gateway-keys",
    type=click.Path(dir_okay=False),
    help="Accept reports from a relay, with the keys in this file (created if missing).",
)
@click.option(
    "--analyst-key",
    type=click.Path(exists=True, dir_okay=False),
    help="Accept shuffled reports, with the key in this file (`deniable shuffle --new-key` makes it).",
)
@click.option("--access-log", is_flag=True, help="Log every request's address and path. Off by default: addresses are personal.")
@click.option("--log", type=click.Choice(["text", "json"]), default="text", show_default=True, help="The format of log lines.")
@click.option(
    "--wait", default=60.0, show_default=True, type=click.FloatRange(0), help="Seconds to wait for the database to start."
)
@click.option("--no-dashboard", is_flag=True, help="Serve the API only.")
@click.option("--json", "as_json", is_flag=True, envvar=f"{PREFIX}_JSON", help="Say where it listens as JSON.")
def serve(
    surveys: tuple[str, ...],
    database: str,
    host: str,
    port: int,
    workers: int,
    origins: tuple[str, ...],
    submit_needs_token: bool,
    write_at_least: int,
    tls_certificate: str | None,
    tls_key: str | None,
    proxies: tuple[str, ...],
    allow_plain_http: bool,
    connections: int,
    connections_per_address: int,
    gateway_keys: str | None,
    analyst_key: str | None,
    access_log: bool,
    log: str,
    wait: float,
    no_dashboard: bool,
    as_json: bool,
) -> None:
    """Collect answers to SURVEYS (TOML files): count each report once, show estimates."""
    import deniable.collector as collector

    serving = serving_of(
        host=host,
        port=port,
        tls_certificate=tls_certificate,
        tls_key=tls_key,
        proxies=proxies,
        allow_plain_http=allow_plain_http,
        connections=connections,
        connections_per_address=connections_per_address,
        database=database,
        origins=origins,
        submit_needs_token=submit_needs_token,
        write_at_least=write_at_least,
        access_log=access_log,
        log=log,
        gateway_keys=gateway_keys,
        analyst_key=analyst_key,
        pages=list if no_dashboard else _dashboard_pages,
    )
    hide_password(click.get_current_context(), database)
    if WORKER in os.environ:
        collector.serve(serving, socket.socket(fileno=int(os.environ[WORKER])))
        return
    # Where it listens first: planning a survey takes seconds, and a taken port would waste them.
    listening = collector.listening_socket(host, port)
    waiting_for(lambda: collector.Store(database), wait).close()
    opened = _open_surveys(collector, database, surveys)
    if gateway_keys is not None:
        collector.gateway_keys(gateway_keys)  # made once, before several workers look for it
    address = address_of(host, listening.getsockname()[1], secure=tls_certificate is not None)
    if workers > 1:
        _announce(address, opened, as_json, not no_dashboard)
        sys.exit(collector.run_workers(sys.argv[1:], workers, listening, log=serving.log))
    collector.serve(serving, listening, ready=lambda: _announce(address, opened, as_json, not no_dashboard))


def _dashboard_pages() -> list[Any]:
    from deniable.collector import routes

    return list(routes())


class Opened(NamedTuple):
    """A survey, why its mechanisms were chosen, and whether it still takes reports."""

    survey: Any
    reasons: dict[str, str]
    open: bool


def _open_surveys(collector: Any, database: str, paths: tuple[str, ...]) -> list[Opened]:
    """The surveys of the files, or every open one of the database."""
    texts = {path: _text(path) for path in paths}
    store = collector.Store(database)
    try:
        if not texts:
            names = sorted(name for name, is_open in store.open_hashes().items() if is_open)[:MOST_SHOWN]
            return [Opened(survey, store.reasons(survey.hash), True) for survey in map(store.survey, names)]
        planned = [one for path, text in texts.items() for one in _open_survey(collector, store, path, text)]
        still = store.open_hashes()
        return [Opened(one.survey, one.reasons, still[one.survey.hash]) for one in planned]
    finally:
        store.close()


def _open_survey(collector: Any, store: Any, path: str, text: str) -> list[Any]:
    try:
        return [one for one, _ in collector.opened(store, text).values()]
    except DeniableError as error:
        raise InvalidParameter(f"{Path(path).name}: {error}") from None


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InvalidParameter(f"{Path(path).name} is not a text file in UTF-8; a survey is written in TOML") from None


def _announce(address: str, opened: list[Opened], as_json: bool, dashboard: bool) -> None:
    if as_json:
        listed = [
            {
                "title": one.survey.title,
                "hash": one.survey.hash,
                "url": f"{address}/v1/surveys/{one.survey.hash}",
                "open": one.open,
                "release": one.survey.release_words,
                "reasons": one.reasons,
            }
            for one in opened
        ]
        click.echo(json.dumps({"address": address, "surveys": listed}))
    else:
        click.echo(f"Collecting at {address}")
        if dashboard:
            click.echo(f"  Dashboard: {address}/")
        for one in opened:
            click.echo(f"  {one.survey.title}: {address}/v1/surveys/{one.survey.hash}{'' if one.open else ' (closed)'}")
            for name, why in one.reasons.items():
                click.echo(f"    {name}: {why}")
            click.echo(f"    {one.survey.release_words}")
        if not opened:
            click.echo("  No survey is open yet: give a survey file, or open one with a token (POST /v1/admin/surveys).")
        click.echo("Stop with Ctrl-C.")
    sys.stdout.flush()
