"""What the sums of a survey say, attribute by attribute, with intervals."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from deniable import estimators
from deniable.batch import Accumulator, Joined, accumulator_for, field_sums
from deniable.collector.changing import NOT_YET, ONE_WINDOW, yes_by_window
from deniable.collector.messages import AttributeEstimate, Estimates, Row, View
from deniable.collector.repeating import without_repetition
from deniable.collector.steps import Published
from deniable.core import (
    Binary,
    Bins,
    Categories,
    Circle,
    Hierarchy,
    Interval,
    KeyValue,
    Marginals,
    Mechanism,
    Record,
    TreeOfChanges,
    show_fraction,
)
from deniable.errors import DeniableError
from deniable.surveys import Survey

LEVEL = 0.95
NOBODY = "nobody has answered yet"
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
BINS = 32
MOST_SHOWN = 400
"""Cells of all tables of so many fields, beyond which tables of fewer fields are shown."""


def estimates(survey: Survey, shown: Published, window: str = "") -> Estimates:
    """All attributes of a survey, of one window or of all together."""
    if survey.changes is not None:
        return _of_changes(survey, survey.changes, shown, window)
    whole = shown.windows.get(window, accumulator_for(survey.mechanism)) if window else shown.whole
    said = whole if window else without_repetition(survey, shown).whole
    attributes = [_attribute(survey, whole, said, name, shown.waiting) for name in survey.names]
    return _document(survey, shown, window, whole.n, attributes)


def _of_changes(survey: Survey, stream: TreeOfChanges, shown: Published, window: str) -> Estimates:
    """The one attribute of a survey that asks for changes: its share of yes, window by window."""
    n = shown.windows[window].n if window in shown.windows else 0 if window else shown.whole.n
    (asked,) = survey.attributes
    attribute = AttributeEstimate(asked.name, asked.question, repr(survey.mechanism.domain), survey.mechanism.name, n, [])
    view = None if window else yes_by_window(survey, stream, shown.windows, LEVEL)
    if view is not None:
        attribute.views = [view]
    elif n == 0:
        attribute.note = shown.waiting or NOBODY
    else:
        attribute.note = ONE_WINDOW if window else NOT_YET
    return _document(survey, shown, window, n, [attribute])


def _document(survey: Survey, shown: Published, window: str, n: int, attributes: list[AttributeEstimate]) -> Estimates:
    return Estimates(
        survey=survey.hash,
        title=survey.title,
        n=n,
        level=LEVEL,
        window=window,
        windows={period: part.n for period, part in shown.windows.items()},
        attributes=attributes,
        epsilon=show_fraction(survey.mechanism.privacy.exact),
        release=survey.release_words,
        waiting=shown.waiting,
        as_of=shown.as_of,
    )


def _attribute(survey: Survey, whole: Accumulator, said: Accumulator, name: str, waiting: str) -> AttributeEstimate:
    """From `said`, which has fewer reports than `whole` where reports repeat one another."""
    counted, part = field_sums(whole, name).n, field_sums(said, name)
    mechanism = part.mechanism
    question = next(attribute.question for attribute in survey.attributes if attribute.name == name)
    estimate = AttributeEstimate(name, question, repr(mechanism.domain), mechanism.name, counted, [])
    if part.n == 0:
        estimate.note = waiting or NOBODY
        return estimate
    try:
        estimate.views = views_of(mechanism, part, said, name)
        for view in estimate.views if part.n < counted else ():
            view.method += f"; devices repeat what they keep, so {counted:,} reports count as {part.n:,}"
        needed = next((view.reports_needed for view in estimate.views if view.reports_needed is not None), None)
        if needed is not None:
            estimate.note = estimators.too_few_words(part.n, needed)
    except DeniableError as error:
        estimate.note = str(error)
    return estimate


def views_of(mechanism: Mechanism, part: Accumulator, whole: Accumulator, name: str) -> list[View]:
    """Every way to look at an attribute that its mechanism allows; raises when there is none but should be one."""
    views: list[View] = []
    refused: list[DeniableError] = []
    for look in _looks(mechanism, part, whole, name):
        try:
            views.append(look())
        except DeniableError as error:  # a mechanism made for means need not show a distribution
            refused.append(error)
    if refused and not views:
        raise refused[0]
    return views


def _looks(mechanism: Mechanism, part: Accumulator, whole: Accumulator, name: str) -> list[Callable[[], View]]:
    target = target_of(part, whole)
    looks: dict[str, Callable[[], View]] = {
        "frequency": lambda: _frequency(part, whole, name, target),
        "mean": lambda: _mean(part, target),
        "quantiles": lambda: _quantiles(part, target),
        "distribution": lambda: _shape(part, target),
        "direction": lambda: _direction(part, target),
        "heavy-hitters": lambda: _words(part, target),
        "items": lambda: _labelled("items", estimators.item_shares(part, target=target)),
        "sizes": lambda: _labelled("sizes", estimators.size_shares(part, target=target)),
        "keys": lambda: _labelled("keys", estimators.key_shares(part, target=target)),
        "key-means": lambda: _labelled("key-means", estimators.key_means(part, target=target), _span(mechanism)),
        "key-distributions": lambda: _numbers(part, target),
    }
    asked = [looks[question] for question in estimators.usual_questions(mechanism.domain)]
    if isinstance(mechanism, Marginals):
        return [lambda: _tables(part, target)]
    # A tree was chosen for ranges: the share of everyone up to an answer is shown beside the shares.
    return [*asked, lambda: _cumulative(part)] if isinstance(mechanism, Hierarchy) else asked


def target_of(part: Accumulator, whole: Accumulator) -> Any:
    """Who was picked to answer is a sample, so a part of a record speaks about the population."""
    return "population" if isinstance(whole, Joined) and part.n != whole.n else "these users"


def shares_of(part: Accumulator, whole: Accumulator, name: str, target: Any) -> estimators.Estimate:
    """The shares of an attribute's answers."""
    return estimators.attribute_shares(whole)[name] if _all_categorical(whole) else estimators.shares(part, target=target)


def _frequency(part: Accumulator, whole: Accumulator, name: str, target: Any) -> View:
    shares, domain = shares_of(part, whole, name, target), part.mechanism.domain
    rows = _rows(shares, [str(label) for label in shares.labels or ()])
    if isinstance(domain, Bins):
        for row, (low, high) in zip(rows, pairwise(domain.edges), strict=True):
            row.start, row.end = float(low), float(high)
    return View("frequency", shares.method, rows, estimators.reports_needed(shares))


def _labelled(kind: str, estimate: estimators.Estimate, span: float = 1.0) -> View:
    rows = _rows(estimate, [str(label) for label in estimate.labels or ()])
    return View(kind, estimate.method, rows, estimators.reports_needed(estimate, span))


def _numbers(part: Accumulator, target: Any) -> View:
    estimate = estimators.key_distributions(part, target=target)
    labels = [f"{key}: {number:g}" for key, number in estimate.labels or ()]
    return View("key-distributions", estimate.method, _rows(estimate, labels), estimators.reports_needed(estimate))


def _span(mechanism: Mechanism) -> float:
    domain = mechanism.domain
    return float(domain.values.width) if isinstance(domain, KeyValue) else 1.0


def _direction(part: Accumulator, target: Any) -> View:
    around = estimators.direction(part, target=target)
    (low, high), (least, most) = around.interval(LEVEL), around.concentration_interval(LEVEL)
    rows = [Row("direction", around.angle, low, high), Row("concentration", min(around.concentration, 1.0), least, most)]
    return View("direction", "mean direction", rows)


def _tables(part: Accumulator, target: Any) -> View:
    """All tables of as many fields as are told together for every choice of them, while they have few cells."""
    sums = estimators.marginal_sums(part)
    fitting = [ways for ways in range(1, sums.ways + 1) if sums.cells(ways) <= MOST_SHOWN]
    rows = []
    for names, table in sums.marginals(max(fitting, default=1), target=target).items():
        cells = (cell if isinstance(cell, tuple) else (cell,) for cell in table.labels or ())
        rows += _rows(table, [", ".join(f"{name} {value}" for name, value in zip(names, cell, strict=True)) for cell in cells])
    return View("tables", "unbiased tables by all marginals that tell of them", rows)


def _cumulative(part: Accumulator) -> View:
    cdf, domain = estimators.tree_sums(part).cdf(), part.mechanism.domain
    labels = [str(domain.decode(index)) for index in range(cdf.value.size)]
    if isinstance(domain, Bins):  # everyone up to a bin is everyone below its end
        labels = [label.partition(" to ")[2] for label in labels]
    return View("cumulative", cdf.method, _rows(cdf, [f"up to {label}" for label in labels]))


def _mean(part: Accumulator, target: Any) -> View:
    domain = part.mechanism.domain
    assert isinstance(domain, Interval)
    middle = estimators.mean(part, target=target)
    return View("mean", middle.method, _rows(middle, ["mean"]), estimators.reports_needed(middle, float(domain.width)))


def _quantiles(part: Accumulator, target: Any) -> View:
    levels = estimators.quantiles(part, QUANTILES, target=target)
    return View("quantiles", levels.method, _rows(levels, [f"{100 * level:g} %" for level in QUANTILES]))


def _words(part: Accumulator, target: Any) -> View:
    """The words that stand out of the noise; there may be none."""
    hitters = estimators.heavy_hitters(part, target=target)
    return View("words", hitters.shares.method, _rows(hitters.shares, [str(word) for word in hitters.words]))


def _all_categorical(whole: Accumulator) -> bool:
    """Is it a record whose every field has categories and answers?"""
    parts = whole.parts.values() if isinstance(whole, Joined) and isinstance(whole.mechanism.domain, Record) else ()
    return bool(parts) and all(part.n and isinstance(part.mechanism.domain, Binary | Categories) for part in parts)


def _shape(part: Accumulator, target: Any) -> View:
    domain = part.mechanism.domain
    assert isinstance(domain, Interval | Circle)
    distribution = estimators.distribution(part, bins=min(BINS, domain.cells), target=target)
    rows = _rows(distribution, [f"{low:.6g} … {high:.6g}" for low, high in distribution.labels or ()])
    for row, (low, high) in zip(rows, distribution.labels or (), strict=True):
        row.start, row.end = float(low), float(high)
    return View("distribution", distribution.method, rows)


def _rows(estimate: Any, labels: list[str]) -> list[Row]:
    low, high = estimate.interval(LEVEL)
    columns = [column.reshape(-1).tolist() for column in (estimate.value, low, high)]
    return [Row(*row) for row in zip(labels, *columns, strict=True)]
