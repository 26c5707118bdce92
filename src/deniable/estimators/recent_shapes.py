"""The last fits that were asked for: several questions about the same reports share their work, and so agree."""

from __future__ import annotations

import hashlib
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from deniable.estimators.shape_fit import Shape

RECENT = 4
_RECENT: dict[tuple[Any, ...], Shape] = {}
_LOCK = threading.Lock()


def shape_of(asked: Shape) -> Shape:
    """The same as one of the last that were asked for, when it is: several questions about the same reports share their work."""
    digest = hashlib.blake2b(np.ascontiguousarray(asked.sums).data).digest()
    options = (asked.n, asked.method, asked.tolerance, asked.most_iterations, asked.multiples_of, asked.narrowest_peak)
    reports = (asked.mechanism, digest, *options)
    with _LOCK:
        known = _RECENT.pop((*reports, asked.target), asked)
        if known is asked:
            for other in [shape for key, shape in _RECENT.items() if key[:-1] == reports]:
                asked.share_work(other)
        _RECENT[*reports, asked.target] = known
        while len(_RECENT) > RECENT:
            _RECENT.pop(next(iter(_RECENT)))
    return known
