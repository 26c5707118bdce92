"""TreeHist: which prefixes are frequent, from the Count-Sketch of one level after the other."""

from __future__ import annotations

import math

import numpy as np

from deniable.batch import Accumulator
from deniable.core import TreeHist
from deniable.estimators.estimate import Target
from deniable.estimators.frequent_words.candidates import WANTED, Prefixes, best, extend, readable
from deniable.estimators.frequent_words.count_sketch import CountSketch
from deniable.estimators.frequent_words.result import HeavyHitters, Level, held_out_shares


def find(source: Accumulator, share: float, false_positives: float, most: int, target: Target) -> HeavyHitters:
    """Walk the tree of prefixes from the root and keep those above the threshold.

    A share is a mean of signs, so by Hoeffding's bound one that is 0 exceeds sqrt(2 ln(tested/beta)) standard
    errors with probability at most beta/tested: at most so often does any prefix pass by luck.
    """
    mechanism = source.mechanism
    assert isinstance(mechanism, TreeHist)
    kept: Prefixes = np.zeros(1, np.uint64)
    levels: list[Level] = []
    before = 0
    for group, bits in enumerate(mechanism.levels):
        sketch = sketch_of(source, group)
        tested = extend(kept, bits - before)
        passed, kept, threshold = _frequent(sketch, tested, share, false_positives, most)
        levels.append(Level(bits, sketch.reports, len(tested), passed, len(kept), threshold))
        before = bits
        if len(kept) == 0:
            break
    words, prefixes = readable(mechanism.domain, kept)
    sketch = sketch_of(source, len(mechanism.levels))
    if sketch.reports:
        value, variance = sketch.solved(prefixes)
    else:
        value, variance = np.zeros(len(prefixes)), np.full(len(prefixes), np.inf)
    # In the order of the search: of words sorted by their own estimates, the first is too large by luck.
    shares = held_out_shares("tree-hist", source.n, value, variance, words, target)
    return HeavyHitters(tuple(words), shares, tuple(levels), false_positives, source.n)


def _frequent(
    sketch: CountSketch, tested: Prefixes, share: float, false_positives: float, most: int
) -> tuple[int, Prefixes, float]:
    """How many prefixes pass, the largest of them, and the threshold."""
    if sketch.reports == 0:
        return 0, tested[:0], math.inf
    # The median is noisier than the mean that decides, so it is asked for less.
    places, medians = sketch.screened(tested, least=WANTED * share / 2)
    chosen = best(np.arange(len(places)), medians, 2 * most)
    candidates = tested[places[chosen]]
    value, _ = sketch.solved(candidates)
    others = max(0.0, sketch.second_moment - float((value**2).sum())) / sketch.table.shape[1]
    spread = math.sqrt(1 / (sketch.kept_mean**2 * sketch.reports) + others / len(sketch.table))
    threshold = max(spread * math.sqrt(2 * math.log(len(tested) / false_positives)), WANTED * share)
    passed = np.flatnonzero(value >= threshold)
    return len(passed), candidates[best(passed, value, most)], threshold


def sketch_of(source: Accumulator, group: int) -> CountSketch:
    """The sketch of one group, from the counts of all outputs."""
    mechanism = source.mechanism
    assert isinstance(mechanism, TreeHist)
    start, channel = mechanism.channel.starts[group], mechanism.part(group)
    return CountSketch(channel, source.sums[start : start + channel.outputs])
