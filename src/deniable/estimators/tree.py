"""Trees of shares: the best estimates of all nodes from noisy ones, each parent the sum of its children.

Within a level all nodes have the same variance, so weighted least squares is two passes (Hay, Rastogi,
Miklau and Suciu, 2010): upward, every node becomes the weighted average of itself and its children's sum;
downward, what a parent has more than its children is shared among them. The root is 1, exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable.batch import Floats

FanOut = int | Sequence[int]
"""How many children every node has: the same everywhere, or one number for each level, the root's first."""


def fan_outs(fan_out: FanOut, levels: int) -> tuple[int, ...]:
    """One number for each level.

    >>> fan_outs(4, 3), fan_outs([2, 5], 2)
    ((4, 4, 4), (2, 5))
    """
    return (fan_out,) * levels if isinstance(fan_out, int) else tuple(fan_out)


def own_weights(variances: Sequence[float], fan_out: FanOut) -> list[float]:
    """For every level below the root, how much a node's own estimate counts beside its children's sum."""
    weights, each = [1.0], fan_outs(fan_out, len(variances))
    combined = variances[-1]
    for variance, below in zip(reversed(variances[:-1]), reversed(each[1:]), strict=True):
        children = below * combined
        weights.append(children / (variance + children))
        combined = variance * children / (variance + children)
    return weights[::-1]


def consistent(levels: Sequence[Floats], variances: Sequence[float], fan_out: FanOut) -> list[Floats]:
    """The estimates of all levels below the root after both passes.

    >>> [level.tolist() for level in consistent([np.array([0.5, 0.7])], [1.0], 2)]
    [[0.4, 0.6]]
    """
    weights, each = own_weights(variances, fan_out), fan_outs(fan_out, len(variances))
    up = [np.asarray(levels[-1], np.float64)]
    for level, weight, below in zip(reversed(levels[:-1]), reversed(weights[:-1]), reversed(each[1:]), strict=True):
        up.append(weight * level + (1 - weight) * up[-1].reshape(-1, below).sum(axis=1))
    parent, down = np.ones(1), []
    for level, children in zip(reversed(up), each, strict=True):
        families = level.reshape(-1, children)
        parent = (families + ((parent - families.sum(axis=1)) / children)[:, None]).reshape(-1)
        down.append(parent)
    return down


def influence(question: Floats, variances: Sequence[float], fan_out: FanOut) -> list[Floats]:
    """How much every node's own estimate moves the sum of question * leaves: both passes, backwards.

    Several questions, one a row, give one row each.
    """
    weights, each = own_weights(variances, fan_out), fan_outs(fan_out, len(variances))
    pull, at_level = question, []
    for children in reversed(each):
        families = pull.reshape(*pull.shape[:-1], -1, children)
        shared = families.mean(axis=-1)
        at_level.append((families - shared[..., None]).reshape(pull.shape))
        pull = shared
    pulls = at_level[::-1]
    by_level, carried = [], np.zeros_like(pulls[0])
    for pull, weight, below in zip(pulls, weights, (*each[1:], 1), strict=True):
        whole = pull + carried
        by_level.append(weight * whole)
        carried = np.repeat((1 - weight) * whole, below, axis=-1)
    return by_level
