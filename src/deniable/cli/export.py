"""`deniable export`: what a collector has, as a Parquet file."""

from __future__ import annotations

import errno
import http.client
import os
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO

import click

from deniable.cli.recipes import recipe_beside, write_recipe
from deniable.cli.survey_address import ca_option, find_survey, refusal_words, token_from
from deniable.cli.terminal import byte_progress, counted, print_json
from deniable.errors import InvalidParameter, NotDelivered

TOKEN = "DENIABLE_TOKEN"  # noqa: S105 - the name of a variable
PIECE = 1 << 16
PATIENCE = 120.0
MARK = b"PAR1"
"""How every Parquet file begins and ends."""
OUR_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What goes wrong here, and not at the collector."""


@click.command(short_help="Save a collector's reports or sums as a Parquet file.")
@click.argument("url")
@click.option("--reports", "what", flag_value="reports", help="Single reports, if the survey said that it keeps them.")
@click.option("--accumulators", "what", flag_value="sums", help="The sums, one row per window and shard.")
@click.option("--output", "-o", required=True, type=click.Path(dir_okay=False), metavar="FILE.parquet", help="Where it goes.")
@click.option("--token-file", type=click.Path(exists=True, dir_okay=False), help=f"A file with an admin token; else ${TOKEN}.")
@ca_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def export(url: str, what: str | None, output: str, token_file: str | None, ca: str | None, as_json: bool) -> None:
    """Save what the collector has of the survey at URL: --reports or --accumulators.

    Needs an admin token, which `deniable token` makes on the collector's machine. It is read from the environment or from a
    file, never from the command line, which others on this machine can see. The file appears when it is complete, or not at all.
    With --reports the recipe is written beside it, so that `deniable estimate FILE.parquet` can read it.
    """
    if what is None:
        raise click.UsageError("say what to export: --reports or --accumulators")
    token = admin_token(token_file)
    folder = Path(output).parent
    if not folder.is_dir():
        raise InvalidParameter(f"--output: there is no folder {folder}")
    place = find_survey(url, ca=ca)
    survey = place.document()
    address = f"{place.collector}/v1/admin/surveys/{place.hash}/export?what={what}"
    with byte_progress("receiving", None, hidden=as_json) as advance:
        size = _saved(address, token, ca, Path(output), advance)
    recipe = None
    if what == "reports":
        recipe = str(recipe_beside(output))
        write_recipe(survey.mechanism, recipe)
    if as_json:
        print_json({"survey": place.hash, "what": what, "bytes": size, "output": output, "recipe_file": recipe})
    else:
        click.echo(f"{output}: {counted(size, 'byte')}" + (f"; estimate with: deniable estimate {output}" if recipe else ""))


def admin_token(path: str | None) -> str:
    """The token; never shown, whatever is wrong with it."""
    token = token_from(path, TOKEN)
    if token is None:
        raise InvalidParameter(f"an admin token is needed: set {TOKEN}, or give --token-file; `deniable token NAME` makes one")
    return token


def _saved(url: str, token: str, ca: str | None, path: Path, advance: Callable[[int], None]) -> int:
    """Fetch into a file beside `path` and put it in place when all of it is there and on disk."""
    from deniable.surveys import checked_url, not_reached, open_request

    request = urllib.request.Request(checked_url(url))  # noqa: S310 - checked
    number, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(number, "w+b") as file:
            try:
                with open_request(request, PATIENCE, token=token, ca=ca, endless=True) as answer:
                    size = _copied(answer, file, advance)
            except urllib.error.HTTPError as answer:
                with answer:
                    raise NotDelivered(_refused(answer.code, answer.read(1 << 16))) from None
            except urllib.error.URLError as error:
                raise not_reached(url, error) from None
            except (OSError, http.client.HTTPException) as error:
                if isinstance(error, OSError) and error.errno in OUR_DISK:
                    raise
                raise NotDelivered("the collector was cut off; nothing was saved") from None
            file.flush()
            _check_whole(file, size)
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in OUR_DISK:
            raise InvalidParameter(f"--output: {error.strerror}; nothing was saved") from None
        raise
    return size


def _copied(answer: IO[bytes], file: IO[bytes], advance: Callable[[int], None]) -> int:
    size = 0
    while data := answer.read(PIECE):
        file.write(data)
        size += len(data)
        advance(len(data))
    return size


def _check_whole(file: IO[bytes], size: int) -> None:
    """A Parquet file that was cut off lacks its end."""
    file.seek(0)
    begins = file.read(4)
    file.seek(max(size - 4, 0))
    if size < 12 or begins != MARK or file.read(4) != MARK:
        raise NotDelivered("the collector's answer is not a whole Parquet file; nothing was saved")


def _refused(status: int, data: bytes) -> str:
    refusal = "does not export this"
    if status in (401, 403):
        refusal = "does not take this token for administration; `deniable token NAME` makes one"
    return f"the collector {refusal}: {refusal_words(status, data)}"
