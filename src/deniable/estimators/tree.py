"""Trees of shares: the best estimates of all nodes from noisy ones, each parent the sum of its children.

Within a level all nodes have the same variance, so weighted least squares is two passes (Hay, Rastogi,
Miklau and Suciu, 2010): upward, every node becomes the weighted average of itself and its children's sum;
downward, what a parent has more than its children is shared among them. The root is 1, exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable.batch import Floats


def own_weights(variances: Sequence[float], fan_out: int) -> list[float]:
    """For every level below the root, how much a node's own estimate counts beside its children's sum."""
    weights = [1.0]
    combined = variances[-1]
    for variance in reversed(variances[:-1]):
        children = fan_out * combined
        weights.append(children / (variance + children))
        combined = variance * children / (variance + children)
    return weights[::-1]


def consistent(levels: Sequence[Floats], variances: Sequence[float], fan_out: int) -> list[Floats]:
    """The estimates of all levels below the root after both passes.

    >>> [level.tolist() for level in consistent([np.array([0.5, 0.7])], [1.0], 2)]
    [[0.4, 0.6]]
    """
    weights = own_weights(variances, fan_out)
    up = [np.asarray(levels[-1], np.float64)]
    for level, weight in zip(reversed(levels[:-1]), reversed(weights[:-1]), strict=True):
        up.append(weight * level + (1 - weight) * up[-1].reshape(-1, fan_out).sum(axis=1))
    parent, down = np.ones(1), []
    for level in reversed(up):
        families = level.reshape(-1, fan_out)
        parent = (families + ((parent - families.sum(axis=1)) / fan_out)[:, None]).reshape(-1)
        down.append(parent)
    return down


def influence(question: Floats, variances: Sequence[float], fan_out: int) -> list[Floats]:
    """How much every node's own estimate moves the sum of question * leaves: both passes, backwards."""
    weights = own_weights(variances, fan_out)
    pull, at_level = question, []
    for _ in variances:
        families = pull.reshape(-1, fan_out)
        shared = families.mean(axis=1)
        at_level.append((families - shared[:, None]).reshape(-1))
        pull = shared
    pulls = at_level[::-1]
    by_level, carried = [], np.zeros(fan_out)
    for pull, weight in zip(pulls, weights, strict=True):
        whole = pull + carried
        by_level.append(weight * whole)
        carried = np.repeat((1 - weight) * whole, fan_out)
    return by_level
