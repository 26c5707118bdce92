"""Local differential privacy, exactly: integer weights, certificates anyone can check, no float near a secret.

>>> import deniable
>>> mechanism = deniable.Window(domain=deniable.Interval(0, 100), epsilon=2)
>>> mechanism.certificate().holds
True
>>> report = mechanism.randomize(42)          # one private report, from the system's randomness
>>> 0 <= mechanism.decode(report.output) <= 100
True

What people answer with   Binary, Categories, Interval, Circle, Rectangle, Record; the others are in deniable.domains
How it is hidden          RandomizedResponse, KaryRandomizedResponse, Window, ...; all of them by name: deniable.names()
On a device               Client, from the public recipe of a mechanism
From reports to numbers   deniable.estimators: shares, mean, distribution, quantiles, ...
Which one, at what price  deniable.planning, or `deniable plan` in a terminal
On the way                encode_report, decode_report and their plurals; the rest of deniable.wire
What went wrong           DeniableError and, for a value that is no possible answer, OutOfDomain; all in deniable.errors

Names and rooms are loaded on first use, so importing the package costs next to nothing. The repr of a domain, a mechanism,
a certificate or a report is Python that makes an equal one; one that was cut short has a … in it, which is not Python.
"""

from __future__ import annotations

import importlib

from deniable.frozen import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from deniable.client import Client
    from deniable.domains import Binary, Categories, Circle, Interval, Record, Rectangle
    from deniable.errors import DeniableError, OutOfDomain
    from deniable.exact import Epsilon
    from deniable.mechanisms import Certificate, Mechanism, mechanism_from_recipe, names
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
    from deniable.mechanisms.numeric.sw import SquareWave
    from deniable.mechanisms.numeric.window import Window
    from deniable.mechanisms.spatial.nearest_cells import NearestCellsMechanism
    from deniable.reports import Report
    from deniable.wire import decode_report, decode_reports, encode_report, encode_reports

__version__ = "0.1.0"

# Where each public name lives. A test checks it against the imports above.
_HOMES: dict[str, tuple[str, ...]] = {
    "client": ("Client",),
    "domains": ("Binary", "Categories", "Circle", "Interval", "Record", "Rectangle"),
    "errors": ("DeniableError", "OutOfDomain"),
    "exact": ("Epsilon",),
    "mechanisms": ("Certificate", "Mechanism", "mechanism_from_recipe", "names"),
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
    "mechanisms.numeric.sw": ("SquareWave",),
    "mechanisms.numeric.window": ("Window",),
    "mechanisms.spatial.nearest_cells": ("NearestCellsMechanism",),
    "reports": ("Report",),
    "wire": ("decode_report", "decode_reports", "encode_report", "encode_reports"),
}
_HOME_OF = {name: home for home, found in _HOMES.items() for name in found}

__all__ = [
    "OGPM",
    "Binary",
    "Categories",
    "Certificate",
    "Circle",
    "CircularWindow",
    "Client",
    "DeniableError",
    "Epsilon",
    "HadamardResponse",
    "Hybrid",
    "Interval",
    "KaryRandomizedResponse",
    "Laplace",
    "Mechanism",
    "NearestCellsMechanism",
    "OptimizedLocalHashing",
    "OptimizedUnary",
    "OutOfDomain",
    "RandomizedResponse",
    "Record",
    "Rectangle",
    "Report",
    "SquareWave",
    "SubsetSelection",
    "Window",
    "decode_report",
    "decode_reports",
    "encode_report",
    "encode_reports",
    "mechanism_from_recipe",
    "names",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its room, or a room."""
    if name in _HOME_OF:
        found = getattr(importlib.import_module(f"deniable.{_HOME_OF[name]}"), name)
        globals()[name] = found
        return found
    try:
        return importlib.import_module(f"deniable.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"deniable.{name}":  # the room is there, but not what it needs
            raise
        raise AttributeError(f"module 'deniable' has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
