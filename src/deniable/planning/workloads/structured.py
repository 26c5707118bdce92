"""Hierarchies for many values: fan-outs, mechanisms and shares of the people at every level, by optimisation, with their error.

At an even spread every level's node estimates have a covariance a·I + b·J: only a counts, because shares add up to 1. The leaves'
information then splits along the tree: contrasts between the children of a node at level k are seen by every level l >= k, with
information Σ_l m_l w_l / a_l, m_l being the leaves of a node and w_l the share of the people. The error of a workload is

    Σ_k T_k / Σ_{l >= k} m_l w_l / a_l,     T_k = tr(P_k WᵀW),

P_k projecting on those contrasts: convex in w. (Some sets of Hadamard and projective mechanisms are nested in one another, so
that pairs of nodes do not all err alike; then it is right to 1 or 2 %, and up to 1,024 values the exact error is stated.)
T_k needs sums over blocks only, which prefixes, ranges and histograms have in closed form: 10^5 values take a moment.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

import numpy as np
from scipy.optimize import minimize

from deniable.batch import Floats
from deniable.core import Categories, Epsilon, EpsilonLike, Hierarchy, make_mechanism
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import contrast_noise, influence, support_law
from deniable.planning.workloads.one_thread import one_thread
from deniable.planning.workloads.workload import Workload, workload

ORACLES = ("hadamard", "k-rr", "projective")
MOST_SHAPES = 40
MOST_LEAVES = 1 << 17
MOST_EXACT = 1024
SHARE_UNIT = 10_000
CLOSED = ("prefix", "ranges", "histogram")


@dataclass(frozen=True, eq=False)
class HierarchyDesign:
    """A hierarchy, and its error: squared errors of all answers added up, for one person beyond sampling, people spread evenly."""

    mechanism: Hierarchy
    error: float
    equal_shares: float
    """The error of the same tree when every level is asked as often."""


def best_hierarchy(
    questions: str | Workload, epsilon: EpsilonLike, *, size: int | None = None, fan_outs: Sequence[int] | None = None
) -> HierarchyDesign:
    """The hierarchy with the least error among all trees of equal blocks, with the best share of people at every level.

    Names `prefix`, `ranges` and `histogram` take up to 131,072 values; other workloads are given as tables.

    >>> tree = best_hierarchy("ranges", 1, size=64)
    >>> tree.error < tree.equal_shares, tree.mechanism.certificate().holds
    (True, True)
    """
    level = Epsilon(epsilon)
    count = questions.size if isinstance(questions, Workload) else size
    if count is None or isinstance(count, bool) or not isinstance(count, int) or not 4 <= count <= MOST_LEAVES:
        raise InvalidParameter(f"size must be a whole number from 4 to {MOST_LEAVES}: how many values there are")
    name = questions.name if isinstance(questions, Workload) else questions
    if not isinstance(questions, Workload) and name not in CLOSED:
        raise InvalidParameter(f"workload must be a Workload, or one of {', '.join(CLOSED)}")
    shapes = [tuple(fan_outs)] if fan_outs is not None else list(_shapes(count))
    best: tuple[float, tuple[int, ...], Floats] | None = None
    with one_thread():
        for shape in shapes:
            traces, costs = _traces(questions, shape), _costs(shape, level)
            shares = _best_shares(traces, costs)
            error = _error(traces, costs, shares)
            if best is None or error < best[0]:
                best = error, shape, shares
    if best is None:
        raise NotSupported(f"{count} values have no tree of equal blocks: pad them to a number with small factors")
    _, shape, shares = best
    whole = [max(round(float(share) * SHARE_UNIT), 1) for share in shares]
    sizes = np.cumprod(shape)
    oracles = [_best_oracle(int(nodes), level)[0] for nodes in sizes]
    mechanism = Hierarchy(domain=Categories(count), epsilon=level, fan_outs=shape, shares=whole, oracles=oracles)
    return HierarchyDesign(
        mechanism, hierarchy_error(questions, mechanism), hierarchy_error(questions, replace(mechanism, shares=None))
    )


def hierarchy_error(asked: str | Workload, mechanism: Hierarchy) -> float:
    """Squared errors of all answers added up, for one person beyond sampling: exact up to 1,024 values, beyond to 1 or 2 %."""
    count = mechanism.domain.size
    if count <= MOST_EXACT:
        questions = asked if isinstance(asked, Workload) else workload(asked, count)
        return float((hierarchy_covariance(mechanism) * questions.products).sum()) * float(questions.unit) ** 2
    assert mechanism.shares is not None
    shares = np.array(mechanism.shares, np.float64) / sum(mechanism.shares)
    traces = _traces(asked, mechanism.fan_outs)
    nodes = [part.domain.size for part in mechanism.parts.values()]
    assert mechanism.oracles is not None
    costs = [_noise(one, size, mechanism.privacy) / (count // size) for one, size in zip(mechanism.oracles, nodes, strict=True)]
    return _error(traces, np.array(costs), shares) - float(traces.sum()) / count


def hierarchy_covariance(mechanism: Hierarchy) -> Floats:
    """The covariance of one person's estimated shares beyond sampling, people spread evenly, by the law of all levels' reports."""
    assert mechanism.shares is not None
    size = mechanism.domain.size
    parts = list(mechanism.parts.values())
    shares = [share / sum(mechanism.shares) for share in mechanism.shares]
    variances = level_variances(mechanism)
    covariance = 1 / size**2 - np.eye(size) / size
    for part, share, pull in zip(parts, shares, influence(np.eye(size), variances, mechanism.fan_outs), strict=True):
        nodes = part.domain.size
        even = np.full(nodes, 1 / nodes)
        covariance += pull @ (support_law(part).count_noise(even, True) + np.diag(even) - 1 / nodes**2) @ pull.T / share
    return np.asarray(covariance, np.float64)


def level_variances(mechanism: Hierarchy) -> list[float]:
    """The variance of one node's share at every level, for one person in all: what the estimator weighs levels by."""
    assert mechanism.shares is not None
    variances = []
    for part, share in zip(mechanism.parts.values(), mechanism.shares, strict=True):
        law = support_law(part)
        chance = law.q + law.gap / part.domain.size
        variances.append(chance * (1 - chance) / law.gap**2 / (share / sum(mechanism.shares)))
    return variances


def _shapes(count: int) -> Iterator[tuple[int, ...]]:
    """Ordered factorisations with at least two levels, those with like fan-outs first; at most so many."""
    listed = [shape for shape in _factored(count) if len(shape) > 1]
    listed.sort(key=lambda shape: (max(shape) / min(shape), len(shape)))
    yield from listed[:MOST_SHAPES]


@cache
def _factored(count: int) -> list[tuple[int, ...]]:
    shapes: list[tuple[int, ...]] = [(count,)]
    for first in range(2, math.isqrt(count) + 1):
        if count % first == 0:
            for head in {first, count // first}:
                shapes += [(head, *rest) for rest in _factored(count // head)]
            if len(shapes) > 1 << 16:
                break
    return sorted(set(shapes))


@lru_cache(maxsize=4096)
def _best_oracle(nodes: int, level: Epsilon) -> tuple[str, float]:
    """The mechanism with the least noise along contrasts, for nodes that are equally likely; and that noise, sampling included."""
    noise, name = min((_noise(name, nodes, level), name) for name in ORACLES)
    return name, noise


@lru_cache(maxsize=4096)
def _noise(name: str, nodes: int, level: Epsilon) -> float:
    return contrast_noise(make_mechanism(name, domain=Categories(nodes), epsilon=level))


def _costs(shape: Sequence[int], level: Epsilon) -> Floats:
    """a_l / m_l: what one person asked at a level leaves open."""
    sizes = np.cumprod(shape)
    return np.array([_best_oracle(int(nodes), level)[1] / (int(sizes[-1]) // int(nodes)) for nodes in sizes])


def _traces(asked: str | Workload, shape: Sequence[int]) -> Floats:
    """T_k for every level."""
    count = math.prod(shape)
    sums = [_blocks(asked, count, count)]
    width = count
    for fan_out in shape:
        width //= fan_out
        sums.append(_blocks(asked, count, width))
    return np.diff(np.array(sums))


def _blocks(asked: str | Workload, count: int, width: int) -> float:
    """Σ over blocks of 1ᵀG1 / width: the trace of G on what is constant within blocks."""
    if isinstance(asked, Workload):
        whole = asked.products.reshape(count // width, width, count // width, width)
        inner = np.einsum("iajb->ij", whole)
        return float(np.trace(inner)) / width * float(asked.unit) ** 2
    if asked == "histogram":
        return count / width
    start = np.arange(0, count, width, dtype=np.float64)
    place = np.arange(width, dtype=np.float64)
    if asked == "prefix":
        # Σ (n − max): place j is the larger of a pair 2j + 1 times.
        later = float(((2 * place + 1) * place).sum())
        return float((width * width * (count - start) - later).sum()) / width
    # Σ (min + 1)(n − max), min = start + i, max = start + j: sums over i, j of both, from those of one block.
    larger = float(((2 * place + 1) * place).sum())
    smaller = float(((2 * (width - place) - 1) * place).sum())
    product = float((place * place.sum() * 1.0).sum())  # min · max = i · j
    each = (start + 1) * (count - start) * width * width + smaller * (count - start) - larger * (start + 1) - product
    return float(each.sum()) / width


def _error(traces: Floats, costs: Floats, shares: Floats) -> float:
    information = np.cumsum((shares / costs)[::-1])[::-1]
    return float((traces / information).sum())


def _best_shares(traces: Floats, costs: Floats) -> Floats:
    """Convex in the shares; solved in logarithms, from even ones."""
    scale = _error(traces, costs, np.full(len(costs), 1 / len(costs)))

    def objective(logs: Floats) -> tuple[float, Floats]:
        raised = np.exp(logs - logs.max())
        shares = raised / raised.sum()
        information = np.cumsum((shares / costs)[::-1])[::-1]
        slope = -np.cumsum(traces / information**2) / costs
        return float((traces / information).sum()) / scale, shares * (slope - float(shares @ slope)) / scale

    solved = minimize(objective, np.zeros(len(costs)), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    raised = np.exp(solved.x - solved.x.max())
    return np.asarray(raised / raised.sum(), np.float64)
