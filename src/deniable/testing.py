"""Simulations that can be repeated. Only for made-up data: what is drawn from a seed is not private.

Nothing global changes. A seed lives in the simulation that `seeded` hands out, and no other code ever reads it: a mechanism, a
Client or a Session draws from the operating system inside the block as it does outside. Reports of a simulation refuse to be
encoded, so they cannot be sent by mistake.

>>> import warnings
>>> from deniable import Categories, KaryRandomizedResponse
>>> from deniable.estimators import shares
>>> from deniable.testing import NotPrivate, seeded
>>> question = KaryRandomizedResponse(domain=Categories(["yes", "no"]), epsilon=1)
>>> with warnings.catch_warnings():
...     warnings.simplefilter("ignore", NotPrivate)
...     with seeded(7) as simulation:
...         first = simulation.randomize_many(question, ["yes"] * 600 + ["no"] * 400)
...     with seeded(7) as simulation:
...         second = simulation.randomize_many(question, ["yes"] * 600 + ["no"] * 400)
>>> shares(first).value.tolist() == shares(second).value.tolist()
True
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from deniable.batch import Reports, randomize_many
from deniable.core import Mechanism
from deniable.errors import InvalidParameter, NotSupported
from deniable.privacy import FixedKeystream

REFUSED = "these reports were drawn from a seed, so they are not private and must not be sent; draw with mechanism.randomize_many"

ENDED = "this simulation has ended; begin another one with seeded(…)"


class NotPrivate(UserWarning):
    """Said whenever a simulation with a seed begins."""


class SimulatedReports(Reports):
    """Reports of made-up people: good for estimators, refused by the wire."""

    def to_bytes(self) -> NoReturn:
        """Refused."""
        raise NotSupported(REFUSED)

    def __getitem__(self, place: int) -> NoReturn:
        raise NotSupported(REFUSED)

    def __iter__(self) -> NoReturn:
        raise NotSupported(REFUSED)

    def __repr__(self) -> str:
        return f"SimulatedReports(n={len(self)}, mechanism={self.mechanism!r})"


class Simulation:
    """Draws for made-up people, the same on every run; it ends with its block."""

    def __init__(self, seed: int | str) -> None:
        self._stream: FixedKeystream | None = FixedKeystream(f"simulation {seed!r}")

    def randomize_many(self, mechanism: Mechanism, values: Any) -> SimulatedReports:
        """What `mechanism.randomize_many(values)` would draw, by the same weights, from the seed."""
        if self._stream is None:
            raise NotSupported(ENDED)
        drawn = randomize_many(mechanism, values, self._stream)
        return SimulatedReports(drawn.mechanism, drawn.outputs)

    @property
    def keystream(self) -> FixedKeystream:
        """For simulations that take one: `training_curve(…, keystream=simulation.keystream)`, `train_private`, `quantify`."""
        if self._stream is None:
            raise NotSupported(ENDED)
        return self._stream

    def _end(self) -> None:
        self._stream = None


@contextmanager
def seeded(seed: int | str) -> Iterator[Simulation]:
    """A simulation that draws the same for the same seed. NOT private: for made-up data only, and it says so every time."""
    if isinstance(seed, bool) or not isinstance(seed, int | str):
        raise InvalidParameter("seed must be a whole number or a text")
    warnings.warn("reports drawn from a seed are not private: use them for made-up data only", NotPrivate, stacklevel=3)
    simulation = Simulation(seed)
    try:
        yield simulation
    finally:
        simulation._end()
