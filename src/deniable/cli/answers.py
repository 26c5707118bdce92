"""From sums of reports to rows of numbers: one function per question `deniable estimate` can be asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from deniable.core import Bins, Circle, Domain, Interval
from deniable.errors import InvalidParameter, NotSupported

if TYPE_CHECKING:
    from deniable.batch import Accumulator
    from deniable.estimators import Estimate

MOST_BARS = 40
ROSE_BINS = 12
CUMULATIVE_BINS = 32


@dataclass(frozen=True)
class Wish:
    """What is asked, and how."""

    what: str
    target: Any
    level: float
    levels: tuple[float, ...]
    bins: int | None = None
    method: Any = "penalized"
    project: str | None = None
    share: float = 0.0
    intervals: Any = "auto"
    together: bool = False
    multiples_of: float | None = None
    narrowest_peak: float | None = None
    record: Any = None
    """The sums of the whole record, when a field of it is asked about."""
    field: str | None = None


@dataclass(frozen=True)
class Answer:
    """Rows of label, value, low, high and standard error, how they were found, and their picture."""

    rows: list[dict[str, Any]]
    target: str
    method: str
    draw: Callable[[str, str], Any]
    """A chart from a title and a subtitle."""
    assumes: str = ""
    """What the intervals assume about the values; nothing when empty."""
    needed: int | None = None
    """About how many reports would do; None when there are enough."""

    @property
    def vague(self) -> bool:
        """Is a typical interval of a share wider than the largest share?"""
        if not self.rows or "from" not in self.rows[0]:
            return False
        widths = sorted(row["high"] - row["low"] for row in self.rows)
        return bool(widths[len(widths) // 2] > max(row["value"] for row in self.rows))


def usual_question(domain: Domain) -> str:
    """What one mostly asks about such values."""
    from deniable.estimators import usual_questions

    for question in usual_questions(domain):
        return question
    raise NotSupported(f"there is no estimate of a {type(domain).__name__} as a whole; for a record name one by --field")


def answer(source: Accumulator, wish: Wish) -> Answer:
    """The estimate that was asked for."""
    if not 0 < wish.level < 1:
        raise InvalidParameter("level must lie between 0 and 1, for example 0.95")
    if wish.project is not None and wish.what not in ("frequency", "histogram"):
        raise InvalidParameter("project is for frequencies and histograms: only shares add up to something known")
    if wish.record is not None and wish.record.n != source.n and wish.what != "frequency":
        # Who answered this field is a sample of all, so there is nothing to say about these users alone.
        wish = replace(wish, target="population")
    return QUESTIONS[wish.what](source, wish)


def frequency(source: Accumulator, wish: Wish) -> Answer:
    """The share of people with each value."""
    from deniable.estimators import attribute_shares, reports_needed, shares

    if wish.record is None or wish.record.n == source.n:
        estimate = shares(source, target=wish.target)
    else:
        estimate = attribute_shares(wish.record, target=wish.target)[wish.field or ""]
    if wish.project is not None:
        estimate = estimate.projected(wish.project)
    rows = _rows(estimate, wish, [str(label) for label in estimate.labels or ()])

    in_order = isinstance(source.mechanism.domain, Bins)
    draw = lambda title, subtitle: _bars(rows, wish, title, subtitle, in_order=in_order)  # noqa: E731
    return Answer(rows, estimate.target, estimate.method, draw, needed=reports_needed(estimate))


def heavy_words(source: Any, wish: Wish) -> Answer:
    """The words that many people have, out of far too many to list."""
    from deniable.estimators import heavy_hitters

    words = heavy_hitters(source, share=wish.share, target=wish.target)
    rows = _rows(words.shares, wish, [str(word) for word in words.words])
    return Answer(rows, words.shares.target, words.shares.method, lambda title, subtitle: _bars(rows, wish, title, subtitle))


def items(source: Accumulator, wish: Wish) -> Answer:
    """The share of people who have each item."""
    from deniable.estimators import item_shares

    return _several(item_shares(source, target=wish.target), wish)


def sizes(source: Accumulator, wish: Wish) -> Answer:
    """The share of people with so many items."""
    from deniable.estimators import size_shares

    return _several(size_shares(source, target=wish.target), wish)


def keys(source: Accumulator, wish: Wish) -> Answer:
    """The share of people who have each key."""
    from deniable.estimators import key_shares

    return _several(key_shares(source, target=wish.target), wish)


def means_of_keys(source: Accumulator, wish: Wish) -> Answer:
    """The mean of the numbers that go with each key, over those who have it."""
    from deniable.core import KeyValue
    from deniable.estimators import key_means

    domain = source.mechanism.domain
    return _several(
        key_means(source, target=wish.target), wish, float(domain.values.width) if isinstance(domain, KeyValue) else 1.0
    )


def numbers_of_keys(source: Accumulator, wish: Wish) -> Answer:
    """For each key, the share of every number among those who have it."""
    from deniable.estimators import key_distributions

    return _several(key_distributions(source, target=wish.target), wish)


def _several(estimate: Estimate, wish: Wish, span: float | None = None) -> Answer:
    """A row for every label; shares unless there is a span."""
    from deniable.estimators import reports_needed

    rows = _rows(estimate, wish, [str(label) for label in estimate.labels or ()])
    draw = lambda title, subtitle: _bars(rows, wish, title, subtitle, percent=span is None)  # noqa: E731
    return Answer(rows, estimate.target, estimate.method, draw, needed=reports_needed(estimate, span or 1.0))


def mean(source: Accumulator, wish: Wish) -> Answer:
    """The mean of a number."""
    from deniable.estimators import mean

    return _single(mean(source, target=wish.target), wish, "mean", _span(source))


def variance(source: Accumulator, wish: Wish) -> Answer:
    """The variance of a number."""
    from deniable.estimators import variance

    return _single(variance(source, target=wish.target), wish, "variance", _span(source) ** 2 / 4)


def distribution(source: Accumulator, wish: Wish) -> Answer:
    """The shares of equal bins."""
    from deniable.estimators import distribution, reports_needed

    estimate = distribution(
        source,
        bins=wish.bins,
        method=wish.method,
        target=wish.target,
        multiples_of=wish.multiples_of,
        narrowest_peak=wish.narrowest_peak,
    )
    rows = _bin_rows(estimate, wish)
    draw = lambda title, subtitle: _density(source, wish, rows, title, subtitle)  # noqa: E731
    return Answer(rows, estimate.target, estimate.method, draw, estimate.assumes, reports_needed(estimate))


def histogram(source: Accumulator, wish: Wish) -> Answer:
    """The shares of a few equal bins by linear inversion."""
    from deniable.estimators import histogram, reports_needed

    estimate = histogram(source, bins=wish.bins or 16, target=wish.target)
    if wish.project is not None:
        estimate = estimate.projected(wish.project)
    rows = _bin_rows(estimate, wish)
    draw = lambda title, subtitle: _density(source, wish, rows, title, subtitle)  # noqa: E731
    return Answer(rows, estimate.target, estimate.method, draw, needed=reports_needed(estimate))


def quantiles(source: Accumulator, wish: Wish) -> Answer:
    """The values below which given shares of people lie."""
    from deniable.estimators import reports_needed, shape

    fitted = shape(
        source, method=wish.method, target=wish.target, multiples_of=wish.multiples_of, narrowest_peak=wish.narrowest_peak
    )
    estimate = fitted.quantiles(wish.levels)
    rows = _rows(estimate, wish, [f"{100 * level:g} %" for level in wish.levels])

    def draw(title: str, subtitle: str) -> Any:
        from deniable.charts import cumulative_band, quantile_chart

        points, below, band = cumulative_band(fitted.bins(CUMULATIVE_BINS), wish.level)
        marked = list(zip(wish.levels, [row["value"] for row in rows], strict=True))
        ends = [(row["low"], row["high"]) for row in rows]
        return quantile_chart(points, below, band, marked, ends, title=title, subtitle=subtitle, level=wish.level)

    return Answer(rows, estimate.target, estimate.method, draw, estimate.assumes, reports_needed(estimate, _span(source)))


def direction(source: Accumulator, wish: Wish) -> Answer:
    """The mean direction, and how concentrated the directions are (1 when all agree, 0 when none do)."""
    from deniable.estimators import direction

    estimate = direction(source, target=wish.target)
    around = estimate.interval(wish.level)
    along = estimate.concentration_interval(wish.level)
    rows = [
        _row("direction", estimate.angle, around[0], around[1], estimate.standard_error),
        _row("concentration", estimate.concentration, along[0], along[1], estimate.concentration_error),
    ]

    def draw(title: str, subtitle: str) -> Any:
        return histogram(source, wish if wish.bins else replace(wish, bins=ROSE_BINS)).draw(title, subtitle)

    return Answer(rows, estimate.target, f"mean direction of {source.mechanism.name}, errors by the delta method", draw)


QUESTIONS: dict[str, Callable[[Any, Wish], Answer]] = {
    "frequency": frequency,
    "mean": mean,
    "variance": variance,
    "distribution": distribution,
    "histogram": histogram,
    "quantiles": quantiles,
    "direction": direction,
    "heavy-hitters": heavy_words,
    "items": items,
    "sizes": sizes,
    "keys": keys,
    "key-means": means_of_keys,
    "key-distributions": numbers_of_keys,
}


def _rows(estimate: Estimate, wish: Wish, labels: list[str]) -> list[dict[str, Any]]:
    low, high = estimate.interval(wish.level, wish.intervals, together=wish.together)
    columns = [estimate.value, low, high, estimate.standard_error]
    lists = [column.reshape(-1).tolist() for column in columns]
    return [_row(*row) for row in zip(labels, *lists, strict=True)]


def _bin_rows(estimate: Estimate, wish: Wish) -> list[dict[str, Any]]:
    bins = list(estimate.labels or ())
    rows = _rows(estimate, wish, [f"{low:.6g} … {high:.6g}" for low, high in bins])
    return [{**row, "from": low, "to": high} for row, (low, high) in zip(rows, bins, strict=True)]


def _row(label: str, value: float, low: float, high: float, error: float) -> dict[str, Any]:
    return {"label": label, "value": value, "low": low, "high": high, "standard_error": error}


def _span(source: Accumulator) -> float:
    """How wide the domain is."""
    domain = source.mechanism.domain
    assert isinstance(domain, Interval)
    return float(domain.width)


def _single(estimate: Estimate, wish: Wish, label: str, span: float) -> Answer:
    from deniable.estimators import reports_needed

    rows = _rows(estimate, wish, [label])

    def draw(title: str, subtitle: str) -> Any:
        from deniable.charts import estimate_chart

        ends = [(rows[0]["low"], rows[0]["high"])]
        return estimate_chart([label], [rows[0]["value"]], ends, quantity=label, title=title, subtitle=subtitle, level=wish.level)

    return Answer(rows, estimate.target, estimate.method, draw, needed=reports_needed(estimate, span))


def _bars(
    rows: list[dict[str, Any]], wish: Wish, title: str, subtitle: str, *, percent: bool = True, in_order: bool = False
) -> Any:
    from deniable.charts import estimate_chart

    if not rows:
        raise InvalidParameter("there is nothing to draw: no word stands out from the noise")
    shown = rows if in_order and len(rows) <= MOST_BARS else sorted(rows, key=lambda row: -row["value"])[:MOST_BARS]
    return estimate_chart(
        [row["label"] for row in shown],
        [row["value"] for row in shown],
        [(row["low"], row["high"]) for row in shown],
        title=title,
        subtitle=subtitle + (f", the {MOST_BARS} largest of {len(rows)}" if len(rows) > MOST_BARS else ""),
        percent=percent,
        level=wish.level,
    )


def _density(source: Any, wish: Wish, rows: list[dict[str, Any]], title: str, subtitle: str) -> Any:
    from deniable.charts import distribution_chart, rose_chart

    shares, ends = [row["value"] for row in rows], [(row["low"], row["high"]) for row in rows]
    edges = [rows[0]["from"], *(row["to"] for row in rows)]
    domain = source.mechanism.domain
    if not isinstance(domain, Circle):
        return distribution_chart(edges, shares, ends, title=title, subtitle=subtitle, level=wish.level)
    marks = {f"{float(domain.period) * i / 8:.4g}": i / 8 for i in range(8)}
    return rose_chart(shares, ends, marks=marks, title=title, subtitle=subtitle, level=wish.level)
