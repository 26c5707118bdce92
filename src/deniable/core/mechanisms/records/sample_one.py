"""Several attributes, one of them answered: a public coin says which, and it gets the whole epsilon."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from deniable.core.channels.chain import Mixture
from deniable.core.channels.fake_data import one_of
from deniable.core.domains.binary import Binary
from deniable.core.domains.categories import Categories
from deniable.core.domains.interval import Interval
from deniable.core.domains.record import Record
from deniable.core.exact.epsilon import Epsilon, EpsilonLike
from deniable.core.mechanisms.base import Mechanism
from deniable.core.mechanisms.records.product import USUAL, RecordMechanism, checked_parts
from deniable.core.mechanisms.registry import mechanism_class
from deniable.errors import InvalidParameter


@dataclass(frozen=True, kw_only=True, repr=False)
class SampleOne(RecordMechanism):
    """One field of a record, picked by a fair public coin and reported with the whole epsilon.

    Law: each of the d fields is picked with probability 1/d; its part, which has all of epsilon, draws.
    Guarantee: epsilon-LDP for whole records: the coin does not see the record, and one part alone speaks.
    Left out, `parts` is the usual mechanism for each field (`of` says more).
    Cost: one part's draw; every field hears from about n/d people. For categories that is better than
    splitting epsilon unless epsilon is large: the error of a split grows with e**(-epsilon/d).
    Source: Nguyên et al., "Collecting and analyzing data from smart device users with LDP", 2016.

    >>> person = Record({"smokes": Binary(), "city": Categories(5)})
    >>> SampleOne(domain=person, epsilon=1).certificate().holds
    True
    """

    parts: Mapping[str, Mechanism] = None  # type: ignore[assignment]
    name: ClassVar[str] = "sample-one"
    source: ClassVar[str] = "Nguyên, Xiao, Yang, Hui, Shin, Shin 2016"

    def __post_init__(self) -> None:
        super().__post_init__()
        given = whole_parts(self.domain, self.privacy) if self.parts is None else self.parts
        object.__setattr__(self, "parts", checked_parts(given, self.domain))
        if any(part.privacy != self.privacy for part in self.parts.values()):
            raise InvalidParameter(f"every part must have the whole epsilon = {self.privacy}; use SampleOne.of")

    def __hash__(self) -> int:
        return hash((self.domain, self.epsilon, tuple(self.parts.items())))

    @classmethod
    def of(cls, record: Record, epsilon: EpsilonLike, *, mechanism: Mapping[str, str] | None = None) -> Self:
        """`mechanism` names the mechanism of some or all fields; the others get the usual one for their domain."""
        whole = Epsilon(epsilon)
        return cls(domain=record, epsilon=whole, parts=whole_parts(record, whole, mechanism))

    if TYPE_CHECKING:  # what `build` gives

        @cached_property
        def channel(self) -> Mixture:
            """The channel, built once."""

    def build(self) -> Mixture:
        """A fair coin chooses the part, and the part sees its own field only."""
        return one_of([part.channel for part in self.parts.values()])

    def split_output(self, output: int) -> dict[str, int]:
        """The one field that was answered, with its part's own output."""
        self.channel.check(0, output)
        place, inner = self.channel.part_of(output)
        return {list(self.parts)[place]: inner}

    def decode(self, output: int) -> dict[str, Any]:
        """Every field: as its part reads it, or None where it was not asked."""
        answered = self.split_output(output)
        return {name: part.decode(answered[name]) if name in answered else None for name, part in self.parts.items()}

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Two tiny fields, names and bits, and three kinds of fields."""
        yield cls(epsilon=1)
        fields = Record({"smokes": Binary(), "city": Categories(["north", "south", "west"])})
        yield cls.of(fields, 0.5, mechanism={"city": "oue"})
        person = Record({"age": Interval(0, 120, cells=120), "job": Categories(12), "member": Binary()})
        yield cls.of(person, 2, mechanism={"age": "ogpm", "job": "hadamard"})


def whole_parts(record: Record, epsilon: Epsilon, mechanism: Mapping[str, str] | None = None) -> dict[str, Mechanism]:
    """One mechanism per field, each with the whole epsilon."""
    if not isinstance(record, Record):
        raise InvalidParameter(f"only a Record has fields to pick from, got {type(record).__name__}")
    chosen = dict(mechanism or {})
    unknown = [name for name in chosen if name not in record.fields]
    if unknown:
        raise InvalidParameter(f"mechanism names fields the record does not have: {', '.join(map(str, unknown))}")
    parts: dict[str, Mechanism] = {}
    for name, domain in record.fields.items():
        usual = chosen.get(name) or USUAL.get(type(domain))
        if usual is None:
            raise InvalidParameter(f"field {name!r} has no usual mechanism for {type(domain).__name__}; name one in `mechanism`")
        parts[name] = mechanism_class(usual)(domain=domain, epsilon=epsilon)
    return parts
