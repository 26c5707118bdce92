"""Tables of several attributes in the planner: the best sets of fields, all tables equally often, and the whole record as one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from deniable.batch import Floats, Keystream, randomize_many
from deniable.core import Binary, Categories, Epsilon, Marginals, Record, digits
from deniable.errors import NotSupported
from deniable.estimators import contrast_noise, interaction, marginal_sums, others, pull, subsets, support_law
from deniable.planning.fakes import part_of, supported
from deniable.planning.way import LeftOut, Prediction, Way, normal
from deniable.planning.workloads.marginal_sets import (
    MOST_CELLS,
    answers_of,
    best_marginals,
    every_table,
    expected_information,
    full_table,
    interaction_weights,
)
from deniable.privacy import Gain

GOLDEN = 0.6180339887498949
LARGEST_WORD, MOST_AXES = 1 << 62, 32
"""What arrays of whole numbers hold, and how many fields NumPy takes apart at once."""
MOST_PAIRS = 500
"""Of a marginal and a table, beyond which the worst report is not looked for."""


def ways_of(workload: str, fields: int) -> int:
    """K of marginals:K.

    >>> ways_of("marginals:2", 3)
    2
    """
    text = workload.removeprefix("marginals:")
    if not workload.startswith("marginals:") or not text.isdecimal() or not 1 <= int(text) <= fields:
        raise NotSupported(
            f"several attributes have the workload marginals:K, with K from 1 to {fields}; plan others for each on its own"
        )
    return int(text)


def bits(size: int) -> Record | None:
    """Categories as records of bits, where their number is a power of two."""
    count = size.bit_length() - 1
    return Record({f"bit {place + 1}": Binary() for place in range(count)}) if size == 1 << count and count > 1 else None


def marginal_ways(record: Record, ways: int, epsilon: Epsilon) -> Iterator[Way | LeftOut]:
    """Every way to ask for the tables of `ways` fields by marginals."""
    try:
        design = best_marginals(record, ways, epsilon)
    except NotSupported as why:
        yield LeftOut("marginals", str(why))
        return
    yield _marginals("best sets", design.mechanism, ways, design.error)
    yield _marginals("every table equally often", every_table(record, ways, epsilon), ways, design.every_table)
    if design.full_table is None:
        yield LeftOut("marginals (whole record)", f"the whole record has more than {MOST_CELLS:,} values")
    else:
        yield _marginals("whole record", full_table(record, epsilon), ways, design.full_table)


def _marginals(inner: str, mechanism: Marginals, ways: int, error: float) -> Way:
    answers = answers_of(mechanism.domain, ways)

    def predict(n: int) -> Prediction:
        return normal(math.sqrt(error / answers / n))

    def losses(n: int, runs: int, stream: Keystream) -> Floats:
        people, truth = _people(mechanism.domain, n, ways)
        weights = interaction_weights(mechanism.domain, ways)
        each = np.empty(runs)
        for run in range(runs):
            sums = marginal_sums(randomize_many(mechanism, people, stream))
            off = [weights[one] * float(((sums.interaction(one) - truth[one]) ** 2).sum()) for one in weights]
            each[run] = sum(off) / answers
        return each

    return Way(
        name=mechanism.name,
        asked=mechanism,
        estimator=f"marginal_sums(reports).marginals({ways})",
        predict=predict,
        losses=losses,
        inner=inner,
        gain=lambda n: _gain(mechanism, ways, n),
    )


def _people(record: Record, n: int, ways: int) -> tuple[dict[str, np.ndarray[Any, Any]], dict[tuple[int, ...], Floats]]:
    """Users spread evenly over the records, in steps that share no factor with their number; and the true interactions."""
    step = int(record.size * GOLDEN) | 1
    while math.gcd(step, record.size) > 1:
        step += 2
    # Rounds of a size beyond n are cut anywhere: steps by the golden ratio leave no part of the records out.
    columns: dict[str, np.ndarray[Any, Any]] = {}
    sizes = [domain.size for domain in record.fields.values()]
    if record.size * n < LARGEST_WORD and len(sizes) <= MOST_AXES:
        numbers = list(np.unravel_index(np.arange(n, dtype=np.int64) * step % record.size, sizes))
    else:
        each = (digits(index * step % record.size, sizes) for index in range(n))
        numbers = [np.array(column) for column in zip(*each, strict=True)]
    for (name, domain), column in zip(record.fields.items(), numbers, strict=True):
        labels = domain.labels if isinstance(domain, Categories) else None
        columns[name] = column if labels is None else np.array(labels)[column]
    truth = {}
    for fields in (one for table in combinations(range(len(sizes)), ways) for one in subsets(table)):
        if fields not in truth:
            shape = [sizes[field] for field in fields]
            cells = np.ravel_multi_index([numbers[field] for field in fields], shape)
            truth[fields] = interaction(np.bincount(cells, minlength=math.prod(shape)).reshape(shape) / n, fields, fields)
    return columns, truth


def _gain(mechanism: Marginals, ways: int, n: int) -> Gain | None:
    """The cell of a table that fakes can move most: all of them say that they were asked for one marginal."""
    assert mechanism.shares is not None
    sizes = [domain.size for domain in mechanism.domain.fields.values()]
    places = {name: place for place, name in enumerate(mechanism.domain.fields)}
    tables = list(combinations(range(len(sizes)), ways))
    if len(tables) * len(mechanism.marginals) > MOST_PAIRS:
        return None
    informed, most, moved = expected_information(mechanism), 0.0, 0.0
    for names, share, part in zip(mechanism.marginals, mechanism.shares, mechanism.parts.values(), strict=True):
        own, asked = tuple(places[name] for name in names), share / sum(mechanism.shares)
        noise, law = contrast_noise(part), support_law(part)
        weights = {one: asked / (noise * others(one, own, sizes)) / informed[one] for one in subsets(own)}
        for table in tables:
            shape = [sizes[field] for field in table]
            rows = pull(np.eye(math.prod(shape)).reshape(-1, *shape), table, own, sizes, weights.__getitem__)
            reach = float(np.abs(supported(rows, law, part)[0]).max())
            most, moved = max(most, reach), max(moved, part_of(n, 1 / asked) * reach)
    return Gain("one cell of a table", moved, most, False)
