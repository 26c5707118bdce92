"""`deniable ingest`: files of wire batches, counted exactly once, so that a log pipeline can be a collector's front end."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import click

from deniable.cli.database_option import database_option, json_option, named_survey, opened_store
from deniable.cli.terminal import counted, print_json
from deniable.errors import InvalidParameter, Malformed, WireError
from deniable.surveys import KEY_BYTES, decode_batch

MOST_BYTES = 1 << 28
NAMED = 3
"""Files that are named for each reason."""


@click.command(short_help="Count files of reports, each exactly once.")
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False))
@click.option("--survey", "-s", "name", required=True, help="The survey's hash, or its first digits.")
@database_option
@json_option
def ingest(folder: str, name: str, database: str, as_json: bool) -> None:
    """Count every file in DIR: batches as devices send them, or bare reports in wire form.

    A batch counts under its own key, bare reports under the hash of their bytes. So a file counts once even if it has a copy
    under another name or was also sent to the collector, and a run that was stopped can simply be repeated. Files stay
    where they are. They may come after the survey's last day; a survey that was closed by hand counts nothing more.
    """
    accepted = known = 0
    refused: dict[str, list[str]] = {}
    paths = sorted(path for path in Path(folder).iterdir() if _is_ours(path))
    if not paths:
        raise InvalidParameter("DIR has no files")
    with opened_store(database) as store:
        survey = store.survey(named_survey(store, name))
        if not store.open_hashes()[survey.hash]:
            raise InvalidParameter(f"the survey is closed; `deniable survey reopen {survey.hash[:12]}` lets it count reports again")
        for path in paths:
            try:
                arrival = _arrival(survey, path)
            except WireError as error:
                refused.setdefault(str(error), []).append(path.name)
                continue
            except OSError as error:
                refused.setdefault(f"the file cannot be read: {error.strerror}", []).append(path.name)
                continue
            (new,) = store.count([arrival])
            accepted += arrival.count if new else 0
            known += 0 if new else arrival.count
        store.tidy()
    document = {
        "survey": survey.hash,
        "files": len(paths),
        "accepted": accepted,
        "known": known,
        "refused": {why: len(names) for why, names in refused.items()},
        "refused_files": sorted(name for names in refused.values() for name in names),
    }
    if as_json:
        print_json(document)
    else:
        click.echo(f"{counted(accepted, 'report')} counted, {known:,} counted before, from {counted(len(paths), 'file')}")
    for why, names in sorted(refused.items()):
        some = ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED:,} more" if len(names) > NAMED else "")
        click.echo(f"deniable: not counted: {len(names):,} of {counted(len(paths), 'file')}: {why} ({some})", err=True)
    if refused:
        click.get_current_context().exit(1)


def _is_ours(path: Path) -> bool:
    """A file, or a link that leads nowhere: somebody meant a file."""
    return not path.name.startswith(".") and (path.is_file() or (path.is_symlink() and not path.exists()))


def _arrival(survey: Any, path: Path) -> Any:
    from deniable.batch import Reports
    from deniable.collector import Arrival, current_period

    if path.stat().st_size > MOST_BYTES:
        raise Malformed(f"a file may have at most {MOST_BYTES} bytes")
    data = path.read_bytes()
    try:
        key, frame = decode_batch(survey, data)
    except Malformed:  # no batch; it may be bare reports
        key, frame = hashlib.sha256(data).digest()[:KEY_BYTES], memoryview(data)
    reports = Reports.from_bytes(survey.mechanism, bytes(frame))
    return Arrival(survey, current_period(survey), key, reports, len(reports))
