"""Randomised maps from an index to an output, with integer weights. Standard library only.

TwoLevel        favoured outputs weigh `high`, the others `low`; what is favoured is a set system
Nested          windows inside windows: several levels around the true cell
Profile         the weight depends on the distance only (Laplace, staircase, Gaussian, Purkayastha)
Reference       two levels on top of a reference weight that is not constant
Table           any matrix of weights
Bits            independent bits, one of them favoured
Pair            two users who lie together (see deniable.joint)
Product         several channels side by side
Interpolated    a channel entered between two of its inputs
Mixture         a public coin chooses the channel
Chain           one channel after another

A channel is loaded when it is first asked for: a first report must not wait for those it does not use.
"""

from __future__ import annotations

import importlib

from deniable.channels.base import Channel
from deniable.frozen import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from deniable.channels.bits import Bits
    from deniable.channels.chain import Chain, Identity, Interpolated, Mixture
    from deniable.channels.nested import Nested
    from deniable.channels.pair import Pair
    from deniable.channels.product import Product
    from deniable.channels.profile import Profile
    from deniable.channels.reference import Reference
    from deniable.channels.sets import SetSystem, Singleton, Window, linear_window, slid_window, wrapped_window
    from deniable.channels.table import Table
    from deniable.channels.two_level import TwoLevel

__all__ = [
    "Bits",
    "Chain",
    "Channel",
    "Identity",
    "Interpolated",
    "Mixture",
    "Nested",
    "Pair",
    "Product",
    "Profile",
    "Reference",
    "SetSystem",
    "Singleton",
    "Table",
    "TwoLevel",
    "Window",
    "linear_window",
    "slid_window",
    "wrapped_window",
]
_HOMES = {
    "bits": ("Bits",),
    "chain": ("Chain", "Identity", "Interpolated", "Mixture"),
    "nested": ("Nested",),
    "pair": ("Pair",),
    "product": ("Product",),
    "profile": ("Profile",),
    "reference": ("Reference",),
    "sets": ("SetSystem", "Singleton", "Window", "linear_window", "slid_window", "wrapped_window"),
    "table": ("Table",),
    "two_level": ("TwoLevel",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a channel from its file."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'deniable.channels' has no attribute {name!r}")
    found = getattr(importlib.import_module(f"deniable.channels.{_HOME_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
