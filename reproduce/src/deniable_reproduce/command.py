"""`deniable reproduce`: tables, figures and examples of the sources."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deniable.cli import console, print_json, table

if TYPE_CHECKING:
    from deniable_reproduce.artifact import Run
    from deniable_reproduce.run import Done, Skipped
    from deniable_reproduce.verdict import Verdict

DIFFERENT = 1
"""The exit code when a published number differs and no reason is given."""


@click.command(short_help="Reproduce the sources' tables, figures and examples.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "--quick/--full", default=True, show_default=True, help="Fewer repetitions, in minutes, or as many as the sources used."
)
@click.option("--data", type=click.Path(file_okay=False, exists=True), help="Where the data files are.")
@click.option(
    "--output", type=click.Path(file_okay=False), default="output/reproduce", show_default=True, help="Results and pictures."
)
@click.option("--again", is_flag=True, help="Compute results again even if they are kept.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def reproduce(names: tuple[str, ...], quick: bool, data: str | None, output: str, again: bool, as_json: bool) -> None:
    """Reproduce an artifact: figure-5.8, table-4.1, example-3, beyond-optimal-window, ...

    `deniable reproduce list` names all of them; `deniable reproduce all` reproduces them all and writes one page.
    Results are kept in the output directory and reused as long as code, size, seed and data are the same.
    """
    from deniable_reproduce import catalogue
    from deniable_reproduce.artifact import Run

    if "list" in names:
        _list(as_json)
        return
    run = Run(full=not quick, data=None if data is None else Path(data))
    if "all" in names:
        _all(catalogue.names(), run, Path(output), again, as_json)
        return
    chosen = [catalogue.find(name).name for name in names]
    from deniable_reproduce.run import make

    done = []
    for name in chosen:
        with _bar(f"computing {name}", None, hidden=as_json) as bar:
            bar.begin(name)
            done.append(make(name, replace(run, note=bar.note), Path(output), again=again))
        if not as_json:
            _show(done[-1])
    if as_json:
        documents = [one.as_json() for one in done]
        print_json(documents[0] if len(documents) == 1 else documents)
    _finish(done)


def _list(as_json: bool) -> None:
    from deniable_reproduce import catalogue

    artifacts = [catalogue.find(name) for name in catalogue.names()]
    if as_json:
        print_json([{"name": one.name, "title": one.title, "source": one.source, "data": list(one.data)} for one in artifacts])
        return
    rows = table("name", "what", "source", "needs data")
    for one in artifacts:
        rows.add_row(one.name, one.title, one.source, "yes" if one.data else "")
    console().print(rows)


def _all(names: list[str], run: Run, output: Path, again: bool, as_json: bool) -> None:
    from deniable_reproduce.report_page import build
    from deniable_reproduce.run import Done, Skipped, make_all

    outcomes: list[Done | Skipped] = []
    with _bar("reproducing", len(names), hidden=as_json) as bar:
        for one in make_all(names, replace(run, note=bar.note), output, again=again, progress=bar.begin):
            outcomes.append(one)
    done = [one for one in outcomes if isinstance(one, Done)]
    skipped = [one for one in outcomes if isinstance(one, Skipped)]
    command = f"deniable reproduce all --{'full' if run.full else 'quick'}{'' if run.data is None else ' --data DIRECTORY'}"
    page = build(outcomes, run, output / "index.html", command)
    if as_json:
        document = {
            "chapters": _chapters(done, skipped),
            "artifacts": [_summary(one) for one in done],
            "skipped": [{"name": one.name, "why": one.why} for one in skipped],
            "page": str(page),
        }
        print_json(document)
    else:
        _show_all(done, skipped, page)
    _finish(done, broken=[one for one in skipped if not one.expected])


def _summary(one: Done) -> dict[str, Any]:
    from deniable_reproduce.verdict import STANDINGS

    return {
        "name": one.artifact.name,
        **{standing: one.count(standing) for standing in STANDINGS},
        "as_released": {standing: one.as_released(standing) for standing in STANDINGS},
        "not_compared": one.not_compared,
        "unexplained": one.unexplained,
        "contradictions": one.contradictions,
        "seconds": round(one.seconds, 3),
        "kept": one.kept,
    }


def _chapters(done: list[Done], skipped: list[Skipped]) -> list[dict[str, Any]]:
    from deniable_reproduce import summary

    return [
        {"chapter": row.chapter.title, **row.counts, "as_released": row.as_released, "sentence": row.sentence}
        for row in summary.rows(done, skipped)
    ]


def _show(one: Done) -> None:
    from deniable_reproduce.report_page import HEADINGS, shown
    from deniable_reproduce.verdict import STANDINGS

    click.echo(f"{one.artifact.name}: {one.artifact.title} ({one.artifact.source})")
    if one.artifact.note:
        click.echo(one.artifact.note)
    if one.artifact.table is not None:
        rows = list(one.artifact.table(one.result))
        if rows:
            whole = table(*(str(column) for column in rows[0]))
            for row in rows:
                whole.add_row(*(shown(cell) if isinstance(cell, float) else str(cell) for cell in row.values()))
            console().print(whole)
    for standing in STANDINGS:
        some = [verdict for verdict in one.verdicts if verdict.standing == standing]
        if some:
            click.echo(f"{HEADINGS[standing]} ({len(some)})")
            _show_verdicts(some)
    for contradiction in one.contradictions:
        click.echo(f"the reason contradicts its numbers: {contradiction}")
    for path in one.pictures.values():
        click.echo(f"picture: {path}")


def _show_verdicts(verdicts: list[Verdict]) -> None:
    """A table of numbers, then every reason once, then what was computed for it."""
    from deniable_reproduce.report_page import pair, shown
    from deniable_reproduce.verdict import CLAIMS

    judged = table(
        "number or claim", "where", "published", "ours", "tolerance", "verdict", numbers=("published", "ours", "tolerance")
    )
    reasons: dict[str, list[str]] = {}
    for verdict in verdicts:
        published, ours, allowed = pair(verdict)
        what = str(verdict.published) if verdict.name == CLAIMS else verdict.name
        judged.add_row(what, verdict.where, published, ours, allowed, verdict.verdict)
        if verdict.why:
            reasons.setdefault(verdict.why, []).append(what)
    console().print(judged)
    for why, names in reasons.items():
        click.echo(f"why ({'; '.join(names)}): {why}")
    settings: set[str] = set()
    for verdict in verdicts:
        finding = verdict.finding_after(settings)
        proof = [finding] if finding else []
        proof += [f"{label}: {shown(value, 4)}" for label, value in verdict.evidence.items()]
        if proof:
            click.echo(f"evidence ({verdict.published if verdict.name == CLAIMS else verdict.name}): {'; '.join(proof)}")


def _show_all(done: list[Done], skipped: list[Skipped], page: Path) -> None:
    from deniable_reproduce import summary
    from deniable_reproduce.verdict import STANDINGS

    whole = table("artifact", "what", *STANDINGS, "seconds", numbers=(*STANDINGS, "seconds"))
    for one in done:
        seconds = "kept" if one.kept else f"{one.seconds:.1f}"
        whole.add_row(one.artifact.name, one.artifact.title, *(str(one.count(standing)) for standing in STANDINGS), seconds)
    console().print(whole)
    for left_out in skipped:
        click.echo(f"skipped {left_out.name}: {left_out.why}")
    for row in summary.rows(done, skipped):
        again = {standing: f" ({count} as released)" if count else "" for standing, count in row.as_released.items()}
        counts = ", ".join(f"{row.counts[standing]} {standing}{again[standing]}" for standing in STANDINGS)
        click.echo(f"{row.chapter.title}: {counts}. {row.sentence}")
    totals = summary.totals(done)
    click.echo(
        f"{len(done)} artifacts: {', '.join(f'{totals[standing]} {standing}' for standing in STANDINGS)}; "
        f"{sum(one.unexplained for one in done)} differ without explanation; {len(skipped)} skipped"
    )
    click.echo(f"page: {page}")


def _finish(done: list[Done], broken: list[Skipped] | None = None) -> None:
    """Exit with 1 when something differs without explanation, contradicts its numbers, or could not be computed at all."""
    strange = [one.artifact.name for one in done if one.unexplained]
    if strange:
        click.echo(f"deniable: differs without explanation: {', '.join(strange)}", err=True)
    contradicting = [one.artifact.name for one in done if one.contradictions]
    if contradicting:
        click.echo(f"deniable: a reason contradicts its own numbers: {', '.join(contradicting)}", err=True)
    for failed in broken or []:
        click.echo(f"deniable: {failed.name} failed: {failed.why}", err=True)
    if strange or contradicting or broken:
        raise click.exceptions.Exit(DIFFERENT)


@dataclass
class _Bar:
    """Says what is worked on: `begin` for the next artifact, `note` for a part of it. Silent unless someone is looking."""

    show: Callable[[str, int], None] = lambda text, done: None
    name: str = ""
    count: int = -1

    def begin(self, name: str) -> None:
        self.name, self.count = name, self.count + 1
        self.show(name, self.count)

    def note(self, part: str) -> None:
        self.show(f"{self.name}: {part}", self.count)


@contextmanager
def _bar(label: str, total: int | None, *, hidden: bool) -> Iterator[_Bar]:
    """A bar on standard error, where someone is looking; in a log, a line for each artifact of many."""
    if hidden or not sys.stderr.isatty():
        quiet = hidden or total is None
        yield (
            _Bar()
            if quiet
            else _Bar(lambda text, done: None if ": " in text else click.echo(f"{done + 1}/{total} {text}", err=True))
        )
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), *Progress.get_default_columns(), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as progress:
        task = progress.add_task(label, total=total)
        yield _Bar(lambda text, done: progress.update(task, completed=done, description=text))
