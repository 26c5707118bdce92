"""What mechanisms on places share that treat each coordinate by itself."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from deniable.core.channels.product import Product, undigits
from deniable.core.domains.base import Domain
from deniable.core.domains.parallelogram import Parallelogram
from deniable.core.domains.plane import Place, Rectangle
from deniable.core.domains.sphere import Sphere
from deniable.core.exact.epsilon import Epsilon
from deniable.core.mechanisms.base import Mechanism
from deniable.core.mechanisms.numeric_base import CircularMechanism, NumericMechanism
from deniable.core.mechanisms.registry import mechanism_class
from deniable.errors import InvalidParameter

FINE = 1 << 13
"""Cells a side of a region that stands for continuous space: the most a rectangle can have on both sides."""


@dataclass(frozen=True, kw_only=True, repr=False)
class CoordinateMechanism(Mechanism):
    """A mechanism on places that draws every coordinate independently: `parts` has one mechanism for "y" and one for "x"."""

    domain: Rectangle | Parallelogram | Sphere
    family: ClassVar[str] = "spatial"

    @property
    @abstractmethod
    def parts(self) -> Mapping[str, Mechanism]:
        """The mechanisms of y and x, in this order: cells are counted row by row."""

    def build(self) -> Product:
        """The parts' channels side by side."""
        return Product([part.channel for part in self.parts.values()])

    def encode(self, value: Any) -> int:
        """The mixed-radix number of the parts' inputs, y first."""
        x, y = self.domain.coordinates(value)
        inputs = [self.parts["y"].encode(y), self.parts["x"].encode(x)]
        return undigits(inputs, [part.channel.inputs for part in self.parts.values()])

    def decode(self, output: int) -> Place:
        """The point at the two reported coordinates."""
        self.channel.check(0, output)
        y, x = self.channel.split_output(output)
        return self.domain.place(self.parts["x"].decode(x), self.parts["y"].decode(y))


def coordinate_part(parameter: str, name: str, domain: Domain, epsilon: Epsilon, loss_exponent: Any) -> Mechanism:
    """A one-dimensional mechanism by its name, for one coordinate."""
    if not isinstance(name, str):
        raise InvalidParameter(f"{parameter} must be the name of a mechanism, got {type(name).__name__}")
    mechanism = mechanism_class(name)
    if not issubclass(mechanism, NumericMechanism | CircularMechanism) or not issubclass(type(domain), mechanism.domain_types):
        raise InvalidParameter(f"{parameter} must name a mechanism on a {type(domain).__name__}, and {name} is not one")
    known = {field.name for field in fields(mechanism)}
    if "delta" in known:
        raise InvalidParameter(f"{parameter} must name a purely private mechanism (delta 0), and {name} is not")
    options = {"loss_exponent": loss_exponent} if "loss_exponent" in known else {}
    recipe: dict[str, Any] = {"domain": domain, "epsilon": epsilon, **options}
    return mechanism(**recipe)
