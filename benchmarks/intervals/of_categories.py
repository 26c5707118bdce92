"""Categories, attributes, tables, repeated questions, trees, words and joint answers: shares of listed and unlisted values."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from deniable.batch import accumulator_for, randomize_many
from deniable.core import LAYER, Binary, Categories, Interval, Rappor, Record, Whole, make_mechanism
from deniable.estimators import (
    HierarchicalHistogram,
    attribute_shares,
    counts,
    heavy_hitters,
    likely_shares,
    marginal_sums,
    shares,
    shares_over_rounds,
    shares_per_user,
    tree_sums,
    two_way,
)
from deniable.studies import KaryPair, answer_in_pairs, bounded_pair, estimate_ones
from intervals.answers import (
    BOTH,
    LEVEL,
    Answer,
    Cell,
    Floats,
    Trial,
    at_once,
    bins,
    divided,
    fixed,
    of_parts,
    of_shares,
    one_by_one,
    parts_of,
    quantiles_at,
    ranges,
    truth_of,
    yes,
)
from intervals.shapes import NUMBERS

BINS = 8
LEVELS, RANGES = (0.1, 0.5, 0.9), ((0.0, 0.2), (0.25, 0.75))
CATEGORIES = ("k-rr", "oue", "subset", "olh", "hadamard"), ("sue", "projective", "rappor", "extremal")
"""The main mechanisms, and others."""
ATTRIBUTES = ("product", "sample-one", "rs-fd")
TREES = ("hadamard",), ("oue",)
WORDS = ("pem", "tree-hist")
JOINT = ("bounded-pair", "k-ary pair")


def categories(cell: Cell) -> Trial:
    """Shares of eight categories, and those of yes and no."""
    mechanism = of_parts(cell, BINS)

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        values = NUMBERS[cell.shape](draws, cell.n)
        sums = accumulator_for(mechanism).add(randomize_many(mechanism, parts_of(values, BINS), stream))
        for target in BOTH:
            truth, whose = truth_of(cell, target, values, bins(BINS)), target
            unbiased = shares(sums, target=whose)
            yield of_shares("shares", target, truth, partial(unbiased.interval, LEVEL))
            yield at_once(of_shares("", target, truth, partial(unbiased.interval, LEVEL, together=True)), "shares, together")
            yield of_shares("projected shares", target, truth, partial(unbiased.projected("simplex").interval, LEVEL))
            if cell.mechanism in ("k-rr", "extremal"):
                people = partial(counts(sums, target=whose).interval, LEVEL)
                yield of_shares("counts", target, truth, divided(people, cell.n))
                # Its intervals are those of the unbiased shares, however near to the best its value is.
                likely = likely_shares(sums, target=whose, steps=1)
                yield of_shares("likely_shares", target, truth, partial(likely.interval, LEVEL))

    return trial


def yes_or_no(cell: Cell) -> Trial:
    """The share of yes."""
    mechanism: Any = make_mechanism(cell.mechanism, epsilon=cell.epsilon)

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        values = NUMBERS[cell.shape](draws, cell.n)
        sums = accumulator_for(mechanism).add(randomize_many(mechanism, (values < 0.2).astype(np.int64), stream))
        for target in BOTH:
            ends = partial(shares(sums, target=target).interval, LEVEL)
            yield of_shares("shares", target, truth_of(cell, target, values, yes), ends)

    return trial


def _crossed(values: Floats) -> Any:
    """The share of every answer and part."""
    return np.bincount(4 * (values < 0.2) + parts_of(values, 4), minlength=8) / len(values)


def attributes(cell: Cell) -> Trial:
    """Two attributes that depend on one another, asked in one of three ways."""
    record = Record({"yes": Binary(), "part": Categories(4)})
    mechanism: Any = make_mechanism(cell.mechanism, domain=record, epsilon=cell.epsilon)

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        values = NUMBERS[cell.shape](draws, cell.n)
        reports = randomize_many(mechanism, {"yes": (values < 0.2).astype(np.int64), "part": parts_of(values, 4)}, stream)
        sums: Any = accumulator_for(mechanism).add(reports)
        for target in BOTH:
            answer, part = truth_of(cell, target, values, yes), truth_of(cell, target, values, bins(4))
            if all(one.n for one in sums.parts.values()):
                by_field = attribute_shares(sums, target=target)
                yield of_shares("attribute_shares", target, answer, partial(by_field["yes"].interval, LEVEL))
                yield of_shares("attribute_shares, four values", target, part, partial(by_field["part"].interval, LEVEL))
            if cell.mechanism == "product":
                table = two_way(reports, "yes", "part", target=target)
                yield of_shares("two_way", target, truth_of(cell, target, values, _crossed), partial(table.interval, LEVEL))

    return trial


def tables(cell: Cell) -> Trial:
    """The table of two fields out of three, and that of one, from reports of pairs of fields."""
    record = Record({"yes": Binary(), "part": Categories(4), "late": Binary()})
    mechanism: Any = make_mechanism(cell.mechanism, domain=record, epsilon=cell.epsilon)

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        values = NUMBERS[cell.shape](draws, cell.n)
        fields = {"yes": values < 0.2, "part": parts_of(values, 4), "late": values >= 0.6}
        reports = randomize_many(mechanism, {name: column.astype(np.int64) for name, column in fields.items()}, stream)
        sums = marginal_sums(reports)
        if len(sums.heard) < len(mechanism.marginals):
            return
        for target in BOTH:
            crossed, parts = truth_of(cell, target, values, _crossed), truth_of(cell, target, values, bins(4))
            for name, names, truth in (("two fields", ["yes", "part"], crossed), ("one field", ["part"], parts)):
                ends = partial(sums.marginal(names, target=target).interval, LEVEL)
                yield of_shares(f"marginal_sums, {name}", target, truth, ends)

    return trial


def rounds(cell: Cell) -> Trial:
    """The same people asked three times, with answers that they keep inside."""
    mechanism = Rappor(domain=Categories(4), epsilon=cell.epsilon, permanent=3 * cell.epsilon)

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        from deniable.batch import Reports

        values = NUMBERS[cell.shape](draws, cell.n)
        chances = np.full((cell.n, 4), 1 - mechanism.kept / LAYER)
        chances[np.arange(cell.n), parts_of(values, 4)] = mechanism.kept / LAYER
        kept = draws.random((cell.n, 4)) < chances
        bits = draws.random((3, cell.n, 4)) < np.where(kept, mechanism.ones / LAYER, mechanism.zeros / LAYER)
        sent = [Reports(mechanism, np.packbits(one, axis=1, bitorder="little")) for one in bits]
        # Half of the people missed the last round.
        present = np.concatenate([np.arange(cell.n), np.arange(cell.n), np.arange(cell.n // 2)])
        some = Reports(mechanism, np.concatenate([one.outputs for one in sent])[: len(present)])
        for target in BOTH:
            truth = truth_of(cell, target, values, bins(4))
            over_rounds, per_user = shares_over_rounds(sent, target=target), shares_per_user(some, present, target=target)
            yield of_shares("shares_over_rounds", target, truth, partial(over_rounds.interval, LEVEL))
            yield of_shares("shares_per_user", target, truth, partial(per_user.interval, LEVEL))

    return trial


def trees(cell: Cell) -> Trial:
    """A hierarchical histogram of sixteen leaves."""
    oracle: Any = cell.mechanism
    tree = HierarchicalHistogram(Interval(0, 1), epsilon=cell.epsilon, fan_out=4, levels=2, oracle=oracle)
    asked = cell.one_of(LEVELS)
    questions = bins(tree.leaves), ranges(*RANGES), quantiles_at(*asked)

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        reports = tree.randomize_many(NUMBERS[cell.shape](draws, cell.n), stream)
        if any(len(batch) == 0 for batch in reports):
            return
        sums = tree.accumulate(reports)
        leaves, between, levels = (truth_of(cell, "population", np.empty(0), question) for question in questions)
        yield of_shares("tree: shares", "population", leaves, lambda: sums.shares().interval(LEVEL))
        yield of_shares("tree: cdf", "population", np.cumsum(leaves)[:-1], lambda: sums.cdf().interval(LEVEL))
        each = one_by_one([partial(sums.range_share, low, high) for low, high in RANGES])
        yield of_shares("tree: range_share", "population", between, each)
        yield of_shares("tree: quantiles", "population", levels, lambda: sums.quantiles(asked).interval(LEVEL))

    return trial


def prefixes(cell: Cell) -> Trial:
    """A tree over eight categories that every report names one block of."""
    mechanism = of_parts(cell, BINS)

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        sums = tree_sums(randomize_many(mechanism, parts_of(NUMBERS[cell.shape](draws, cell.n), BINS), stream))
        leaves = truth_of(cell, "population", np.empty(0), bins(BINS))
        yield of_shares("tree_sums: shares", "population", leaves, lambda: sums.shares().interval(LEVEL))
        yield of_shares("tree_sums: cdf", "population", np.cumsum(leaves)[:-1], lambda: sums.cdf().interval(LEVEL))

    return trial


def words(cell: Cell) -> Trial:
    """Words out of 256, of which few are frequent; only words that were found have intervals."""
    mechanism: Any = make_mechanism(cell.mechanism, domain=Whole(8), epsilon=cell.epsilon)

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        values = NUMBERS[cell.shape](draws, cell.n)
        reports = randomize_many(mechanism, parts_of(values, 256).astype(np.uint64), stream)
        for target in BOTH:
            found = heavy_hitters(reports, target=target)
            truth = truth_of(cell, target, values, bins(256))[np.array(found.words, int)] if len(found) else np.empty(0)
            for name, one, scale in (("heavy_hitters", found.shares, 1), ("heavy_hitters, counts", found.counts, cell.n)):
                if len(found):
                    # However many words were found, the first one speaks for all: their number differs from run to run.
                    low, high = (end[:1] / scale for end in one.interval(LEVEL))
                    yield of_shares(name, target, truth[:1], fixed(low, high))

    return trial


def joint(cell: Cell) -> Trial:
    """Pairs who answer together: how many hold a one, or how many hold each of four values."""
    return _ones(cell) if cell.mechanism == "bounded-pair" else _several(cell)


def _ones(cell: Cell) -> Trial:
    pair = bounded_pair(cell.epsilon, 2 * cell.epsilon)

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        held = (NUMBERS[cell.shape](draws, cell.n) < 0.2).astype(np.uint8)
        reported = int(answer_in_pairs(pair, held[draws.permutation(cell.n)], stream).sum())
        people = partial(estimate_ones(pair, reported, cell.n).interval, LEVEL)
        yield of_shares("estimate_ones", "these users", [1 - held.mean(), held.mean()], divided(people, cell.n))

    return trial


def _several(cell: Cell) -> Trial:
    pair = KaryPair.bounded(4, cell.epsilon, 2 * cell.epsilon)

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        held = parts_of(NUMBERS[cell.shape](draws, cell.n), 4)
        reported = np.bincount(pair.answer(held[draws.permutation(cell.n)], stream), minlength=4)
        people = partial(pair.estimate(reported).interval, LEVEL)
        truth = np.bincount(held, minlength=4) / cell.n
        yield of_shares("k-ary joint counts", "these users", truth, divided(people, cell.n))

    return trial
