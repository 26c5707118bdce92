"""`deniable shuffle`: between devices and a collector, so that no report can be followed by its time or place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from deniable.cli.listening import announce, listen, listening_options, serving_of
from deniable.cli.survey_address import SurveyAddress, ca_option, find_survey
from deniable.cli.terminal import print_json
from deniable.errors import InvalidParameter, NotDelivered

if TYPE_CHECKING:
    from deniable.collector import Mixing
    from deniable.surveys import Survey


@click.command(short_help="Mix encrypted reports, and pass them on in batches.")
@click.argument("surveys", nargs=-1, metavar="SURVEY...")
@click.option(
    "--new-key", type=click.Path(dir_okay=False), metavar="FILE", help="Make the collector's key, print its public part, and stop."
)
@click.option(
    "--database",
    default="shuffle.db",
    show_default=True,
    type=click.Path(dir_okay=False),
    help="The file that holds waiting reports.",
)
@click.option(
    "--at-least",
    default=100,
    show_default=True,
    type=click.IntRange(2),
    help="Never pass on fewer reports than this, whatever the survey says.",
)
@click.option(
    "--gateway-keys",
    type=click.Path(dir_okay=False),
    help="Accept reports from a relay, with the keys in this file (created if missing).",
)
@ca_option
@listening_options(8030)
def shuffle(
    surveys: tuple[str, ...],
    new_key: str | None,
    database: str,
    at_least: int,
    gateway_keys: str | None,
    ca: str | None,
    as_json: bool,
    **where: Any,
) -> None:
    """Hold reports until there are enough, then pass them on in random order. SURVEY is a survey's address at its collector.

    Reports are encrypted to the collector. The shuffler learns that someone takes part but not what they report; the collector
    reads the reports but does not learn who sent them or when. This works only if different people run the two.
    """
    import deniable.collector as collector
    from deniable.surveys import HttpTransport

    if new_key is not None:
        keys = collector.gateway_keys(new_key)
        public = next(iter(keys.keys.values())).public_key().public_bytes_raw().hex()
        print_json({"key": public, "file": new_key}) if as_json else click.echo(public)
        return
    if not surveys:
        raise InvalidParameter("SURVEY is missing: the address of a survey at its collector")
    targets = [find_survey(source, "SURVEY", ca=ca) for source in surveys]
    mixing = collector.Mixing(database)
    destinations = {target.hash: collector.Destination(_survey_of(target, mixing), target.collector) for target in targets}
    app: Any = collector.Shuffler(mixing, destinations, HttpTransport(ca=ca), at_least=at_least)
    if gateway_keys is not None:
        app = collector.Gateway(app, collector.gateway_keys(gateway_keys))
    serving = serving_of(**where)
    listening, address = listen(serving)
    said = {"address": address, "surveys": sorted(destinations)}
    collector.serve_app(app, serving, listening, ready=lambda: announce(f"Shuffling at {address}", said, as_json=as_json))


def _survey_of(target: SurveyAddress, mixing: Mixing) -> Survey:
    """The collector's document; the remembered one while the collector is away, so that both may restart in any order."""
    from deniable.surveys import Survey

    try:
        survey = target.document()
    except NotDelivered as error:
        kept = mixing.document(target.hash)
        if kept is None:
            raise
        click.echo(f"deniable: {error}; going on with the survey as it was fetched before", err=True)
        return Survey.from_json(kept, hash=target.hash, allow_large=True)
    mixing.keep_document(survey.hash, survey.to_json())
    return survey
