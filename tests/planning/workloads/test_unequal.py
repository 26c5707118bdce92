"""Designs for unequal privacy: rows, optima, bounds, and faults that must be caught."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from deniable.core import Categories, Privacy, make_mechanism
from deniable.errors import NotSupported
from deniable.estimators import combined_shares
from deniable.estimators.mixed_levels import group_weights
from deniable.planning import WrongBound, design_unequal, design_workload
from deniable.planning.workloads.design import columns
from deniable.planning.workloads.exact_error import table_error
from deniable.planning.workloads.rays import rays
from deniable.planning.workloads.unequal import proved_for_rows
from deniable.planning.workloads.workload import gram, spread, workload
from deniable.privacy import FixedKeystream

PROMISES = [
    Privacy.uniform(4, 1),
    Privacy.metric([0, 1, "2.5", 3], "1/2"),
    Privacy.sensitive(4, [0, 1], 1),
    Privacy.discriminative([1, 1, 2, 3]),
    Privacy.blocks([[0, 1], [2, 3]], 1),
    Privacy([[None, "0.5", None, 1], [1, None, 2, None], ["0.3", 1, None, "0.7"], [None, 2, None, None]]),
]


def every_ray(privacy: Privacy) -> set[tuple[float, ...]]:
    """Another way: all choices of tight inequalities, solved."""
    size = privacy.size
    rows = [-one for one in np.eye(size)]
    for x, y in itertools.permutations(range(size), 2):
        level = privacy.level(x, y)
        if level is not None:
            rows.append(np.eye(size)[x] - math.exp(float(level)) * np.eye(size)[y])
    table = np.array(rows)
    solved = set()
    for some in itertools.combinations(range(len(table)), size - 1):
        square = np.vstack([table[list(some)], np.ones(size)])
        if abs(np.linalg.det(square)) > 1e-9:
            ray = np.linalg.solve(square, np.eye(size)[-1])
            if (table @ ray < 1e-9).all():
                solved.add(tuple(np.round(ray, 7) + 0.0))
    return solved


@pytest.mark.parametrize("privacy", PROMISES)
def test_all_extremal_rows_are_listed_and_no_other(privacy: Privacy) -> None:
    listed, unit = rays(privacy)
    weights = [np.array([0.0 if t is None else math.exp(t * float(unit)) for t in ray]) for ray in listed]
    assert {tuple(np.round(row / row.sum(), 7) + 0.0) for row in weights} == every_ray(privacy)


@pytest.mark.parametrize("privacy", PROMISES)
@pytest.mark.parametrize("name", ["histogram", "prefix"])
def test_designs_are_certified_and_their_gap_closes(privacy: Privacy, name: str) -> None:
    design = design_unequal(name, privacy)
    assert design.mechanism.certificate().holds
    assert design.gap is not None
    assert -1e-12 < design.gap < 1e-5


def test_equal_levels_give_the_optimum_of_equal_privacy() -> None:
    assert design_unequal("prefix", Privacy.uniform(6, 1)).error == pytest.approx(
        design_workload("prefix", 1, size=6).error, rel=1e-5
    )


@pytest.mark.parametrize("name", ["urr", "urap"])
def test_no_published_mechanism_passes_the_bound(name: str) -> None:
    for epsilon in ("0.5", "1", "3"):
        published = make_mechanism(name, domain=Categories(6), epsilon=epsilon, sensitive=[0, 1, 2])
        design = design_unequal("histogram", Privacy.sensitive(6, [0, 1, 2], epsilon))
        people = spread("uniform", 6)
        error = table_error(columns(published.channel), gram(workload("histogram", 6), people), people).mean
        assert error >= design.lower_bound
        assert design.error <= error * (1 + 1e-6)


def test_a_weaker_promise_never_costs_accuracy() -> None:
    strict = design_unequal("histogram", Privacy.uniform(5, 1)).error
    some = design_unequal("histogram", Privacy.sensitive(5, [0, 1], 1)).error
    line = design_unequal("histogram", Privacy.metric(range(5), "1/4")).error
    assert some < strict
    assert line > strict  # the farthest pair has level 1, nearer ones less


def test_planted_multipliers_prove_nothing() -> None:
    privacy = Privacy.sensitive(4, [0, 1], 1)
    design = design_unequal("histogram", privacy)
    people, (listed, unit) = design.people, rays(privacy)
    centred = gram(design.workload, people)
    bound = design.bound
    assert proved_for_rows(centred, people, listed, unit, bound.inverse, bound.multipliers).value == design.lower_bound
    with pytest.raises(WrongBound, match="extremal row"):
        proved_for_rows(centred, people, listed, unit, bound.inverse, bound.multipliers * 0.999)
    with pytest.raises(WrongBound):
        proved_for_rows(centred, people, listed, unit, bound.inverse * 1.01, bound.multipliers)


def test_too_many_values_are_refused_with_a_way_out() -> None:
    with pytest.raises(NotSupported, match="merge values"):
        design_unequal("histogram", Privacy.metric(range(13), "1/4"))


def test_groups_of_different_levels_are_weighed_best() -> None:
    levels = [make_mechanism("k-rr", domain=Categories(4), epsilon=level) for level in ("0.5", "3")]
    weights = group_weights(levels, [1000, 1000])
    assert np.allclose(sum(weights), np.eye(4))
    truth = np.array([0, 1, 1, 2, 2, 2, 3, 3, 3, 3] * 200)
    from deniable.batch import randomize_many

    offs = []
    for run in range(40):
        reports = [randomize_many(one, truth, FixedKeystream(2 * run + place)) for place, one in enumerate(levels)]
        both = combined_shares(reports)
        offs.append(both.value - [0.1, 0.2, 0.3, 0.4])
    # 40 runs: the mean is within five standard errors (false alarms below 1e-6 for each value).
    error = both.standard_error / math.sqrt(40)
    assert (np.abs(np.mean(offs, axis=0)) < 5.2 * error).all()
    alone = combined_shares(reports[1:])
    assert (both.variance <= alone.variance * 1.02).all()


def test_a_group_that_tells_little_never_harms() -> None:
    sharp = make_mechanism("k-rr", domain=Categories(4), epsilon=3)
    calm, alone = (
        np.linalg.norm(group_weights([sharp, *more], [1000] * (1 + len(more)))[0] - np.eye(4))
        for more in ([make_mechanism("k-rr", domain=Categories(4), epsilon="0.01")], [])
    )
    assert alone < 1e-7
    assert calm < 0.01
