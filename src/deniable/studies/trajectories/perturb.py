"""Many private paths at once: every place through one mechanism, chunk by chunk."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch import (
    CoordinateEncoder,
    Keystream,
    SystemKeystream,
    Walk,
    belong_many,
    decode_many,
    decode_places,
    encode_many,
    randomize_many,
    sampler_for,
)
from deniable.core import (
    Disc,
    Domain,
    Mechanism,
    Parallelogram,
    Points,
    Polygon,
    Rectangle,
    Sphere,
    TraCSD,
    cells,
)
from deniable.errors import InvalidParameter, OutOfDomain
from deniable.studies.trajectories.paths import Paths

Places = NDArray[np.float64]

CHUNK = 1 << 17
"""Places at a time: work space does not grow with the data."""
REGIONS = (Rectangle, Parallelogram, Polygon, Disc, Sphere, Points)
POLICIES = ("refuse", "clip", "drop")
BUDGET_UNITS = ("location", "trajectory")


def perturb(
    paths: Paths,
    mechanism: Mechanism,
    *,
    outside: str = "refuse",
    epsilon_per: str = "location",
    keystream: Keystream | None = None,
) -> Paths:
    """The paths with every place replaced by what its private report stands for.

    `outside` says what happens to places that are not in the mechanism's region: "refuse" raises OutOfDomain, "clip" moves
    them to the nearest place that is, "drop" leaves them out. A path that lost places is shorter, and its length then tells
    how many were outside: epsilon does not cover that. Coordinates that are not numbers are refused, or dropped.
    `epsilon_per` says what the mechanism's epsilon is for: one location (a path of n places then spends n times as much) or
    one whole trajectory (each of its n places gets an n-th). How long a path is and where paths begin is public.
    With `tracs-d` every place is seen from the report before it, and the first one from the mechanism's reference.

    >>> from deniable.core import make_mechanism
    >>> paths = Paths.of([[(0.1, 0.2), (0.3, 0.2)], [(0.9, 0.9)]])
    >>> private = perturb(paths, make_mechanism("tracs-d", epsilon=4))
    >>> private.lengths.tolist(), bool(((private.places >= 0) & (private.places <= 1)).all())
    ([2, 1], True)
    """
    if not isinstance(paths, Paths):
        raise InvalidParameter(f"paths must be Paths, got {type(paths).__name__}")
    if not isinstance(mechanism, Mechanism) or not isinstance(mechanism.domain, REGIONS):
        raise InvalidParameter("mechanism must be one on places: its domain a region of the plane, a sphere or a list of points")
    if outside not in POLICIES:
        raise InvalidParameter("outside must be 'refuse', 'clip' or 'drop'")
    if epsilon_per not in BUDGET_UNITS:
        raise InvalidParameter("epsilon_per must be 'location' or 'trajectory'")
    stream = SystemKeystream() if keystream is None else keystream
    lengths = paths.lengths
    kept = within_region(paths, mechanism.domain, outside)
    if epsilon_per == "location":
        return kept.with_places(_perturbed(kept, mechanism, stream))
    places = np.empty_like(kept.places)
    # A path that lost places keeps the share of its whole length: it spends less, never more.
    for length in np.unique(lengths[lengths > 0]).tolist():
        chosen = np.nonzero(lengths == length)[0]
        rows = _rows(kept, chosen)
        step = replace(mechanism, epsilon=mechanism.privacy.times(Fraction(1, length)))
        sizes = kept.lengths[chosen]
        some = Paths(kept.places[rows], np.concatenate([[0], np.cumsum(sizes)]))
        places[rows] = _perturbed(some, step, stream)
    return kept.with_places(places)


def within_region(paths: Paths, domain: Domain, outside: str) -> Paths:
    """The paths with every place in the region, by the policy for those that are not."""
    good = np.empty(len(paths.places), np.bool_)
    for start in range(0, len(good), CHUNK):
        good[start : start + CHUNK] = belong_many(domain, paths.places[start : start + CHUNK])
    if good.all():
        return paths
    if outside == "refuse":
        count = int(np.count_nonzero(~good))
        raise OutOfDomain(
            f"{count} of {len(good)} places are outside {domain!r}; they are not shown because they are private. "
            "Choose a larger region, or clip or drop them (outside='clip', --outside clip)"
        )
    if outside == "drop":
        before = np.concatenate([[0], np.cumsum(good)])
        return Paths(paths.places[good], before[paths.starts], paths.names)
    if not paths.finite:
        raise OutOfDomain("some coordinates are not finite numbers, so there is no nearest place; use outside='drop'")
    places = paths.places.copy()
    places[~good] = _clipped(places[~good], domain)
    return paths.with_places(places)


def _clipped(places: Places, domain: Domain) -> Places:
    """The nearest places of the region, as doubles that lie in it."""
    nearest = np.array([[float(part) for part in domain.clip((x, y))] for x, y in places.tolist()]).reshape(-1, 2)
    # Rounding to doubles may step over the border: such places move to the middle of the cell they belong to.
    for i in np.nonzero(~belong_many(domain, nearest))[0].tolist():
        nearest[i] = domain.decode(domain.encode(domain.clip(tuple(places[i].tolist()))))
    return nearest


class Drawing:
    """A mechanism made ready to draw places block by block; a walk goes on where the block before ended.

    With `small_blocks` what every block needs is built once, which pays when there are many.
    """

    def __init__(self, mechanism: Mechanism, keystream: Keystream, *, small_blocks: bool = False) -> None:
        self._mechanism, self._keystream = mechanism, keystream
        plain = small_blocks and not (mechanism.channel.side_by_side or mechanism.channel.chained)
        self._sampler = sampler_for(mechanism.channel) if plain else None
        self._walk: Walk | None = None
        if isinstance(mechanism, TraCSD):
            sides = mechanism.domain.sides
            self._walk = Walk(mechanism.channel, mechanism.domain)
            self._encoder = CoordinateEncoder(mechanism.domain, cells(sides.x.cells), cells(sides.y.cells))

    def draw(self, places: Places, begins: NDArray[np.bool_]) -> Places:
        """Private places, chunk by chunk; `begins` says which of them are the first of their path."""
        drawn = np.empty_like(places)
        if self._walk is not None:
            # Every place is seen from the report before it.
            for start in range(0, len(drawn), CHUNK):
                stop = min(start + CHUNK, len(drawn))
                columns, rows = self._encoder.columns(places[start:stop])
                drawn[start:stop] = self._walk.draw(columns, rows, begins[start:stop], self._keystream)[1]
            return drawn
        if self._sampler is not None:
            indices, outputs = encode_many(self._mechanism, places), self._sampler.allocate(len(places))
            for start in range(0, len(indices), self._sampler.chunk):
                some = slice(start, start + self._sampler.chunk)
                self._sampler.draw(indices[some], outputs[some], self._keystream)
            return _places_of_outputs(self._mechanism, outputs)
        # Single numbers are drawn in one go, which takes a quarter of the result's memory; coordinates take more.
        size = CHUNK if self._mechanism.channel.side_by_side else max(len(drawn), 1)
        for start in range(0, len(drawn), size):
            outputs = randomize_many(self._mechanism, places[start : start + size], self._keystream).outputs
            for piece in range(start, min(start + size, len(drawn)), CHUNK):
                stop = min(piece + CHUNK, start + size, len(drawn))
                drawn[piece:stop] = _places_of_outputs(self._mechanism, _slice_of_outputs(outputs, piece - start, stop - start))
        return drawn


def _perturbed(paths: Paths, mechanism: Mechanism, keystream: Keystream) -> Places:
    """Private places of whole paths."""
    begins = np.zeros(len(paths.places) + 1, np.bool_)
    begins[paths.starts] = True
    return Drawing(mechanism, keystream).draw(paths.places, begins[:-1])


def _slice_of_outputs(outputs: Any, start: int, stop: int) -> Any:
    return tuple(column[start:stop] for column in outputs) if isinstance(outputs, tuple) else outputs[start:stop]


def _places_of_outputs(mechanism: Mechanism, outputs: Any) -> Places:
    places = decode_places(mechanism, outputs)
    return np.array(decode_many(mechanism, outputs), np.float64).reshape(-1, 2) if places is None else places


def _rows(paths: Paths, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers of all places of the chosen paths."""
    parts = [np.arange(paths.starts[i], paths.starts[i + 1]) for i in chosen.tolist()]
    return np.concatenate(parts) if parts else np.empty(0, np.int64)
