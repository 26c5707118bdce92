"""The contract of every domain."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, ClassVar

from deniable.core.exact.numbers import as_fraction, show_fraction
from deniable.errors import InvalidDomain, InvalidParameter, OutOfDomain

HOMES = {
    "ball": ("Ball",),
    "binary": ("Binary",),
    "bins": ("Bins",),
    "categories": ("Categories",),
    "circle": ("Circle",),
    "interval": ("Interval",),
    "item_set": ("ItemSet",),
    "key_value": ("KeyValue",),
    "parallelogram": ("Parallelogram",),
    "plane": ("Disc", "Points", "Rectangle"),
    "polygon": ("Polygon",),
    "record": ("Record",),
    "sphere": ("Sphere",),
    "trajectory": ("Trajectory",),
    "words": ("Text", "Whole"),
}
"""In which file each domain lives; they are loaded when they are first asked for."""
KINDS: dict[str, type[Domain]] = {}
"""Those that are loaded, by the name in their recipe."""


class Domain(ABC):
    """A set of private values with an exact map to indices 0 … size - 1.

    Subclasses are frozen dataclasses. `encode` refuses what does not belong; `clip` moves it to the
    nearest value that does, when the caller asks for that.
    """

    kind: ClassVar[str]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "kind" in cls.__dict__:
            KINDS[cls.kind] = cls

    @property
    @abstractmethod
    def size(self) -> int:
        """How many indices there are."""

    @abstractmethod
    def encode(self, value: Any) -> int:
        """The index of a value; raises OutOfDomain, without showing the value, when it has none."""

    @abstractmethod
    def decode(self, index: int) -> Any:
        """The value an index stands for."""

    @abstractmethod
    def clip(self, value: Any) -> Any:
        """The nearest value that belongs to the domain."""

    @abstractmethod
    def recipe(self) -> dict[str, Any]:
        """A JSON form that `domain_from_recipe` reads back."""

    @classmethod
    @abstractmethod
    def from_fields(cls, fields: dict[str, Any]) -> Domain:
        """Rebuild from the fields of a recipe."""

    def check_index(self, index: int) -> int:
        """Refuse an index outside the domain (indices of outputs are public)."""
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < self.size:
            raise OutOfDomain(f"an index of {self!r} must be a whole number from 0 to {show_fraction(Fraction(self.size - 1))}")
        return index

    def refuse(self, rule: str = "") -> OutOfDomain:
        """The error for a value that does not belong; it says the rule and hides the value."""
        why = rule or "the value is outside"
        remedy = f". {self.remedy}" if "outside" in why or "one of" in why else ""
        return OutOfDomain(f"{why} {self!r}; it is not shown because it is private{remedy}")

    @property
    def remedy(self) -> str:
        """What to do about a value that does not belong; it depends on the domain alone, never on the value."""
        return "Clip first: domain.clip(value)"


def domain_from_recipe(recipe: dict[str, Any]) -> Domain:
    """Rebuild a domain from its JSON form."""
    if isinstance(recipe, dict) and isinstance(recipe.get("kind"), str) and recipe["kind"] not in KINDS:
        for home in HOMES:
            importlib.import_module(f"deniable.core.domains.{home}")
    if not isinstance(recipe, dict) or not isinstance(recipe.get("kind"), str) or recipe["kind"] not in KINDS:
        raise InvalidDomain(f"a domain recipe needs a 'kind' out of {', '.join(sorted(KINDS))}")
    fields = {name: value for name, value in recipe.items() if name != "kind"}
    try:
        return KINDS[recipe["kind"]].from_fields(fields)
    except InvalidParameter:
        raise
    except (TypeError, KeyError, ValueError, AttributeError, RecursionError):
        raise InvalidDomain(f"the recipe of a {recipe['kind']} has missing, unknown or ill-typed fields") from None


def real_parameter(name: str, value: object) -> Fraction:
    """A public real parameter, exactly; anything else is refused with its name."""
    exact = as_fraction(value)
    if exact is None:
        given = repr(value[:40]) if isinstance(value, str) else type(value).__name__
        raise InvalidDomain(f"{name} must be a finite number such as 0, 1.5 or 1/3, got {given}")
    return exact
