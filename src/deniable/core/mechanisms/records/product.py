"""Several attributes side by side, each with its own mechanism and its own part of epsilon."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from deniable.core.channels.base import Channel
from deniable.core.channels.product import Product, digits, undigits
from deniable.core.domains.base import Domain
from deniable.core.domains.binary import Binary
from deniable.core.domains.bins import Bins
from deniable.core.domains.categories import Categories
from deniable.core.domains.circle import Circle
from deniable.core.domains.interval import Interval
from deniable.core.domains.item_set import ItemSet
from deniable.core.domains.key_value import KeyValue
from deniable.core.domains.plane import Disc, Rectangle
from deniable.core.domains.record import Record
from deniable.core.exact.epsilon import Epsilon, EpsilonLike
from deniable.core.exact.numbers import Number, as_fraction
from deniable.core.mechanisms.base import Mechanism
from deniable.core.mechanisms.registry import mechanism_class, mechanism_from_recipe
from deniable.errors import InvalidParameter

USUAL: dict[type[Domain], str] = {
    Binary: "randomized-response",
    Bins: "subset",
    Categories: "k-rr",
    Interval: "window",
    Circle: "circular-window",
    Rectangle: "nearest-cells",
    Disc: "nearest-cells",
    Record: "product",
    ItemSet: "priv-set",
    KeyValue: "pckv-grr",
}


@dataclass(frozen=True, kw_only=True, repr=False)
class RecordMechanism(Mechanism):
    """A mechanism on records that treats every field by itself."""

    domain: Record = Record({"yes": Binary(), "group": Categories(4)})
    family: ClassVar[str] = "records"
    domain_types: ClassVar[tuple[type[Domain], ...]] = (Record,)

    @property
    @abstractmethod
    def parts(self) -> Mapping[str, Mechanism]:
        """One mechanism per field, in the record's order."""

    @property
    def lifetime(self) -> Fraction:
        """Epsilon; where a part has a permanent layer, everything that all parts can tell."""
        parts = self.parts.values()
        layered = any(part.lifetime > part.privacy.exact for part in parts)
        whole = sum((part.lifetime for part in parts), start=Fraction(0))
        return max(self.privacy.exact, whole) if layered else self.privacy.exact

    def build(self) -> Channel:
        """The parts' channels side by side."""
        return Product([part.channel for part in self.parts.values()])

    def encode(self, value: Any) -> int:
        """The mixed-radix number of the parts' inputs, which may be finer than the record's own cells."""
        items = self.domain.items(value)
        inputs = [part.encode(items[name]) for name, part in self.parts.items()]
        return undigits(inputs, [part.channel.inputs for part in self.parts.values()])

    def split_output(self, output: int) -> dict[str, int]:
        """Every part's own output."""
        self.channel.check(0, output)
        outputs = digits(output, [part.channel.outputs for part in self.parts.values()])
        return dict(zip(self.parts, outputs, strict=True))

    def decode(self, output: int) -> dict[str, Any]:
        """Every field as its part reads it."""
        return {name: self.parts[name].decode(digit) for name, digit in self.split_output(output).items()}


@dataclass(frozen=True, kw_only=True, repr=False)
class ProductMechanism(RecordMechanism):
    """A record, field by field: `parts` names a mechanism for each, and their epsilons add up to `epsilon`.

    Law: the parts draw independently; the weights multiply.
    Guarantee: epsilon-LDP for whole records, by exact addition; each field alone has its part's level.
    Left out, `parts` is an equal split with the usual mechanism for each field (`split` says more).
    Cost: the parts' costs together.
    Source: sequential composition, Dwork et al., 2006.

    >>> person = Record({"smokes": Binary(), "age": Interval(0, 120)})
    >>> both = ProductMechanism.split(person, 2, shares={"smokes": 1, "age": 3})
    >>> both.parts["age"].epsilon, both.certificate().holds
    (Epsilon(1.5), True)
    """

    parts: Mapping[str, Mechanism] = None  # type: ignore[assignment]
    name: ClassVar[str] = "product"
    source: ClassVar[str] = "sequential composition, Dwork, McSherry, Nissim, Smith 2006"

    def __post_init__(self) -> None:
        super().__post_init__()
        given = divided(self.domain, self.privacy) if self.parts is None else self.parts
        object.__setattr__(self, "parts", checked_parts(given, self.domain))
        spent = sum((part.privacy.exact for part in self.parts.values()), start=Fraction(0))
        if spent != self.privacy.exact:
            raise InvalidParameter(
                f"the epsilons of the parts must add up to epsilon = {self.privacy} exactly; use ProductMechanism.split"
            )

    def __hash__(self) -> int:
        return hash((self.domain, self.epsilon, tuple(self.parts.items())))

    @classmethod
    def split(
        cls,
        record: Record,
        epsilon: EpsilonLike,
        *,
        mechanism: Mapping[str, str] | None = None,
        shares: Mapping[str, Number] | None = None,
    ) -> Self:
        """Divide epsilon exactly among the fields, by `shares` (equal ones if left out).

        `mechanism` names the mechanism of some or all fields; the others get the usual one for their domain.
        """
        whole = Epsilon(epsilon)
        return cls(domain=record, epsilon=whole, parts=divided(record, whole, mechanism, shares))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Two tiny fields, an uneven split, and three kinds of fields."""
        yield cls(epsilon=1)
        fields = Record({"smokes": Binary(), "city": Categories(["north", "south", "west"])})
        yield cls.split(fields, 2, shares={"smokes": "1/3", "city": "2/3"}, mechanism={"city": "oue"})
        person = Record({"age": Interval(0, 120, cells=120), "job": Categories(12), "member": Binary()})
        yield cls.split(person, 3, mechanism={"age": "ogpm"})


def divided(
    record: Record,
    epsilon: Epsilon,
    mechanism: Mapping[str, str] | None = None,
    shares: Mapping[str, Number] | None = None,
) -> dict[str, Mechanism]:
    """One mechanism per field, whose epsilons are exact shares of the whole."""
    if not isinstance(record, Record):
        raise InvalidParameter(f"only a Record can be split into fields, got {type(record).__name__}")
    chosen = dict(mechanism or {})
    weights = {name: Fraction(1) for name in record.fields} if shares is None else _shares(shares, record)
    unknown = [name for name in chosen if name not in record.fields]
    if unknown:
        raise InvalidParameter(f"mechanism names fields the record does not have: {', '.join(map(str, unknown))}")
    whole = sum(weights.values(), start=Fraction(0))
    parts: dict[str, Mechanism] = {}
    for name, domain in record.fields.items():
        usual = USUAL.get(type(domain))
        if name not in chosen and usual is None:
            raise InvalidParameter(f"field {name!r} has no usual mechanism for {type(domain).__name__}; name one in `mechanism`")
        kind = mechanism_class(chosen.get(name) or str(usual))
        parts[name] = kind(domain=domain, epsilon=epsilon.times(weights[name] / whole))
    return parts


def _shares(shares: Mapping[str, Number], record: Record) -> dict[str, Fraction]:
    """Positive exact shares for exactly the record's fields."""
    if set(shares) != set(record.fields):
        raise InvalidParameter(f"shares must name exactly the fields {', '.join(record.fields)}")
    exact = {}
    for name in record.fields:
        share = as_fraction(shares[name])
        if share is None or share <= 0:
            raise InvalidParameter(f"the share of {name!r} must be a positive number")
        exact[name] = share
    return exact


def checked_parts(parts: Mapping[str, Any], record: Record) -> dict[str, Mechanism]:
    """The parts in the record's order, recipes read, domains compared."""
    if not isinstance(parts, Mapping) or set(parts) != set(record.fields):
        raise InvalidParameter(f"parts must name a mechanism for exactly the fields {', '.join(record.fields)}")
    checked: dict[str, Mechanism] = {}
    for name, domain in record.fields.items():
        part = mechanism_from_recipe(parts[name]) if isinstance(parts[name], dict) else parts[name]
        if not isinstance(part, Mechanism):
            raise InvalidParameter(f"the part for {name!r} must be a mechanism, got {type(part).__name__}")
        if part.domain != domain:
            raise InvalidParameter(f"the part for {name!r} must have the field's own domain, {domain!r}")
        if part.delta != 0:
            raise InvalidParameter(f"the part for {name!r} must be purely private (delta 0)")
        if not part.protects_all:
            raise InvalidParameter(f"the part for {name!r} must have a level for every pair of its values")
        checked[name] = part
    return checked
