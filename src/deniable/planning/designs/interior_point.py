"""The program of a reference density on an interval, solved from its interior.

The reference is spread evenly over cells of outputs, so the error of a value is a smooth convex function of the
cells' masses: the level of its best cut moves with them (cutting_planes.py says what a cut is). Newton's
method follows the central path of the program; it ends with a smooth reference and smooth multipliers, whose bounds
lose little between the points of a grid. Nothing here proves anything: mechanism and bound are checked by integers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deniable.batch import Floats, Integers

HALVINGS = 60
MOST_STEPS = 80
RESTARTS, STALLED = 3, 4
TO_THE_WALL = 0.95
"""How much of the way to the border of what is allowed a step may take."""


class Central(NamedTuple):
    """Masses of the cells' orbits, their cost; reach and weight of every value's cut."""

    masses: Floats
    cost: float
    value: float
    reaches: Floats
    weights: Floats
    steps: int


class Cells:
    """Losses |y - x|**k of values x, for a reference spread evenly over cells between `edges`; `orbits` as in LossCuts."""

    def __init__(self, k: float, e: float, x: Floats, edges: Floats, orbits: Integers) -> None:
        self.k, self.e, self.x, self.edges, self.orbits = k, e, x, edges, orbits
        self.widths = np.diff(edges)
        self.size = int(orbits.max()) + 1
        self.counts = np.bincount(orbits).astype(np.float64)
        self.fold = np.zeros((orbits.size, self.size))
        self.fold[np.arange(orbits.size), orbits] = 1 / self.counts[orbits]
        self.losses = self._fold(np.diff(self._whole(edges - x[:, None]), axis=1) / self.widths)
        self.farthest = np.maximum(x - edges[0], edges[-1] - x)

    def _whole(self, u: Floats) -> Floats:
        """The integral of |u|**k."""
        d = np.abs(u)
        power = u * d if self.k == 1 else d * d * u if self.k == 2 else np.sign(u) * d ** (self.k + 1)
        return np.asarray(power / (self.k + 1))

    def _fold(self, rows: Floats) -> Floats:
        """The mean over the outputs of an orbit: a mass belongs to the orbit as a whole."""
        return np.asarray(rows @ self.fold)

    def spread(self, masses: Floats) -> Floats:
        """The mass of every cell."""
        return np.asarray((masses / self.counts)[self.orbits])

    def reaches(self, masses: Floats) -> tuple[Floats, Floats]:
        """How far from every value outputs are favoured, and the density of the reference at both borders."""
        own = self.spread(masses)
        sums = np.concatenate([[0.0], np.cumsum(own)])
        left = (1 - sums[-1]) / (self.e - 1)
        low, high = np.zeros(self.x.size), self.farthest.copy()
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            inside = np.interp(self.x + middle, self.edges, sums) - np.interp(self.x - middle, self.edges, sums)
            low, high = np.where(inside < left, middle, low), np.where(inside < left, high, middle)
        density = own / self.widths
        borders = np.zeros(self.x.size)
        for border in (self.x - high, self.x + high):
            place = np.searchsorted(self.edges, border, side="right") - 1
            inside = (border > self.edges[0]) & (border < self.edges[-1])
            borders += np.where(inside, density[np.clip(place, 0, density.size - 1)], 0.0)
        return high, borders

    def terms(self, masses: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """The error of every value, its cut, the cut's change with the level, how sharply the level is set, and the reach."""
        reach, borders = self.reaches(masses)
        level = reach**self.k
        cut = np.clip(self.edges - self.x[:, None], -reach[:, None], reach[:, None])
        near = self._fold(np.diff(cut, axis=1) / self.widths)
        part = self._fold(np.diff(self._whole(cut), axis=1) / self.widths)
        rows = self.losses - level[:, None] + (self.e - 1) * (part - level[:, None] * near)
        change = -1 - (self.e - 1) * near
        sharp = (self.e - 1) * borders / (self.k * np.maximum(reach, 1e-300) ** (self.k - 1))
        return level + rows @ masses, rows, change, np.maximum(sharp, 1e-12), reach


def follow(cells: Cells, start: Floats, prior: Floats | None, tolerance: float, means: Floats | None = None) -> Central:
    """From masses `start` to where cost and value differ by `tolerance`; a prior of None means the largest error.

    Of what is largest each row of `means` asks for a mean over values; without, for each value itself.
    """
    if prior is not None:
        return _average(cells, start, prior, tolerance)
    best = _worst(cells, start, tolerance, means)
    for _ in range(RESTARTS):
        if best.cost - best.value <= STALLED * tolerance * best.cost:
            break
        # Steps that became too short: once more, from between the best so far and the start.
        again = _worst(cells, (3 * best.masses + start) / 4, tolerance, means)
        if again.cost < best.cost:
            best = best._replace(masses=again.masses, cost=again.cost)
        if again.value > best.value:
            best = best._replace(value=again.value, reaches=again.reaches, weights=again.weights)
    return best


def _longest(values: Floats, steps: Floats) -> float:
    """The longest step, at most 1, that keeps positive numbers positive."""
    falling = steps < 0
    return min(1.0, TO_THE_WALL * float((values[falling] / -steps[falling]).min())) if falling.any() else 1.0


def _room(cells: Cells, masses: Floats, step: Floats) -> float:
    """The longest step that leaves total masses between 1/E and 1."""
    total, change = float(masses.sum()), float(step.sum())
    return _longest(np.array([1 - total, total - 1 / cells.e]), np.array([-change, change]))


def _worst(cells: Cells, start: Floats, tolerance: float, means: Floats | None) -> Central:
    g, count = start.copy(), cells.x.size if means is None else means.shape[0]
    errors, rows, change, sharp, reach = cells.terms(g)
    errors, rows = _mean(means, errors), _mean(means, rows)
    cost = float(errors.max())
    mu = np.full(count, 1 / count)
    t = cost * 1.1
    s = t - errors
    tau = float(mu @ s) / count
    z = tau / g
    best = Central(g, cost, 0.0, reach, _mean_back(means, mu), 0)
    for step in range(1, MOST_STEPS + 1):
        gap = float(mu @ s) + float(z @ g)
        tau = max(0.2 * gap, 0.3 * tolerance * cost) / (count + g.size)
        bend = change * np.sqrt(_mean_back(means, mu) / sharp)[:, None]
        pull = rows * np.sqrt(mu / s)[:, None]
        off = t - errors - s
        aside = (tau - s * mu) / s - mu / s * off
        n = g.size
        system = np.zeros((n + 1, n + 1))
        system[:n, :n] = bend.T @ bend + pull.T @ pull
        system[np.arange(n), np.arange(n)] += z / g
        system[:n, n] = system[n, :n] = -(rows.T @ (mu / s))
        system[n, n] = float((mu / s).sum())
        right = np.concatenate([-(rows.T @ mu) + z + (tau - g * z) / g - rows.T @ aside, [aside.sum() - 1 + mu.sum()]])
        scale = 1 / np.sqrt(np.abs(np.diag(system)))
        solved = np.linalg.solve(system * scale[:, None] * scale, right * scale) * scale
        dg, dt = solved[:n], float(solved[n])
        ds = dt - rows @ dg + off
        dmu = (tau - s * mu - mu * ds) / s
        dz = (tau - g * z - z * dg) / g
        along = min(_longest(g, dg), _longest(s, ds), _room(cells, g, dg))
        dual = min(_longest(mu, dmu), _longest(z, dz))
        g, t, s = g + along * dg, t + along * dt, s + along * ds
        mu, z = mu + dual * dmu, z + dual * dz
        errors, rows, change, sharp, reach = cells.terms(g)
        errors, rows = _mean(means, errors), _mean(means, rows)
        cost = float(errors.max())
        # A slack too small for the new errors would stop the next step: give it what it needs.
        s = np.maximum(s, 0.1 * np.maximum(t - errors, 0))
        # What the multipliers prove on this grid: all levels lowered until no output's sum is negative.
        h = (rows.T @ mu) / mu.sum()
        share = _mean_back(means, mu) / mu.sum()
        gain = float(-(change.T @ share).max())
        value = float(share @ reach**cells.k) - max(0.0, -float(h.min())) / max(gain, 1.0)
        if cost < best.cost:
            best = best._replace(masses=g, cost=cost, steps=step)
        if value > best.value:
            best = best._replace(value=value, reaches=reach, weights=share, steps=step)
        if best.cost - best.value <= tolerance * cost:
            break
    return best


def _mean(means: Floats | None, of_values: Floats) -> Floats:
    return of_values if means is None else np.asarray(means @ of_values)


def _mean_back(means: Floats | None, weights: Floats) -> Floats:
    """The weights of values that weights of means come to."""
    return weights if means is None else np.asarray(means.T @ weights)


def _average(cells: Cells, start: Floats, prior: Floats, tolerance: float) -> Central:
    g = start.copy()
    errors, rows, change, sharp, reach = cells.terms(g)
    cost = float(prior @ errors)
    z = 0.1 * cost / g.size / g
    best = Central(g, cost, 0.0, reach, prior, 0)
    for step in range(1, MOST_STEPS + 1):
        tau = max(0.2 * float(z @ g), 0.3 * tolerance * cost) / g.size
        bend = change / np.sqrt(sharp / prior)[:, None]
        system = bend.T @ bend
        system[np.diag_indices(g.size)] += z / g
        pull = rows.T @ prior
        right = -pull + z + (tau - g * z) / g
        scale = 1 / np.sqrt(np.diag(system))
        dg = np.linalg.solve(system * scale[:, None] * scale, right * scale) * scale
        dz = (tau - g * z - z * dg) / g
        along = min(_longest(g, dg), _room(cells, g, dg))
        g, z = g + along * dg, z + _longest(z, dz) * dz
        errors, rows, change, sharp, reach = cells.terms(g)
        cost = float(prior @ errors)
        h = rows.T @ prior
        value = float(prior @ reach**cells.k) - max(0.0, -float(h.min()))
        if cost < best.cost:
            best = best._replace(masses=g, cost=cost, steps=step)
        if value > best.value:
            best = best._replace(value=value, reaches=reach, steps=step)
        if best.cost - best.value <= tolerance * cost:
            break
    return best
