"""What all mechanisms on categories share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from deniable.core.domains.base import Domain
from deniable.core.domains.categories import Categories
from deniable.core.mechanisms.base import Mechanism


@dataclass(frozen=True, kw_only=True, repr=False)
class CategoricalMechanism(Mechanism):
    """One of k categories in; the inputs of the channel are their numbers."""

    domain: Categories = Categories(10)
    family: ClassVar[str] = "categorical"
    domain_types: ClassVar[tuple[type[Domain], ...]] = (Categories,)
