"""The inequality of proofs/workload-optimality.md, read from the page and evaluated in rational arithmetic."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from deniable.core import Epsilon
from deniable.planning import WorkloadDesign, design_workload
from deniable.planning.workloads.exact_error import table_error
from deniable.planning.workloads.workload import gram, spread, workload

PAGE = (Path(__file__).parents[3] / "proofs" / "workload-optimality.md").read_text(encoding="utf-8")
STATED = re.search(r"^```inequality\n(.*?)    for every s in \{1, E\}\^n\.\n```$", PAGE, re.DOTALL | re.MULTILINE)


def holds(stated: str, design: WorkloadDesign, epsilon: Epsilon, share: Fraction = Fraction(1)) -> bool:
    """Is the stated inequality true for all rows, with λ scaled by `share`? For both rationals around e^ε."""
    assert design.bound is not None
    left, _, right = stated.partition(" <= ")
    assert (left, right) == ("s·(Y G Y)s", "(p·s)(λ·s)")
    size = design.workload.size
    people = spread("uniform", size)
    centred = gram(design.workload, people)
    y = [[Fraction(float(a)) for a in row] for row in (design.bound.inverse + design.bound.inverse.T) / 2]
    g = [[int(a) * centred.scale for a in row] for row in centred.centred]
    prices = [Fraction(float(a)) * share for a in design.bound.multipliers]
    p = Fraction(1, size)
    for raised in epsilon.bounds():
        for s in product((Fraction(1), raised), repeat=size):
            z = [sum(y[i][j] * s[j] for j in range(size)) for i in range(size)]
            pulled = sum(z[i] * g[i][j] * z[j] for i in range(size) for j in range(size))
            if pulled > p * sum(s) * sum(a * b for a, b in zip(prices, s, strict=True)):
                return False
    return True


@pytest.mark.parametrize(("name", "epsilon"), [("prefix", "1"), ("histogram", "3"), ("ranges", "0.5")])
def test_the_pages_inequality_holds_for_designs_and_fails_for_planted_ones(name: str, epsilon: str) -> None:
    assert STATED is not None
    design = design_workload(name, epsilon, size=4)
    assert holds(STATED.group(1), design, Epsilon(epsilon))
    assert not holds(STATED.group(1), design, Epsilon(epsilon), Fraction(999, 1000))
    assert not holds(STATED.group(1), design, Epsilon(Fraction(epsilon) * Fraction(11, 10)))


def test_no_mechanism_of_a_grid_is_below_the_bound() -> None:
    """Thousands of tables that keep e^ε = 3, drawn without any thought of optimality."""
    people = spread("uniform", 3)
    centred = gram(workload("prefix", 3), people)
    bound = design_workload("prefix", Epsilon("1.0986122886681098"), size=3).lower_bound
    assert bound is not None
    seen = 0
    for entries in product((1, 2, 3), repeat=9):
        table = np.array(entries).reshape(3, 3)
        last = table.sum(axis=0).max() + 2 - table.sum(axis=0)
        if last.max() > 3 * last.min() or np.linalg.matrix_rank(np.vstack([table, last])) < 3:
            continue
        assert table_error([*table.tolist(), last.tolist()], centred, people).mean > bound * (1 - 1e-9)
        seen += 1
        if seen == 300:
            break
    assert seen == 300
