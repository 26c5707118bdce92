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
"""

from deniable.channels.base import Channel
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
