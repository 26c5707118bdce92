"""Which fields of a record to ask about together, and how often, for all tables of K of them: by optimisation, with the error.

At an even spread the cells of a marginal m err like a_m·I + b_m·J, and only a_m counts. With shares w of the people the information
about the interaction of the fields T is I_T = Σ_{m ⊇ T} w_m / (a_m · others), `others` being the values of the fields of m
that are not in T; the squared errors of all answers add up to Σ_T c_T / I_T (proofs/marginals.md), convex in w. Shares are raised
where the slope is steep (w ← w · √slope, which never increases the error); the largest slope bounds how far the optimum can be.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations
from math import comb, prod

import numpy as np

from deniable.batch import Floats
from deniable.core import Categories, Epsilon, EpsilonLike, Marginals, Record, make_mechanism
from deniable.errors import DeniableError, InvalidParameter, NotSupported
from deniable.estimators import contrast_noise, interaction, others, subsets, support_law
from deniable.planning.workloads.one_thread import one_thread

ORACLES = ("hadamard", "k-rr", "projective", "subset")
MOST_CANDIDATES = 1200
MOST_CELLS = 1024
MOST_OUTPUTS = 1 << 16
"""A mechanism with more outputs than this is not weighed unless it has one or two for each cell."""
SHARE_UNIT = 1 << 20
STEPS = 4000
CLOSE = 1e-4
"""How close to the best shares the search ends, relative to the error."""
LEAST = 1e-4
"""A marginal that fewer people than this part of an even share would be asked about is left out."""
Fields = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class MarginalsDesign:
    """A mechanism, and its error: squared errors of all K-way tables added up, beyond sampling, for one person, people even."""

    mechanism: Marginals
    error: float
    every_table: float
    """The error when exactly the K-way tables are asked, each as often."""
    full_table: float | None
    """The error when everyone reports the whole record as one value; None for too many cells."""
    gap: float
    """How much smaller the error of other shares of the same candidates could be, as a part of this one."""


def best_marginals(record: Record, ways: int, epsilon: EpsilonLike) -> MarginalsDesign:
    """The sets of fields, and the shares of people asked about each, with the least error for all tables of `ways` fields.

    Candidates are all sets of fields of one size after the other, while they are not too many (1,200) and have at most 1,024 cells.

    >>> person = Record({"smokes": Categories(2), "city": Categories(5), "job": Categories(8)})
    >>> design = best_marginals(person, 2, 1)
    >>> design.error <= min(design.every_table, design.full_table), design.mechanism.certificate().holds
    (True, True)
    """
    level, sizes = Epsilon(epsilon), _sizes(record, ways)
    tables = list(combinations(range(len(sizes)), ways))
    with one_thread():
        candidates = _candidates(sizes, ways)
        shares, gap = _best_shares(candidates, tables, sizes, level)
        kept = [(one, round(float(share) * SHARE_UNIT)) for one, share in zip(candidates, shares, strict=True)]
        kept = [(one, share) for one, share in kept if share > 0]
        best = _mechanism(record, [one for one, _ in kept], [share for _, share in kept], level)
        every = every_table(record, ways, level)
        full = None if prod(sizes) > MOST_CELLS else full_table(record, level)
        errors = [marginals_error(one, ways) for one in (best, every, full) if one is not None]
        # Where one set alone is best, rounding of the shares may leave it ahead by a hair.
        chosen = (best, every, full)[int(np.argmin(errors))]
    assert chosen is not None
    return MarginalsDesign(chosen, min(errors), errors[1], errors[2] if full is not None else None, gap)


def every_table(record: Record, ways: int, epsilon: EpsilonLike) -> Marginals:
    """A baseline: exactly the tables of `ways` fields, each asked as often, by the best mechanism for its cells."""
    level = Epsilon(epsilon)
    tables = list(combinations(range(len(_sizes(record, ways))), ways))
    return _mechanism(record, tables, [1] * len(tables), level)


def full_table(record: Record, epsilon: EpsilonLike) -> Marginals:
    """A baseline: everyone reports the whole record as one value, by the best mechanism for so many."""
    return _mechanism(record, [tuple(range(len(record.fields)))], [1], Epsilon(epsilon))


def marginals_error(mechanism: Marginals, ways: int) -> float:
    """Squared errors of all tables of `ways` fields added up, one person, beyond sampling, people spread evenly."""
    assert mechanism.shares is not None
    sizes = _sizes(mechanism.domain, ways)
    places = {name: place for place, name in enumerate(mechanism.domain.fields)}
    asked = [tuple(places[name] for name in names) for names in mechanism.marginals]
    shares = [share / sum(mechanism.shares) for share in mechanism.shares]
    parts = list(mechanism.parts.values())
    tables = list(combinations(range(len(sizes)), ways))
    wanted = _weights(tables, sizes)
    noises = [_noise(part.name, part.domain.size, mechanism.privacy) for part in parts]
    each = list(zip(asked, shares, parts, noises, strict=True))
    informed = expected_information(mechanism)
    missing = next((one for one in wanted if one not in informed), None)
    if missing is not None:
        names = ", ".join(list(mechanism.domain.fields)[place] for place in missing)
        raise NotSupported(f"no marginal of this mechanism has {names} together")
    error = -sum(1 - 1 / prod(sizes[field] for field in table) for table in tables)
    for fields, share, part, noise in each:
        shape = tuple(sizes[field] for field in fields)
        for one in _within(fields, wanted):
            weight = share / (noise * others(one, fields, sizes)) / informed[one]
            inside = tuple(fields.index(field) for field in one)
            error += wanted[one] * weight**2 * _interaction_noise(part.name, shape, inside, mechanism.privacy) / share
    return error


def expected_information(mechanism: Marginals) -> dict[Fields, float]:
    """About every interaction that some marginal tells, by one report."""
    assert mechanism.shares is not None
    sizes = [domain.size for domain in mechanism.domain.fields.values()]
    places = {name: place for place, name in enumerate(mechanism.domain.fields)}
    informed: dict[Fields, float] = {}
    for names, share, part in zip(mechanism.marginals, mechanism.shares, mechanism.parts.values(), strict=True):
        fields, noise = tuple(places[name] for name in names), _noise(part.name, part.domain.size, mechanism.privacy)
        for one in subsets(fields):
            informed[one] = informed.get(one, 0.0) + share / sum(mechanism.shares) / (noise * others(one, fields, sizes))
    return informed


def answers_of(record: Record, ways: int) -> int:
    """How many cells all tables of so many fields have together."""
    sizes = _sizes(record, ways)
    return sum(prod(sizes[field] for field in table) for table in combinations(range(len(sizes)), ways))


def interaction_weights(record: Record, ways: int) -> dict[Fields, float]:
    """For every interaction: how much its squared error adds to the squared errors of all tables of so many fields."""
    sizes = _sizes(record, ways)
    return _weights(list(combinations(range(len(sizes)), ways)), sizes)


def _weights(tables: Sequence[Fields], sizes: Sequence[int]) -> dict[Fields, float]:
    weights: dict[Fields, float] = {}
    for table in tables:
        for one in subsets(table):
            weights[one] = weights.get(one, 0.0) + 1 / others(one, table, sizes)
    return weights


def _sizes(record: Record, ways: int) -> tuple[int, ...]:
    sizes = tuple(domain.size for domain in record.fields.values())
    if isinstance(ways, bool) or not isinstance(ways, int) or not 1 <= ways <= len(sizes):
        raise InvalidParameter(f"marginals:K needs K from 1 to {len(sizes)}, the number of attributes")
    return sizes


def _candidates(sizes: Sequence[int], ways: int) -> list[Fields]:
    """Sets of fields, beginning with those of `ways` fields, then larger ones, then smaller ones."""
    candidates: list[Fields] = []
    for count in (*range(ways, len(sizes) + 1), *range(ways - 1, 0, -1)):
        if candidates and len(candidates) + comb(len(sizes), count) > MOST_CANDIDATES:
            continue
        some = combinations(range(len(sizes)), count)
        candidates += [one for one in some if count == ways or prod(sizes[field] for field in one) <= MOST_CELLS]
        if len(candidates) > 4 * MOST_CANDIDATES:
            raise NotSupported("there are too many tables of so many attributes; ask for fewer of them together")
    return candidates


def _best_shares(
    candidates: Sequence[Fields], tables: Sequence[Fields], sizes: Sequence[int], level: Epsilon
) -> tuple[Floats, float]:
    wanted = _weights(tables, sizes)
    rows = {one: row for row, one in enumerate(wanted)}
    costs = np.array([weight * prod(sizes[field] - 1 for field in one) for one, weight in wanted.items()])
    informs = np.zeros((len(rows), len(candidates)))
    for column, fields in enumerate(candidates):
        noise = _best_oracle(prod(sizes[field] for field in fields), level)[1]
        for one in _within(fields, rows):
            informs[rows[one], column] = 1 / (noise * others(one, fields, sizes))
    shares, gap = np.full(len(candidates), 1 / len(candidates)), np.inf
    for step in range(STEPS):
        information = informs @ shares
        error = float((costs / information).sum())
        slopes = (costs / information**2) @ informs
        gap = 1 - error / float(slopes.max())
        if gap < CLOSE:
            break
        shares = shares * np.sqrt(slopes / error)
        if step % 100 == 99:
            shares[shares < LEAST / len(candidates)] = 0.0
        shares = shares / shares.sum()
    shares[shares < LEAST / len(candidates)] = 0.0
    return shares / shares.sum(), float(gap)


def _within(fields: Fields, known: Collection[Fields]) -> list[Fields]:
    """The sets of these fields that are asked for."""
    most = max(map(len, known))
    return [one for count in range(1, min(most, len(fields)) + 1) for one in combinations(fields, count) if one in known]


def _mechanism(record: Record, sets: Sequence[Fields], shares: Sequence[int], level: Epsilon) -> Marginals:
    names = list(record.fields)
    sizes = [domain.size for domain in record.fields.values()]
    return Marginals(
        domain=record,
        epsilon=level,
        marginals=[[names[field] for field in one] for one in sets],
        shares=shares,
        oracles=[_best_oracle(prod(sizes[field] for field in one), level)[0] for one in sets],
    )


@lru_cache(maxsize=4096)
def _best_oracle(cells: int, level: Epsilon) -> tuple[str, float]:
    """The mechanism with the least noise along contrasts, for cells that are equally likely; and that noise."""
    noises = []
    for name in ORACLES:
        try:
            mechanism = make_mechanism(name, domain=Categories(cells), epsilon=level)
        except DeniableError:
            continue
        if name != "subset" or mechanism.channel.outputs <= MOST_OUTPUTS:
            noises.append((_noise(name, cells, level), name))
    noise, name = min(noises)
    return name, noise


@lru_cache(maxsize=4096)
def _noise(name: str, cells: int, level: Epsilon) -> float:
    return contrast_noise(make_mechanism(name, domain=Categories(cells), epsilon=level))


@cache
def _interaction_noise(name: str, shape: tuple[int, ...], inside: Fields, level: Epsilon) -> float:
    """The squared error of one interaction by one report, people spread evenly and drawn at random."""
    covariance = _covariance(name, prod(shape), level)
    if covariance is None:
        left = prod(size for place, size in enumerate(shape) if place not in inside)
        return _noise(name, prod(shape), level) * left * prod(shape[place] - 1 for place in inside)
    # Cells that agree inside are added first: few are left.
    sizes = [shape[place] for place in inside]
    places = np.indices(shape).reshape(len(shape), -1)
    cell = np.ravel_multi_index(tuple(places[place] for place in inside), sizes)
    added = (np.arange(prod(sizes))[:, None] == cell).astype(np.float64)
    summed, fields = added @ covariance @ added.T, tuple(range(len(sizes)))
    once = interaction(summed.reshape(-1, *sizes), fields, fields).reshape(summed.shape)
    return float(np.trace(interaction(np.ascontiguousarray(once.T).reshape(-1, *sizes), fields, fields).reshape(summed.shape)))


@lru_cache(maxsize=64)
def _covariance(name: str, cells: int, level: Epsilon) -> Floats | None:
    """Of one report's unbiased shares; None for so many cells that noise along contrasts is all that is looked at."""
    if cells > MOST_CELLS:
        return None
    law, even = support_law(make_mechanism(name, domain=Categories(cells), epsilon=level)), np.full(cells, 1 / cells)
    return np.asarray(law.count_noise(even, True) + np.diag(even) - 1 / cells**2, np.float64)
