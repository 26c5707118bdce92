"""Fields by their values: single values, ranges, the lowest bit of floats, two fields together, reports seen before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.privacy.auditing.events import Codes, Feature, log_ratio, most_telling
from deniable.privacy.auditing.fields import ROOT, Table
from deniable.privacy.auditing.measures import Measure, measures

MOST_CELLS = 4096
BINS = 512
FEW_FIELDS = 8
FEW_VALUES = 16
MOST_JOINT = 12
MOST_PAIRS = 8

Histogram = NDArray[np.int64]
WHOLE = Measure("the whole report", lambda table: table.whole().view(np.int64), ordered=False)


def alone(fit: Table) -> list[Feature]:
    """One feature for each field that varies, with its values as cells."""
    return [feature for measure in measures(fit) if (feature := of_measure(measure, fit)).cells > 1]


def propose(fit: Table, inputs: int) -> Iterator[Feature]:
    """Ranges of numbers, the lowest bit of floats, small fields two by two, and the whole report where it repeats."""
    fields = measures(fit)
    for measure in fields if len(fields) <= FEW_FIELDS else ():
        seen = measure.of(fit)
        if measure.ordered and len(np.unique(seen)) > FEW_VALUES:
            yield from _ranges(measure, seen)
        if seen.dtype.kind == "f" and not np.array_equal(seen, np.round(seen)):
            yield Feature(f"the lowest bit of {measure.name}", partial(_lowest_bit_of, measure), 96 * 16)
    if len(fields) > 1:
        feature = of_measure(WHOLE, fit)
        if feature.cells > 1:
            yield feature
        few = [feature for feature in alone(fit) if feature.cells <= FEW_VALUES][:MOST_JOINT]
        yield from most_telling([_joint(a, b) for a, b in combinations(few, 2)], fit, inputs, MOST_PAIRS)


def _joint(first: Feature, second: Feature) -> Feature:
    return Feature(
        f"{first.name} and {second.name}",
        lambda table: first.encode(table) * second.cells + second.encode(table),
        first.cells * second.cells,
    )


def of_measure(measure: Measure, fit: Table) -> Feature:
    """The values of a measure as cells."""
    return distinct(measure.name, measure.of, measure.of(fit), ordered=measure.ordered)


def distinct(name: str, read: Callable[[Table], NDArray[Any]], seen: NDArray[Any], *, ordered: bool = True) -> Feature:
    """One cell per value seen, and one for everything else.

    Of too many values, ordered ones are put into ranges; of others those are kept that came more than once.
    """
    values, counts = np.unique(seen, return_counts=True)
    if len(values) > MOST_CELLS and ordered:
        cuts = _cuts(seen, BINS)
        return Feature(name, lambda table: np.searchsorted(cuts, read(table), side="right"), len(cuts) + 1)
    if len(values) > MOST_CELLS:
        often = np.argsort(counts, kind="stable")[::-1][:MOST_CELLS]
        values = np.sort(values[often[counts[often] > 1]])
    if not len(values):
        return Feature(name, lambda table: np.zeros(len(table), np.intp), 1)
    if values.dtype.kind in "biu" and int(values[0]) >= 0 and int(values[-1]) < 1 << 16:
        lookup = np.full(int(values[-1]) + 2, len(values))
        lookup[values.astype(np.intp)] = np.arange(len(values))
        return Feature(name, lambda table: lookup[np.clip(_whole(read(table)), 0, len(lookup) - 1)], len(values) + 1)

    def encode(table: Table) -> Codes:
        reports = read(table)
        inside = np.minimum(np.searchsorted(values, reports), len(values) - 1)
        return np.where(values[inside] == reports, inside, len(values))

    return Feature(name, encode, len(values) + 1)


def _whole(values: NDArray[Any]) -> Codes:
    return np.nan_to_num(values, nan=-1).astype(np.intp) if values.dtype.kind == "f" else values.astype(np.intp, copy=False)


def _cuts(seen: NDArray[Any], count: int) -> NDArray[np.float64]:
    values = seen.astype(np.float64)
    values = values[np.isfinite(values)]
    return np.unique(np.quantile(values, np.linspace(0, 1, count + 1)[1:-1])) if len(values) else np.zeros(1)


def _ranges(measure: Measure, seen: NDArray[Any]) -> Iterator[Feature]:
    """A few ranges of ordered values: unions of many small cells would be chosen by chance."""
    for few in (4, 16, 64):
        cuts = _cuts(seen, few)
        yield Feature(f"{measure.name}, in {len(cuts) + 1} ranges", partial(_above, cuts, measure), len(cuts) + 1)


def _above(cuts: NDArray[np.float64], measure: Measure, table: Table) -> Codes:
    """How many of the cuts each value is not below."""
    return np.searchsorted(cuts, measure.of(table), side="right")


def lowest_bit(reports: NDArray[Any]) -> Codes:
    """The exponent of a double's lowest set bit together with its size, as a code: floats from different sums differ here."""
    with np.errstate(all="ignore"):
        fraction, exponent = np.frexp(np.asarray(reports, np.float64))
    whole = np.abs(np.nan_to_num(fraction * 2.0**53, posinf=0, neginf=0)).astype(np.int64)
    trailing = np.where(whole > 0, np.log2(np.maximum(whole & -whole, 1)), 53).astype(np.intp)
    grid = np.clip(exponent - 53 + trailing + 80, 0, 95)  # the finest power of two the number is a multiple of
    size = np.clip(exponent + 12, 0, 15)
    return np.asarray(grid * 16 + size, np.intp)


def _lowest_bit_of(measure: Measure, table: Table) -> Codes:
    return lowest_bit(measure.of(table))


def lowest_bit_of_report() -> Feature:
    """The lowest bit of reports that are single numbers."""
    return Feature("the lowest bit of the report", lambda table: lowest_bit(table.numbers()), 96 * 16)


def seen_only(name: str, first: Table, second: Table) -> Feature:
    """Was the report seen from the first input, from the second, from both or from neither?"""
    one, two = np.unique(_content(first)), np.unique(_content(second))

    def encode(table: Table) -> Codes:
        content = _content(table)
        return (2 * np.isin(content, one) + np.isin(content, two)).astype(np.intp)

    return Feature(name, encode, 4)


def _content(table: Table) -> NDArray[Any]:
    only = table.columns.get(ROOT)
    return only if len(table.columns) == 1 and isinstance(only, np.ndarray) else table.whole()


def for_pair(first: Table, second: Table, shared: list[tuple[Feature, Histogram, Histogram]]) -> Iterator[Feature]:
    """Events made for two inputs, from draws that are used for nothing else; `shared` are the fields with their histograms."""
    distinct_reports = len(np.unique(_content(first)))
    if MOST_CELLS < distinct_reports < 0.99 * len(first):
        yield seen_only("reports seen before", first, second)
    if len(shared) < 2:
        return
    fields = [(feature, *log_ratio(a, b)) for feature, a, b in shared]
    scores = [(feature.encode, ratio) for feature, ratio, _ in fields]
    order = np.argsort([-spread for _, _, spread in fields])[:FEW_FIELDS]

    def total(table: Table) -> NDArray[np.float64]:
        total = np.zeros(len(table))
        for encode, ratio in scores:
            total += ratio[encode(table)]
        return np.round(total, 9)

    yield distinct("all fields together", total, np.concatenate([total(first), total(second)]))
    for few in (2, 4, FEW_FIELDS):
        telling = [fields[int(place)][:2] for place in order[:few]]
        yield Feature(f"the {len(telling)} most telling fields", _pattern(telling), 1 << len(telling))


def _pattern(telling: list[tuple[Feature, NDArray[np.float64]]]) -> Callable[[Table], Codes]:
    """Which of these fields speak for the first of two inputs, as binary digits."""

    def encode(table: Table) -> Codes:
        code = np.zeros(len(table), np.intp)
        for feature, ratio in telling:
            code = 2 * code + (ratio > 0)[feature.encode(table)]
        return code

    return encode
