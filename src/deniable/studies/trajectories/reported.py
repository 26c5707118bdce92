"""Perturbed places, as files hold them, back as the reports they stand for."""

from __future__ import annotations

import numpy as np

from deniable.batch import Reports, encode_many
from deniable.core import Mechanism, NearestCells
from deniable.errors import NotSupported
from deniable.studies.trajectories.paths import Paths
from deniable.studies.trajectories.perturb import within_region


def reports_of(perturbed: Paths, mechanism: Mechanism) -> Reports:
    """The reports behind places that `mechanism` gave, all of them with its epsilon.

    Places are the middles of reported cells, so rounding in a file does no harm; those it moved over the region's border
    move back.

    >>> from deniable.core import make_mechanism
    >>> from deniable.studies import perturb
    >>> disc = make_mechanism("nearest-cells", epsilon=4)
    >>> reports = reports_of(perturb(Paths.of([[(0.2, 0.3)] * 5]), disc), disc)
    >>> len(reports)
    5
    """
    channel = mechanism.channel
    if channel.chained:
        raise NotSupported(
            "a walk of tracs-d has every place seen from the report before it: where people were then says where they are now, "
            "and a map that takes places for independent would be wrong. Make maps from nearest-cells or tracs-c"
        )
    cells = channel.side_by_side or ([channel] if isinstance(mechanism, NearestCells) else [])
    if not cells or any(part.inputs != part.outputs for part in cells):
        raise NotSupported(f"places of {mechanism.name} do not tell its reports; keep the reports themselves")
    indices = encode_many(mechanism, within_region(perturbed, mechanism.domain, "clip").places)
    return Reports(mechanism, indices if isinstance(indices, tuple) else np.asarray(indices, np.uint64))
