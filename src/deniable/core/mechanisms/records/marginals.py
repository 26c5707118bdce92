"""A few fields of a record together: a public coin says which, and their joint answer gets the whole epsilon (CALM)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, Self

from deniable.core.channels.chain import Mixture
from deniable.core.channels.several_digits import SeveralDigits
from deniable.core.domains.base import Domain
from deniable.core.domains.binary import Binary
from deniable.core.domains.categories import Categories
from deniable.core.domains.record import Record
from deniable.core.exact.numbers import as_index
from deniable.core.mechanisms.base import Mechanism
from deniable.core.mechanisms.registry import mechanism_class
from deniable.errors import InvalidParameter

MOST_CELLS = 1 << 16
"""Of one marginal: the collector keeps a counter or more for each."""
MOST_MARGINALS = 1 << 12
MOST_SHARE = 1 << 30
ORACLES = ("hadamard", "k-rr", "projective", "subset")


@dataclass(frozen=True, kw_only=True, repr=False)
class Marginals(Mechanism):
    """Report the joint value of a few fields of a record: tables of several attributes, and what they have in common.

    Law: marginal j, the fields named in `marginals[j]`, is chosen with probability `shares[j]` over their sum, by a coin that does
    not see the record. The cell of its table that the record lies in is reported by the mechanism in `oracles[j]`, which has
    the whole epsilon.
    Guarantee: epsilon-LDP for whole records: one mechanism alone speaks, and the coin says nothing.
    Left out, `marginals` is every pair of fields, with equal shares, each reported by `hadamard`. `best_marginals` of
    `deniable.planning` finds the sets of fields, shares and mechanisms with the least error for all K-way tables.
    Cost: one draw of one mechanism; the marginal is part of the output.
    Source: Zhang, Wang, Li, He and Chen, "CALM: consistent adaptive local marginal for marginal release", CCS 2018.

    >>> person = Record({"smokes": Binary(), "city": Categories(3), "job": Categories(4)})
    >>> tables = Marginals(domain=person, epsilon=1, marginals=[["smokes", "city"], ["city", "job"]], shares=[1, 2])
    >>> [part.domain.size for part in tables.parts.values()], tables.certificate().holds
    ([6, 12], True)
    """

    domain: Record = Record({"yes": Binary(), "group": Categories(4)})
    marginals: Sequence[Sequence[str]] = None  # type: ignore[assignment]
    shares: Sequence[int] | None = None
    oracles: Sequence[str] | None = None
    name: ClassVar[str] = "marginals"
    family: ClassVar[str] = "records"
    source: ClassVar[str] = "Zhang, Wang, Li, He, Chen 2018"
    domain_types: ClassVar[tuple[type[Domain], ...]] = (Record,)

    def __post_init__(self) -> None:
        super().__post_init__()
        fields = self.domain.fields
        for name, domain in fields.items():
            if not isinstance(domain, Binary | Categories):
                raise InvalidParameter(f"field {name!r} must be Binary or Categories: a table has a cell for every value")
        usual = list(combinations(fields, min(2, len(fields))))
        object.__setattr__(self, "marginals", _sets(usual if self.marginals is None else self.marginals, fields))
        count = len(self.marginals)
        shares = _shares([1] * count if self.shares is None else self.shares)
        oracles = (ORACLES[0],) * count if self.oracles is None else self.oracles
        if isinstance(oracles, str) or not isinstance(oracles, Sequence) or any(one not in ORACLES for one in oracles):
            raise InvalidParameter(f"oracles must name one of {', '.join(ORACLES)} for every marginal")
        if len(shares) != count or len(oracles) != count:
            raise InvalidParameter(f"shares and oracles must have one entry for each of the {count} marginals")
        object.__setattr__(self, "shares", shares)
        object.__setattr__(self, "oracles", tuple(oracles))

    @cached_property
    def parts(self) -> Mapping[str, Mechanism]:
        """One mechanism per marginal, on the cells of its table: the last field changes fastest."""
        assert self.oracles is not None
        kinds = {oracle: mechanism_class(oracle) for oracle in self.oracles}
        return {
            " × ".join(names): kinds[oracle](domain=Categories(self.cells(names)), epsilon=self.privacy)
            for names, oracle in zip(self.marginals, self.oracles, strict=True)
        }

    def cells(self, names: Sequence[str]) -> int:
        """How many cells the table of these fields has."""
        return math.prod(self.domain.fields[name].size for name in names)

    if TYPE_CHECKING:  # what `build` gives

        @cached_property
        def channel(self) -> Mixture:
            """The channel, built once."""

    def build(self) -> Mixture:
        """A coin chooses the marginal, whose mechanism sees the values of its fields only."""
        assert self.shares is not None
        places = {name: place for place, name in enumerate(self.domain.fields)}
        sizes = tuple(domain.size for domain in self.domain.fields.values())
        each = zip(self.marginals, self.parts.values(), strict=True)
        return Mixture([SeveralDigits(sizes, [places[name] for name in names], part.channel) for names, part in each], self.shares)

    def decode(self, output: int) -> dict[str, Any]:
        """Every field: its value in the reported cell, or what the mechanism reports instead; None where it was not asked."""
        self.channel.check(0, output)
        place, inner = self.channel.part_of(output)
        names, reading = self.marginals[place], list(self.parts.values())[place].decode(inner)
        if self.oracles is not None and self.oracles[place] == "k-rr":
            cell = Record({name: self.domain.fields[name] for name in names}).decode(reading)
        else:  # it speaks for many cells, so there is no single best guess
            cell = dict.fromkeys(names, reading)
        return {name: cell.get(name) for name in self.domain.fields}

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Two tiny fields, overlapping tables with uneven shares, and all pairs of five bits."""
        yield cls(epsilon=1)
        three = Record({"smokes": Binary(), "city": Categories(["north", "south", "west"]), "job": Categories(4)})
        tables = [["smokes", "job"], ["city"], ["smokes", "city", "job"]]
        yield cls(domain=three, epsilon=0.5, marginals=tables, shares=[2, 1, 3], oracles=["k-rr", "subset", "projective"])
        yield cls(domain=Record({name: Binary() for name in "abcde"}), epsilon=2)


def _sets(given: Any, fields: Mapping[str, Domain]) -> tuple[tuple[str, ...], ...]:
    """Each a set of fields, its names in the record's order; all of them different."""
    rule = "marginals must be a list of lists with names of fields, each in the record's order, no two of them alike"
    if isinstance(given, str) or not isinstance(given, Sequence) or not 1 <= len(given) <= MOST_MARGINALS:
        raise InvalidParameter(f"{rule}, at most {MOST_MARGINALS}")
    places = {name: place for place, name in enumerate(fields)}
    listed = []
    for names in given:
        if isinstance(names, str) or not isinstance(names, Sequence) or any(not isinstance(one, str) for one in names):
            raise InvalidParameter(rule)
        unknown = [one for one in names if one not in places]
        if unknown:
            raise InvalidParameter(f"marginals name fields that the record does not have: {', '.join(map(repr, unknown))[:100]}")
        if not names or sorted(set(names), key=places.__getitem__) != list(names):
            raise InvalidParameter(rule)
        if math.prod(fields[one].size for one in names) > MOST_CELLS:
            raise InvalidParameter(
                f"the table of {', '.join(names)[:100]} has more than {MOST_CELLS:,} cells; ask for fewer fields at once"
            )
        listed.append(tuple(names))
    if len({" × ".join(names) for names in listed}) < len(listed):
        raise InvalidParameter(rule)
    return tuple(listed)


def _shares(values: Any) -> tuple[int, ...]:
    numbers = [] if isinstance(values, str) or not isinstance(values, Sequence) else [as_index(value) for value in values]
    whole = tuple(number for number in numbers if number is not None and 1 <= number <= MOST_SHARE)
    if not whole or len(whole) != len(numbers):
        raise InvalidParameter(f"shares must be a list of whole numbers from 1 to {MOST_SHARE}")
    return whole
