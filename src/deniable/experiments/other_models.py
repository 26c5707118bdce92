"""The same record before models that were trained otherwise: how far a robust box depends on what the source leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.experiments.case_studies import robust_box
from deniable.experiments.pictures import significant

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def other_models(kind: str, table: Floats, labels: Integers) -> Iterator[tuple[str, Any]]:
    """Regressions with other penalties, forests with other depths and seeds, and both on a part of the records."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    part = len(table) * 4 // 5
    if kind == "LR":
        for strength in (0.01, 0.1, 10, 1e6):
            yield f"C = {strength:g}", LogisticRegression(C=strength, max_iter=5000).fit(table, labels)
        yield "equal weight of both classes", LogisticRegression(class_weight="balanced", max_iter=5000).fit(table, labels)
        yield "80 % of the records", LogisticRegression(max_iter=5000).fit(table[:part], labels[:part])
        return
    for depth, seed in ((4, 0), (6, 0), (8, 1), (8, 2), (12, 0)):
        forest = RandomForestClassifier(100, max_depth=depth, random_state=seed, n_jobs=1)
        yield f"depth {depth}, seed {seed}", forest.fit(table, labels)
    forest = RandomForestClassifier(100, max_depth=8, random_state=0, n_jobs=1)
    yield "80 % of the records", forest.fit(table[:part], labels[:part])


def box_ends(
    kind: str, table: Floats, labels: Integers, record: Any, columns: Sequence[int], ends: Mapping[str, tuple[int, int]]
) -> dict[str, dict[str, float]]:
    """By the name of an end of the box (which axis, 0 for its low and 1 for its high side): where the others have it."""
    found: dict[str, dict[str, float]] = {f"{kind} box, {name}": {} for name in ends}
    for label, model in other_models(kind, table, labels):
        box = robust_box(model, record, columns)
        for name, (axis, side) in ends.items():
            found[f"{kind} box, {name}"][label] = significant((box.low, box.high)[side][axis], 5)
    return found
