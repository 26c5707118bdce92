"""What all mechanisms on categories share."""

from __future__ import annotations

from deniable.domains import Categories, Domain
from deniable.frozen import TYPE_CHECKING, dataclass
from deniable.mechanisms.base import Mechanism

if TYPE_CHECKING:
    from typing import ClassVar


@dataclass(frozen=True, kw_only=True, repr=False)
class CategoricalMechanism(Mechanism):
    """One of k categories in; the inputs of the channel are their numbers."""

    domain: Categories = Categories(10)
    family: ClassVar[str] = "categorical"
    domain_types: ClassVar[tuple[type[Domain], ...]] = (Categories,)
