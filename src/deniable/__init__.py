"""Local differential privacy, exactly: integer weights, certificates anyone can check, no float near a secret.

>>> import deniable
>>> mechanism = deniable.Window(domain=deniable.Interval(0, 100), epsilon=2)
>>> mechanism.certificate().holds
True
>>> report = mechanism.randomize(42)          # one private report, from the system's randomness
>>> 0 <= mechanism.decode(report.output) <= 100
True

Every name below is loaded on first use, so importing the package costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deniable.client import Client
    from deniable.domains import (
        Binary,
        Categories,
        Circle,
        Disc,
        Domain,
        Interval,
        Parallelogram,
        Points,
        Polygon,
        Record,
        Rectangle,
        Sphere,
        Trajectory,
    )
    from deniable.errors import (
        DeniableError,
        InvalidDomain,
        InvalidEpsilon,
        InvalidParameter,
        MissingPackage,
        NotSupported,
        OutOfDomain,
        UnknownMechanism,
        WireError,
    )
    from deniable.exact import Epsilon
    from deniable.mechanisms import Certificate, Mechanism, mechanism_class, mechanism_from_recipe, names
    from deniable.mechanisms.binary.randomized_response import RandomizedResponse
    from deniable.mechanisms.categorical.hadamard import HadamardResponse
    from deniable.mechanisms.categorical.k_rr import KaryRandomizedResponse
    from deniable.mechanisms.categorical.olh import OptimizedLocalHashing
    from deniable.mechanisms.categorical.oue import OptimizedUnary
    from deniable.mechanisms.categorical.subset import SubsetSelection
    from deniable.mechanisms.circular.circular_window import CircularWindow
    from deniable.mechanisms.numeric.hm import Hybrid
    from deniable.mechanisms.numeric.laplace import Laplace
    from deniable.mechanisms.numeric.ogpm import OGPM
    from deniable.mechanisms.numeric.pm import PM
    from deniable.mechanisms.numeric.sw import SquareWave
    from deniable.mechanisms.numeric.window import Window
    from deniable.mechanisms.records.product import ProductMechanism
    from deniable.mechanisms.spatial.nearest_cells import NearestCellsMechanism
    from deniable.reports import Report
    from deniable.wire import decode_report, decode_reports, encode_report, encode_reports

__version__ = "0.1.0"

# Where each public name lives. A test checks it against the imports above.
_HOMES: dict[str, tuple[str, ...]] = {
    "client": ("Client",),
    "domains": (
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
        "Trajectory",
    ),
    "errors": (
        "DeniableError",
        "InvalidDomain",
        "InvalidEpsilon",
        "InvalidParameter",
        "MissingPackage",
        "NotSupported",
        "OutOfDomain",
        "UnknownMechanism",
        "WireError",
    ),
    "exact": ("Epsilon",),
    "mechanisms": ("Certificate", "Mechanism", "mechanism_class", "mechanism_from_recipe", "names"),
    "mechanisms.binary.randomized_response": ("RandomizedResponse",),
    "mechanisms.categorical.hadamard": ("HadamardResponse",),
    "mechanisms.categorical.k_rr": ("KaryRandomizedResponse",),
    "mechanisms.categorical.olh": ("OptimizedLocalHashing",),
    "mechanisms.categorical.oue": ("OptimizedUnary",),
    "mechanisms.categorical.subset": ("SubsetSelection",),
    "mechanisms.circular.circular_window": ("CircularWindow",),
    "mechanisms.numeric.hm": ("Hybrid",),
    "mechanisms.numeric.laplace": ("Laplace",),
    "mechanisms.numeric.ogpm": ("OGPM",),
    "mechanisms.numeric.pm": ("PM",),
    "mechanisms.numeric.sw": ("SquareWave",),
    "mechanisms.numeric.window": ("Window",),
    "mechanisms.records.product": ("ProductMechanism",),
    "mechanisms.spatial.nearest_cells": ("NearestCellsMechanism",),
    "reports": ("Report",),
    "wire": ("decode_report", "decode_reports", "encode_report", "encode_reports"),
}
_HOME_OF = {name: home for home, found in _HOMES.items() for name in found}

__all__ = [
    "OGPM",
    "PM",
    "Binary",
    "Categories",
    "Certificate",
    "Circle",
    "CircularWindow",
    "Client",
    "DeniableError",
    "Disc",
    "Domain",
    "Epsilon",
    "HadamardResponse",
    "Hybrid",
    "Interval",
    "InvalidDomain",
    "InvalidEpsilon",
    "InvalidParameter",
    "KaryRandomizedResponse",
    "Laplace",
    "Mechanism",
    "MissingPackage",
    "NearestCellsMechanism",
    "NotSupported",
    "OptimizedLocalHashing",
    "OptimizedUnary",
    "OutOfDomain",
    "Parallelogram",
    "Points",
    "Polygon",
    "ProductMechanism",
    "RandomizedResponse",
    "Record",
    "Rectangle",
    "Report",
    "Sphere",
    "SquareWave",
    "SubsetSelection",
    "Trajectory",
    "UnknownMechanism",
    "Window",
    "WireError",
    "decode_report",
    "decode_reports",
    "encode_report",
    "encode_reports",
    "mechanism_class",
    "mechanism_from_recipe",
    "names",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its room."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'deniable' has no attribute {name!r}")
    found = getattr(importlib.import_module(f"deniable.{_HOME_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
