"""What a classifier says: the leaves of a decision tree of scikit-learn, grown on the first half of the search draws.

It finds what several fields tell together and no list of events names. Whether it found anything is decided like for
every other event, on fresh draws.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.privacy.auditing.events import Codes, Feature
from deniable.privacy.auditing.field_readings import bits
from deniable.privacy.auditing.fields import Table
from deniable.privacy.auditing.measures import measures

MOST_ROWS = 10_000
FEWEST_ROWS = 1_000
MOST_COLUMNS = 256
LEAVES = 64


def available() -> bool:
    """Is scikit-learn installed?"""
    return importlib.util.find_spec("sklearn") is not None


def propose(fit: Table, inputs: int) -> Iterator[Feature]:
    """The leaves of the tree as cells."""
    columns = _columns(fit)
    rows = fit.rows(slice(0, MOST_ROWS))
    if not columns or len(rows) < FEWEST_ROWS * inputs:
        return
    from sklearn.tree import DecisionTreeClassifier  # takes a second

    tree = DecisionTreeClassifier(max_leaf_nodes=LEAVES, min_samples_leaf=20, random_state=0)
    tree.fit(_matrix(rows, columns), rows.places)
    yield Feature("the leaves of a learned tree", partial(_leaves, tree, columns), tree.tree_.node_count)


def _columns(fit: Table) -> list[Any]:
    """Readers of a column each: the values of fields, and bits."""
    columns: list[Any] = [measure.of for measure in measures(fit) if measure.ordered]
    room = MOST_COLUMNS - len(columns)
    every = [bit.read for bit in bits(fit)]
    return (columns + (every if len(every) <= room else every[: room // 2] + every[-(room // 2) :]))[:MOST_COLUMNS]


def _matrix(table: Table, columns: list[Any]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        return np.nan_to_num(np.column_stack([np.asarray(read(table), np.float32) for read in columns]))


def _leaves(tree: Any, columns: list[Any], table: Table) -> Codes:
    return np.asarray(tree.apply(_matrix(table, columns)), np.intp)
