"""`deniable quantify`: how often a saved model keeps its answer when sensitive features are perturbed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.effect import refuse_unused
from deniable.cli.feature_table import Table, parse_sensitive, read_table
from deniable.cli.terminal import console, print_json, table
from deniable.core import Epsilon
from deniable.errors import InvalidParameter

if TYPE_CHECKING:
    from deniable.studies import Model, Study, UtilityReport

USUAL = ("ogpm", "exponential", "laplace")
MOST_LEVELS = 64
SHOWN_RECORDS = 50


@click.command(short_help="Measure how often a model keeps its answer on perturbed input.")
@click.argument("model", type=click.Path())
@click.argument("data", type=click.Path())
@click.option(
    "--sensitive", required=True, help="Features to perturb, with their public ranges: Age=0:100,BMI=10:60 (0:1 if left out)."
)
@click.option("--mechanism", "-m", "mechanisms", multiple=True, help=f"May be repeated; {', '.join(USUAL)} if none is given.")
@click.option(
    "--epsilon",
    "--epsilons",
    "-e",
    "epsilons",
    default="1:8",
    show_default=True,
    help="LOW:HIGH in steps of 1, LOW:HIGH:STEP, or a list such as 1,2,4.",
)
@click.option(
    "--budget",
    type=click.Choice(["each", "total"]),
    default="each",
    show_default=True,
    help="Whether epsilon is for each feature or for all features in total.",
)
@click.option("--delta", help="For gaussian: its delta.")
@click.option("--indicator", type=float, default=0.0, help="DANGER: publish the whole raw record with this probability.")
@click.option(
    "--row", type=int, help="Use one row of the data (1 is the first) instead of the average over all rows up to --limit."
)
@click.option("--limit", type=int, default=SHOWN_RECORDS, show_default=True, help="Use at most this many rows.")
@click.option(
    "--label", help="A column with the true answers: how often is the model right? Else: how often does it agree with itself?"
)
@click.option("--tolerance", type=float, help="For regression: a prediction that moves by at most this much counts as kept.")
@click.option("--target", type=float, help="Also find the least epsilon that reaches this probability.")
@click.option("--features", "costs", is_flag=True, help="Also say what each sensitive feature costs, at the middle epsilon.")
@click.option("--samples", type=int, default=20_000, show_default=True, help="How many questions to ask a model that is sampled.")
@click.option("--width", type=float, help="Stop once every record's interval should be this narrow, or after --samples questions.")
@click.option(
    "--empirical", type=int, default=2_000, show_default=True, help="Also simulate this many reports per row; 0 for none."
)
@click.option("--level", "confidence", type=float, default=0.95, show_default=True, help="Confidence level of the intervals.")
@click.option("--together", is_flag=True, help="Make all intervals hold together at this level.")
@click.option("--shape", help="Shape of one input of a torch module, for example 1,7,7.")
@click.option(
    "--trust-code", is_flag=True, help="Load pickles and TorchScript modules. They can run code: use only files you trust."
)
@click.option("--trust-type", "trusted", multiple=True, help="A type in a .skops file that you vouch for; may be repeated.")
@click.option("--chart", type=click.Path(dir_okay=False), help="Draw the curves to a .png, .svg, .html or .json file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def quantify(model: str, data: str, chart: str | None, as_json: bool, **asked: Any) -> None:
    """Ask how often MODEL (.skops, TorchScript .pt) keeps its answer on the rows of DATA (a CSV file with a header).

    ρ is computed exactly for linear models, trees, forests, boosting and QDA of scikit-learn; other models are asked
    at random reports, one set of answers for all mechanisms and every epsilon.
    """
    if chart is not None:
        from deniable.charts import check_ending

        check_ending(chart)
    levels = _levels(asked["epsilons"])
    question = _question(model, data, asked)
    from deniable.studies import quantify as measured

    names = list(dict.fromkeys(asked["mechanisms"])) or list(USUAL)
    if "gaussian" not in names:
        refuse_unused("here", "use it with --mechanism gaussian", "delta")
    if asked["row"] is not None:
        refuse_unused("on --row", "one row is all that is used", "limit")
    options: dict[str, Any] = {
        "budget": asked["budget"],
        "parameters": _parameters(names, asked["delta"]),
        "indicator": _chance("--indicator", asked["indicator"]),
        "evaluations": asked["samples"],
        "width": asked["width"],
    }
    with _progress(f"asking the model about {len(question)} record(s)", as_json) as advance:
        report = measured(
            question,
            names,
            levels,
            **options,
            confidence=asked["confidence"],
            simultaneous=asked["together"],
            empirical=asked["empirical"],
            progress=advance,
        )
        more = _answers(question, report, names, asked, {**options, "progress": advance})
    document = {**report.to_dict(), **more}
    if chart is not None:
        from deniable.charts import rho_chart, save

        save(rho_chart(report, target=asked["target"]), chart)
        document["chart"] = chart
    if as_json:
        print_json(document)
        return
    _print(report, more, chart)


def _question(path: str, data: str, asked: dict[str, Any]) -> Study:
    from deniable.studies import as_model, load_model, study

    shape = None if asked["shape"] is None else [int(size) for size in _whole("--shape", asked["shape"])]
    judge = as_model(
        load_model(path, trust_code=asked["trust_code"], trusted=asked["trusted"]), shape=shape, tolerance=asked["tolerance"]
    )
    rows = read_table(data, label=asked["label"])
    if asked["row"] is None:
        if asked["limit"] < 1:
            raise InvalidParameter("--limit must be at least 1")
        rows = rows.head(asked["limit"])
    else:
        rows = rows.only(asked["row"])
    rows = _ordered(rows, judge)
    return study(
        judge,
        rows.numbers(),
        parse_sensitive(asked["sensitive"], rows.names),
        names=rows.names,
        truth=_truth(rows, judge),
        on_row=lambda place: f"row {rows.numbered[place]}",
    )


def _ordered(rows: Table, judge: Model) -> Table:
    """The model's own columns in its own order, wherever they are in the file."""
    if judge.feature_names is None:
        return rows
    missing = [name for name in judge.feature_names if name not in rows.names]
    if missing:
        raise InvalidParameter(
            f"the features have other names than the model's: it was trained with {', '.join(missing[:5])}, which the data lacks; "
            f"the data has {', '.join(rows.names)[:200]}"
        )
    return rows.chosen(judge.feature_names)


def _truth(rows: Table, judge: Model) -> Any:
    """The labels as the model writes them."""
    if rows.labels is None:
        return None
    if judge.tolerance is not None:
        return _numbers(rows.labels)
    known = {str(label): label for label in judge.classes or ()}
    labels = [known.get(text, known.get(f"{text}.0")) if known else text for text in rows.labels]
    if any(label is None for label in labels):
        raise InvalidParameter(f"--label: the data has answers that the model does not know; it knows {', '.join(known)[:200]}")
    if not known:
        return [int(text) if text.lstrip("-").isdecimal() else text for text in rows.labels]
    return labels


def _numbers(labels: Sequence[str]) -> list[float]:
    try:
        return [float(text) for text in labels]
    except ValueError:
        pass
    raise InvalidParameter("--label: with --tolerance the true answers must be numbers")


def _answers(
    question: Study, report: UtilityReport, names: list[str], asked: dict[str, Any], options: dict[str, Any]
) -> dict[str, Any]:
    from deniable.studies import (
        best_mechanism,
        best_statement,
        feature_costs,
        smallest_epsilon,
        statement,
        target_statement,
        worst_statement,
    )

    levels = sorted({row.epsilon for row in report.rows})
    middle = levels[len(levels) // 2]
    winner = best_mechanism(report, middle)
    statements = [statement(winner.row, report)]
    if report.records > 1:
        statements.append(worst_statement(winner.row, report))
    if len(names) > 1:
        statements.append(best_statement(winner))
    document: dict[str, Any] = {"best": {"epsilon": middle, "mechanism": winner.row.mechanism, "certain": winner.certain}}
    if asked["target"] is not None:
        target = _chance("--target", asked["target"])
        document["target_epsilons"] = {}
        for name in names:
            least = smallest_epsilon(question, name, target, confidence=asked["confidence"], high=max(levels[-1], 1.0), **options)
            document["target_epsilons"][name] = least.epsilon
            statements.append(target_statement(least, name, target))
    if asked["costs"]:
        costs = feature_costs(question, winner.row.mechanism, middle, **options)
        document["features"] = [
            {"feature": cost.feature, "alone": cost.alone.value, "interval": list(cost.alone.interval), "cost": cost.cost}
            for cost in costs
        ]
        shown = ", ".join(f"{cost.feature} {cost.cost:.3f}" for cost in costs[:8])
        statements.append(
            f"Hiding one feature alone by {winner.row.mechanism} at epsilon = {middle:g} changes the answer: {shown}."
        )
    return {**document, "statements": statements}


def _print(report: UtilityReport, more: dict[str, Any], chart: str | None) -> None:
    out = console()
    kind = "exact" if all(row.kind == "exact" for row in report.rows) else "estimate"
    columns = ["mechanism", "epsilon", "lower", kind, "interval"]
    empirical = any(row.empirical is not None for row in report.rows)
    columns += ["empirical"] if empirical else []
    columns += ["worst record"] if report.records > 1 else []
    rows = table(*columns, numbers=columns[1:])
    last = ""
    for row in report.rows:
        value = f"{row.value:.4f}" if row.kind == kind else f"{row.value:.4f} ({row.kind})"
        cells = [row.mechanism if row.mechanism != last else "", f"{row.epsilon:g}", f"{row.lower:.4f}", value]
        cells.append("none: exact" if row.kind == "exact" else f"{row.low:.4f} … {row.high:.4f}")
        cells += [f"{row.empirical:.4f}"] if empirical else []
        cells += [f"{row.worst_low:.4f} or more"] if report.records > 1 else []
        rows.add_row(*cells)
        last = row.mechanism
    out.print(rows)
    for line in (*more["statements"], *report.notes):
        out.print(line, soft_wrap=True)
    if chart is not None:
        click.echo(f"chart: {chart}")


def _levels(text: str) -> list[str]:
    """1:8 as 1, 2, …, 8; a third number is the step; or a list."""
    if ":" not in text:
        levels = [str(Epsilon(part.strip()).exact) for part in text.split(",")]
    else:
        ends = [Epsilon(part.strip()).exact for part in text.split(":")]
        if len(ends) not in (2, 3) or ends[0] > ends[1]:
            raise InvalidParameter("--epsilon must be FROM:TO, FROM:TO:STEP or a list such as 1,2,4")
        step = ends[2] if len(ends) == 3 else Epsilon(1).exact
        levels = [str(ends[0] + i * step) for i in range(min(int((ends[1] - ends[0]) / step), MOST_LEVELS) + 1)]
    if len(levels) > MOST_LEVELS:
        raise InvalidParameter(f"--epsilon: at most {MOST_LEVELS} levels at once")
    return levels


def _parameters(names: list[str], delta: str | None) -> dict[str, dict[str, Any]]:
    if "gaussian" not in names:
        return {}
    if delta is None:
        raise InvalidParameter("gaussian needs --delta, for example --delta 0.00001: it is not pure epsilon-LDP")
    return {"gaussian": {"delta": delta}}


def _chance(name: str, value: float) -> float:
    if not 0 <= value < 1:
        raise InvalidParameter(f"{name} must be a probability from 0 to below 1")
    return value


def _whole(name: str, text: str) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise InvalidParameter(f"{name} must be whole numbers with commas between them")
    return parts


@contextmanager
def _progress(label: str, hidden: bool) -> Iterator[Callable[[int], None]]:
    """A bar on standard error that counts the model's answers, where someone is looking."""
    if hidden or not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,} answers"), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as progress:
        task = progress.add_task(label, total=None)
        yield lambda done: progress.advance(task, done)
