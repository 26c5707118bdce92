"""Random sampling plus fake data: one field is answered, the others are made up, and nobody can tell which."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from deniable.core.channels.fake_data import FakeData
from deniable.core.channels.sets import Singleton
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.base import Domain
from deniable.core.domains.binary import Binary
from deniable.core.domains.categories import Categories
from deniable.core.domains.record import Record
from deniable.core.exact.epsilon import LARGEST, SMALLEST, Epsilon, EpsilonLike
from deniable.core.exact.exponential import log_float
from deniable.core.mechanisms.base import Mechanism
from deniable.core.mechanisms.records.product import RecordMechanism
from deniable.errors import InvalidParameter

GRAIN = 1 << 40
"""The level of `for_one_field` is a multiple of 2**-40."""


@dataclass(frozen=True, kw_only=True, repr=False)
class RandomSamplingPlusFakeData(RecordMechanism):
    """One field by k-ary randomized response, every other field a uniformly random fake.

    Law: a hidden fair coin picks the field; the answer is drawn with `epsilon`, the fakes uniformly.
    Guarantee: epsilon-LDP for whole records, exactly. Two records that differ in one field only are
    told apart at less: (e**epsilon + d - 1)/d for d fields of one size (`field_level`).
    The paper sets the inner level to ln(d (e**epsilon - 1) + 1) and calls the result epsilon-LDP. That
    holds between records that differ in one field; between records that differ in all, the inner level
    is the level. `for_one_field` makes the published mechanism and says its true level for records.
    Cost: 2 d draws, as many bits as the record. Never more accurate than `sample-one` at equal epsilon.
    Source: Arcolezi, Couchot, Al Bouna and Xiao, "Random sampling plus fake data", CIKM 2021.

    >>> both = RandomSamplingPlusFakeData(domain=Record({"smokes": Binary(), "city": Categories(2)}), epsilon=1)
    >>> both.certificate().holds, round(both.field_level("city"), 4)     # ln((e + 1)/2)
    (True, 0.6201)
    """

    name: ClassVar[str] = "rs-fd"
    source: ClassVar[str] = "Arcolezi, Couchot, Al Bouna, Xiao 2021, level corrected"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, domain in self.domain.fields.items():
            if not isinstance(domain, Binary | Categories):
                raise InvalidParameter(f"field {name!r} must be Binary or Categories: fake values are drawn from a list of values")

    @cached_property
    def parts(self) -> Mapping[str, Mechanism]:
        """Every field as the collector sees it: mostly fakes, and an answer every d-th time."""
        fields = self.domain.fields
        return {name: FieldAmongFakes(domain=domain, epsilon=self.privacy, fields=len(fields)) for name, domain in fields.items()}

    if TYPE_CHECKING:  # what `build` gives

        @cached_property
        def channel(self) -> FakeData:
            """The channel, built once."""

    def build(self) -> FakeData:
        """Randomized response for the field that is picked."""
        return fake_data(self.domain, self.privacy)

    def field_level(self, name: str) -> float:
        """ln of the largest ratio between records that differ in this field only."""
        if name not in self.domain.fields:
            raise InvalidParameter(f"name must be one of the fields {', '.join(self.domain.fields)}")
        return log_float(self.channel.field_ratio(list(self.domain.fields).index(name)))

    @classmethod
    def for_one_field(cls, record: Record, level: EpsilonLike) -> Self:
        """The published mechanism: at most `level` between records that differ in one field.

        Its `epsilon`, which is what whole records get, is the largest multiple of 2**-40 that allows it:
        ln(d (e**level - 1) + 1) when all fields have one size.

        >>> mechanism = RandomSamplingPlusFakeData.for_one_field(Record({"a": Categories(4), "b": Categories(4)}), 1)
        >>> round(float(mechanism.privacy), 5)                                   # ln(2 e - 1)
        1.48988
        """
        wanted = Epsilon(level)
        least, most = 1, LARGEST * GRAIN
        while least < most:
            middle = (least + most + 1) // 2
            if middle < SMALLEST * GRAIN or _keeps(record, Epsilon(Fraction(middle, GRAIN), allow_large=True), wanted):
                least = middle
            else:
                most = middle - 1
        return cls(domain=record, epsilon=Epsilon(Fraction(least, GRAIN), allow_large=True))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Two tiny fields, names, and the published level for five bits."""
        yield cls(epsilon=1)
        yield cls(domain=Record({"smokes": Binary(), "city": Categories(["north", "south", "west"])}), epsilon=0.3)
        yield cls.for_one_field(Record({name: Binary() for name in "abcde"}), 1)
        yield cls(domain=Record({"one": Categories(40), "two": Categories(30)}), epsilon=3)


@dataclass(frozen=True, kw_only=True, repr=False)
class FieldAmongFakes(Mechanism):
    """What a collector sees of one field of `rs-fd`: an answer with probability 1/fields, else a fake.

    Two-level again: with w out of T the weights of randomized response on k values, w k + (fields - 1) T out
    of fields k T. Estimators read its p and q from there. Not registered: it is never reported by itself.
    """

    fields: int
    name: ClassVar[str] = "rs-fd-field"
    family: ClassVar[str] = "records"
    domain_types: ClassVar[tuple[type[Domain], ...]] = (Binary, Categories)

    def build(self) -> TwoLevel:
        """Randomized response, diluted with uniform fakes."""
        answer = TwoLevel.at(Singleton(self.domain.size), self.privacy)
        fakes = (self.fields - 1) * answer.total
        return TwoLevel(answer.sets, answer.low * self.domain.size + fakes, answer.high * self.domain.size + fakes)

    def decode(self, output: int) -> Any:
        return self.domain.decode(output)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A bit and a few categories."""
        yield cls(domain=Binary(), epsilon=1, fields=2)
        yield cls(domain=Categories(5), epsilon=1, fields=4)


def fake_data(record: Record, epsilon: Epsilon) -> FakeData:
    """The channel whose answers have this level."""
    return FakeData([TwoLevel.at(Singleton(domain.size), epsilon) for domain in record.fields.values()])


def _keeps(record: Record, epsilon: Epsilon, wanted: Epsilon) -> bool:
    """Does every single field stay within the wanted level?"""
    channel = fake_data(record, epsilon)
    return all(wanted.allows(channel.field_ratio(place)) for place in range(len(channel.parts)))
