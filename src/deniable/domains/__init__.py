"""What a private value may be: each domain checks it, turns it into an index, and reads indices back."""

from deniable.domains.base import Domain, domain_from_recipe
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
