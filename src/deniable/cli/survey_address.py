"""Which survey is meant: its address, the dashboard's address, or that of a collector with one open survey."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import click

from deniable.errors import InvalidParameter, NotDelivered

if TYPE_CHECKING:
    from deniable.surveys import Survey

ca_option = click.option(
    "--ca",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="CA certificates (PEM) to trust instead of the system's.",
)
"""For every command that talks to a collector."""
FORM = "http://127.0.0.1:8000/v1/surveys/<hash>"
MOST_NAMED = 10
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)


class SurveyAddress(NamedTuple):
    """A collector and one of its surveys."""

    collector: str
    hash: str
    ca: str | None = None
    """The file with the certificates to believe."""

    @property
    def url(self) -> str:
        """Where the survey's document is."""
        return f"{self.collector}/v1/surveys/{self.hash}"

    def document(self) -> Survey:
        """The survey, fetched and checked against the hash."""
        from deniable.surveys import HttpTransport, Survey

        status, data = HttpTransport(ca=self.ca).get(self.url)
        if status == 404:
            raise NotDelivered(f"{self.collector} has no survey with this hash; `{self.collector}/` lists those it has")
        if status != 200:
            raise NotDelivered(f"{self.collector} does not give out the survey: {refusal_words(status, data)}")
        return Survey.from_json(data, hash=self.hash, allow_large=True)


def find_survey(url: str, option: str = "URL", *, ca: str | None = None) -> SurveyAddress:
    """The survey at an address; a collector's own address is enough when it has one open survey."""
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise InvalidParameter(f"{option} must be an address such as {FORM}")
    base, mark, name = url.strip().rstrip("/").partition("/v1/surveys")
    if not mark:
        # A dashboard page names the survey in its query.
        named = parse_qs(parts.query).get("survey", [""])[0]
        base = f"{parts.scheme}://{parts.netloc}{parts.path}"
        base = base[: base.rfind("/")] if named else base.rstrip("/")
        name = f"/{named}" if named else ""
    survey_hash = name.removeprefix("/").partition("/")[0]
    if survey_hash:
        if not _HASH.fullmatch(survey_hash):
            raise InvalidParameter(f"{option}: a survey's hash has 64 hexadecimal digits; write {FORM}")
        return SurveyAddress(base, survey_hash, ca)
    return SurveyAddress(base, _only_one(base, ca), ca)


def survey_at(source: str, ca: str | None = None) -> Survey:
    """The survey at an address, or in a file with its document."""
    from deniable.surveys import Survey

    if source.startswith(("http://", "https://")):
        return find_survey(source, "SURVEY", ca=ca).document()
    if not Path(source).is_file():
        raise InvalidParameter("SURVEY must be an address such as http://127.0.0.1:8000, or a file with a survey's document (JSON)")
    return Survey.from_json(Path(source).read_bytes(), allow_large=True)


def _only_one(base: str, ca: str | None) -> str:
    from deniable.surveys import HttpTransport

    transport, after = HttpTransport(ca=ca), ""
    listed: list[tuple[str, str]] = []
    while len(listed) <= MOST_NAMED:
        status, data = transport.get(f"{base}/v1/surveys{after}")
        if status != 200:
            raise NotDelivered(f"{base} does not list surveys: {refusal_words(status, data)}; is it a collector?")
        try:
            page: dict[str, Any] = json.loads(data)
            listed += [(str(line["hash"]), str(line["title"])) for line in page["surveys"] if line["open"]]
        except (ValueError, KeyError, TypeError):
            raise NotDelivered(f"{base} answers, but not as a collector does") from None
        if not page.get("after"):
            break
        after = f"?after={page['after']}"
    if not listed:
        raise InvalidParameter(f"{base} has no open survey; begin one with `deniable serve survey.toml`")
    if len(listed) > 1:
        lines = [f"{title}: {base}/v1/surveys/{name}" for name, title in listed[:MOST_NAMED]]
        number = f"more than {MOST_NAMED}" if len(listed) > MOST_NAMED else len(listed)
        raise InvalidParameter(f"{base} has {number} open surveys; give the address of one of them: {'; '.join(lines)}")
    return listed[0][0]


def token_from(path: str | None, variable: str) -> str | None:
    """The token of a file or of the environment, or None; never from the command line, which others can see, and never shown."""
    from deniable.surveys import checked_token

    try:
        text = Path(path).read_text(encoding="ascii") if path is not None else os.environ.get(variable, "")
    except UnicodeDecodeError:
        text = "not ASCII"
    return checked_token(text.strip()) if text.strip() or path is not None else None


def refusal_words(status: int, data: bytes) -> str:
    """What a collector said when it refused, in its own words where there are some."""
    try:
        words = json.loads(data)["error"]
        if isinstance(words, str) and words.isprintable():
            return f"{words[:300]} (status {status})"
    except (ValueError, KeyError, TypeError):
        pass
    return f"status {status}"
