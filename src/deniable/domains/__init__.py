"""What a private value may be: each domain checks it, turns it into an index, and reads indices back.

A domain is loaded when it is first asked for: a first report must not wait for those it does not use.
"""

from __future__ import annotations

import importlib

from deniable.domains.base import HOMES, Domain, domain_from_recipe
from deniable.frozen import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from deniable.domains.binary import Binary
    from deniable.domains.categories import Categories
    from deniable.domains.circle import Circle
    from deniable.domains.interval import Interval
    from deniable.domains.parallelogram import Parallelogram
    from deniable.domains.plane import Disc, Points, Rectangle
    from deniable.domains.polygon import Polygon
    from deniable.domains.record import Record
    from deniable.domains.sphere import Sphere
    from deniable.domains.trajectory import Trajectory
    from deniable.domains.words import Text, Whole

__all__ = [
    "Binary",
    "Categories",
    "Circle",
    "Disc",
    "Domain",
    "Interval",
    "Parallelogram",
    "Points",
    "Polygon",
    "Record",
    "Rectangle",
    "Sphere",
    "Text",
    "Trajectory",
    "Whole",
    "domain_from_recipe",
]
_HOME_OF = {name: home for home, names in HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a domain from its file."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'deniable.domains' has no attribute {name!r}")
    found = getattr(importlib.import_module(f"deniable.domains.{_HOME_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
