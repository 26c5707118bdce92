"""The exact radius of a small ReLU network: the nearest point with another answer, by mixed-integer programming."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from deniable.batch import Floats
from deniable.errors import NotSupported
from deniable.studies.classifiers.networks import Network

MOST_UNITS = 200
TIME_LIMIT = 60.0


def network_radius(network: Network, low: Any, high: Any) -> float:
    """The largest l-infinity radius around the record without another answer inside [low, high], to about 1e-6.

    Every ReLU whose sign is not settled in [low, high] is one yes-or-no variable. The solver's own tolerance is
    1e-7, so this is an answer to compare with; `network_box` is what proves.
    """
    steps = [(layer.kind, layer.module) for layer in network.layers if layer.kind != "flatten"]
    if any(kind == "pool" or (kind == "affine" and not hasattr(module, "in_features")) for kind, module in steps):
        raise NotSupported("the exact radius is for networks of Linear and ReLU layers; network_box bounds the others")
    point = network.record.numpy()
    bottom, top = point.copy(), point.copy()
    bottom[list(network.sensitive)], top[list(network.sensitive)] = low, high
    radii = [
        _nearest(network, steps, point, bottom, top, other) for other in range(len(steps[-1][1].weight)) if other != network.target
    ]
    return min(radii)


def _nearest(network: Network, steps: list[tuple[str, Any]], point: Floats, bottom: Floats, top: Floats, other: int) -> float:
    """The least radius at which class `other` reaches the answered one; infinite when it never does."""
    lows, highs, integral = [bottom], [top], [np.zeros(point.size)]
    rows: list[tuple[dict[int, float], float, float]] = []
    current = list(range(point.size))
    count = point.size
    low, high = bottom, top
    for kind, module in steps[:-1]:
        first = count
        if kind == "affine":
            weights, bias = _numbers(module)
            middle, reach = (low + high) / 2, (high - low) / 2
            low, high = weights @ middle - abs(weights) @ reach + bias, weights @ middle + abs(weights) @ reach + bias
            for j, row in enumerate(weights):
                rows.append(
                    ({first + j: 1.0, **{v: -w for v, w in zip(current, row, strict=True) if w}}, float(bias[j]), float(bias[j]))
                )
        else:
            units = [j for j in range(low.size) if low[j] < 0 < high[j]]
            if len(units) > MOST_UNITS:
                raise NotSupported(f"{len(units)} units of one layer may switch; the exact radius is for at most {MOST_UNITS}")
            for j in range(low.size):
                rows += _relu(current[j], first + j, first + low.size + units.index(j) if j in units else -1, low[j], high[j])
            low, high = np.maximum(low, 0), np.maximum(high, 0)
            lows.append(np.concatenate([low, np.zeros(len(units))]))
            highs.append(np.concatenate([high, np.ones(len(units))]))
            integral.append(np.concatenate([np.zeros(low.size), np.ones(len(units))]))
            current = list(range(first, first + low.size))
            count += low.size + len(units)
            continue
        lows.append(low)
        highs.append(high)
        integral.append(np.zeros(low.size))
        current = list(range(first, first + low.size))
        count += low.size
    weights, bias = _numbers(steps[-1][1])
    lead = weights[network.target] - weights[other]
    rows.append(({v: w for v, w in zip(current, lead, strict=True) if w}, -np.inf, float(bias[other] - bias[network.target])))
    radius = count
    for place in network.sensitive:
        rows.append(({place: 1.0, radius: -1.0}, -np.inf, float(point[place])))
        rows.append(({place: 1.0, radius: 1.0}, float(point[place]), np.inf))
    lows.append(np.zeros(1))
    highs.append(np.array([float((top - bottom).max()) + 1.0]))
    integral.append(np.zeros(1))
    return _solved(rows, np.concatenate(lows), np.concatenate(highs), np.concatenate(integral))


def _relu(before: int, after: int, switch: int, low: float, high: float) -> list[tuple[dict[int, float], float, float]]:
    """after = max(before, 0), with bounds of `before` as large constants."""
    if high <= 0:
        return [({after: 1.0}, 0.0, 0.0)]
    if low >= 0:
        return [({after: 1.0, before: -1.0}, 0.0, 0.0)]
    return [
        ({after: 1.0, before: -1.0}, 0.0, np.inf),
        ({after: 1.0, before: -1.0, switch: -low}, -np.inf, -low),
        ({after: 1.0, switch: -high}, -np.inf, 0.0),
    ]


def _numbers(module: Any) -> tuple[Floats, Floats]:
    weights = module.weight.numpy()
    return weights, (np.zeros(len(weights)) if module.bias is None else module.bias.numpy())


def _solved(rows: list[tuple[dict[int, float], float, float]], low: Floats, high: Floats, integral: Floats) -> float:
    places = [(i, v, w) for i, (terms, _, _) in enumerate(rows) for v, w in terms.items()]
    i, v, w = zip(*places, strict=True)
    matrix = sparse.csr_matrix((w, (i, v)), shape=(len(rows), low.size))
    limits = LinearConstraint(matrix, [row[1] for row in rows], [row[2] for row in rows])
    cost = np.zeros(low.size)
    cost[-1] = 1.0
    solution = milp(
        cost,
        constraints=limits,
        bounds=Bounds(low, high),
        integrality=integral.astype(np.int64),
        options={"time_limit": TIME_LIMIT},
    )
    if solution.status == 2:
        return float("inf")
    if not solution.success:
        raise NotSupported("the solver did not finish; use network_box, which proves a smaller box quickly")
    return float(solution.fun)
