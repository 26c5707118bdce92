"""`deniable submit`: rows of a file, each randomized here as a device of its own would, and handed to a collector."""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from deniable.cli.submit_journal import Journal, usual_place
from deniable.cli.submit_rows import Answered, by_reason, left_empty, read_answers
from deniable.cli.survey_address import ca_option, find_survey, refusal_words, token_from
from deniable.cli.terminal import counted, print_json
from deniable.core import Epsilon, Record, meaning, show_fraction
from deniable.errors import InvalidEpsilon, InvalidParameter, NotAdmitted, NotDelivered
from deniable.surveys import BATCH_TYPE, USUAL_LIMIT, HttpTransport, Patience, Survey, Transport, batch_head, encode_batch

BATCH = 5000
TOKEN = "DENIABLE_SUBMIT_TOKEN"  # noqa: S105 - the name of a variable
NO_TOKEN = (401, 403)
LATER = (429, 503)


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--survey", "-s", "url", required=True, help="The survey's address, or its collector's: http://127.0.0.1:8000.")
@click.option("--column", "-c", multiple=True, help="The column with the answers; by default the attributes' own names.")
@click.option(
    "--identity",
    metavar="COLUMN",
    help="The column that identifies each person, so that nobody is submitted twice, even from different files.",
)
@click.option("--again", is_flag=True, help="Submit rows even if they were submitted before; they count as new people.")
@click.option(
    "--journal",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Where to record what was submitted; by default in the user's folder.",
)
@click.option("--max-epsilon", default=str(USUAL_LIMIT), show_default=True, help="The most that one row's report may cost.")
@click.option(
    "--token-file", type=click.Path(exists=True, dir_okay=False), help=f"A file with a token, where one is needed; else ${TOKEN}."
)
@ca_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def submit(
    file: str,
    url: str,
    column: tuple[str, ...],
    identity: str | None,
    again: bool,
    journal: str | None,
    max_epsilon: str,
    token_file: str | None,
    ca: str | None,
    as_json: bool,
) -> None:
    """Randomize every row of FILE (CSV, JSON lines or Parquet) on this machine and submit the reports.

    Every row counts as one person's answer. The true values never leave this process. A file is not submitted twice, nor, with
    --identity, is a person. If a run is stopped, the next one continues it. For answers of one person, with a ledger and
    a budget, use deniable.surveys. If the collector requires a token, it is read from --token-file or the environment, and sent
    only over HTTPS or on this machine.
    """
    if file != "-" and not Path(file).exists():
        raise click.UsageError(f"there is no file {file[-60:]!r}")
    token = token_from(token_file, TOKEN)
    place = find_survey(url, "--survey", ca=ca)
    survey = place.document()
    _check(survey, Epsilon(max_epsilon, allow_large=True).exact)
    rows, content = read_answers(survey, file, column, identity)
    sending = _Sending(survey, place.collector, HttpTransport(timeout=60, token=token, ca=ca))
    book = None if again else Journal(journal or usual_place(), survey.hash)
    if book is not None:
        for number, body in book.waiting():
            sending.deliver(body)
            book.acknowledged(number)
    hidden = as_json or not sys.stderr.isatty()
    with click.progressbar(range(0, len(rows), BATCH), label="submitting", file=sys.stderr, hidden=hidden) as starts:
        for start in starts:
            sending.take(rows[start : start + BATCH], book, None if identity else content + start.to_bytes(8, "big"))
    _summarize(sending, rows, as_json)


class _Sending:
    """A survey, its collector, and what became of the rows."""

    def __init__(self, survey: Survey, collector: str, transport: Transport) -> None:
        self.survey, self.collector, self._transport = survey, collector, transport
        self.accepted = self.known = self.before = self.unpicked = 0

    def take(self, rows: Sequence[Answered], book: Journal | None, part: bytes | None) -> None:
        """Draw and send those of some rows that can be and were not; `part` names the rows when they have no identity."""
        good = [row for row in rows if row.refused is None]
        # Another run of the same command may take some of them first; then those that are left are drawn anew.
        while not self._taken(good, book, part):
            pass

    def _taken(self, good: Sequence[Answered], book: Journal | None, part: bytes | None) -> bool:
        digests: list[bytes] = []
        before = 0
        if book is not None:
            named = [book.digest(part if part is not None else b"person:" + row.identity.encode()) for row in good]
            known = book.known(set(named))
            fresh: dict[bytes, list[Answered]] = {}
            for digest, row in zip(named, good, strict=True):
                if digest not in known and (part is not None or digest not in fresh):
                    fresh.setdefault(digest, []).append(row)
            chosen = [row for group in fresh.values() for row in group]
            before = len(good) - len(chosen)
            good, digests = chosen, list(fresh)
        body, unpicked = _drawn(self.survey, good) if good else (b"", 0)
        number = book.add(digests, body) if book is not None and good else 0
        if number is None:
            return False
        self.before += before
        self.unpicked += unpicked
        if good:
            self.deliver(body)
            if book is not None:
                book.acknowledged(number)
        return True

    def deliver(self, body: bytes) -> None:
        """One batch under one key, sent until it is acknowledged."""
        patience = Patience(attempts=8)
        for attempt in range(patience.attempts):
            if attempt:
                patience.wait(attempt - 1)
            try:
                status, answer = self._transport.post(f"{self.collector}/v1/surveys/{self.survey.hash}/batches", body, BATCH_TYPE)
            except NotDelivered:
                continue
            if status == 200:
                counts: dict[str, int] = json.loads(answer)
                self.accepted += counts["accepted"]
                self.known += counts["known"]
                return
            if status in NO_TOKEN:
                step = (
                    f"set {TOKEN}, or give --token-file; `deniable token NAME --role submit` makes one on the collector's machine"
                )
                raise NotAdmitted(f"the collector takes reports only with a token: {step} ({refusal_words(status, answer)})")
            if status not in LATER:
                raise NotDelivered(f"the collector refused the reports: {refusal_words(status, answer)}")
        raise NotDelivered("the collector cannot be reached; nothing more was sent. The same command goes on from here")


def _check(survey: Survey, most: Fraction) -> None:
    """The survey came from outside: what it costs is the user's decision."""
    if survey.changes is not None:
        raise InvalidParameter(
            "the survey asks for changes, and only devices that remember what they answered before can report those: "
            "use deniable.surveys.Session, one for each person, in every window"
        )
    cost = survey.mechanism.privacy.exact
    if cost > most:
        raise InvalidEpsilon(
            f"the survey costs epsilon={show_fraction(cost)} for each answer, more than --max-epsilon {show_fraction(most)}. "
            f"{meaning(cost)} If you accept that for everyone in the file, raise --max-epsilon"
        )


def _drawn(survey: Survey, rows: Sequence[Answered]) -> tuple[bytes, int]:
    """A batch, and of how many people the picked question has no answer.

    A row with a gap is drawn like any other, with some value in the gap; if the gap's question is the one that is picked, the
    report is thrown away. Which question is picked does not depend on the answers, so what is sent has the mechanism's own law.
    """
    whole = [row.value for row in rows if not row.missing]
    # How the rows lie in the file is nobody's business.
    secrets.SystemRandom().shuffle(whole)
    mechanism = survey.mechanism
    values: Any = whole
    if isinstance(mechanism.domain, Record):
        values = {name: [value[name] for value in whole] for name in mechanism.domain.fields}
    partial = [row for row in rows if row.missing]
    if not partial:
        return batch_head(survey) + mechanism.randomize_many(values).to_bytes(), 0
    reports = list(mechanism.randomize_many(values)) if whole else []
    fillers = {name: part.domain.decode(0) for name, part in survey.parts.items()}
    unpicked = 0
    for row in partial:
        report = mechanism.randomize({**fillers, **row.value})
        if set(mechanism.split_output(report.output)) & set(row.missing):  # type: ignore[attr-defined]
            unpicked += 1
        else:
            reports.append(report)
    secrets.SystemRandom().shuffle(reports)
    return encode_batch(survey, reports), unpicked


def _summarize(sending: _Sending, rows: Sequence[Answered], as_json: bool) -> None:
    reasons = by_reason(rows)
    refused = sorted(number for numbers in reasons.values() for number in numbers)
    if as_json:
        print_json(
            {
                "survey": sending.survey.hash,
                "rows": len(rows),
                "accepted": sending.accepted,
                "known": sending.known,
                "submitted_before": sending.before,
                "no_answer_to_the_picked_question": sending.unpicked,
                "refused_rows": refused,
                "refused": [{"column": name, "reason": why, "rows": numbers} for (name, why), numbers in reasons.items()],
            }
        )
    else:
        click.echo(f"{counted(sending.accepted, 'report')} counted by {sending.collector}")
    count = f"of {counted(len(rows), 'row')}"
    if sending.before:
        click.echo(
            f"deniable: not sent: {sending.before:,} {count}, submitted before; --again sends such rows as new people", err=True
        )
    if sending.unpicked:
        click.echo(f"deniable: not sent: {sending.unpicked:,} {count}, without an answer to the question that was picked", err=True)
    for (name, why), numbers in reasons.items():
        click.echo(f"deniable: {name} {why} in {len(numbers):,} {count}, not sent: {_named(numbers)}", err=True)
    for name in left_empty(sending.survey, rows):
        click.echo(f"deniable: an empty cell of {name} is a missing answer; write ; if someone has none of them", err=True)
    if refused:
        click.get_current_context().exit(1)


def _named(rows: list[int]) -> str:
    some = ", ".join(map(str, rows[:20])) + (f" and {len(rows) - 20} more" if len(rows) > 20 else "")
    return f"row {some}" if len(rows) == 1 else f"rows {some}"
