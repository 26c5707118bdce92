"""Several named attributes of one person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from deniable.core.domains.base import Domain, domain_from_recipe
from deniable.errors import InvalidDomain, OutOfDomain

MOST_ATTRIBUTES = 1024
"""Of a record from outside, with those of records inside it: more of them keep a device busy for seconds."""


@dataclass(frozen=True, repr=False)
class Record(Domain):
    """Named fields, each with its own domain; a value is a mapping with exactly those names.

    The index of a record is the mixed-radix number of its fields' indices, first field first.

    >>> from deniable.core import Binary, Categories
    >>> Record({"smokes": Binary(), "city": Categories(3)}).encode({"smokes": 1, "city": 2})
    5
    """

    fields: Mapping[str, Domain]
    kind: ClassVar[str] = "record"

    def __post_init__(self) -> None:
        if (
            not isinstance(self.fields, Mapping)
            or not self.fields
            or not all(isinstance(name, str) and name for name in self.fields)
        ):
            raise InvalidDomain("a record needs at least one field, and every field a name")
        for name, domain in self.fields.items():
            if not isinstance(domain, Domain):
                raise InvalidDomain(f"field {name!r} must have a domain, got {type(domain).__name__}")
        object.__setattr__(self, "fields", dict(self.fields))

    def __hash__(self) -> int:
        return hash(tuple(self.fields.items()))

    @property
    def size(self) -> int:
        """The product of the fields' sizes."""
        size = 1
        for domain in self.fields.values():
            size *= domain.size
        return size

    @property
    def attributes(self) -> int:
        """How many fields there are, those of records inside this one included."""
        return sum(inner.attributes if isinstance(inner, Record) else 1 for inner in self.fields.values())

    def items(self, value: Any) -> dict[str, Any]:
        """The value's fields in the record's order; refuses missing, unknown and non-mapping values."""
        if not isinstance(value, Mapping):
            raise OutOfDomain(f"the value must be a mapping with the fields {', '.join(self.fields)}")
        missing = [name for name in self.fields if name not in value]
        if missing:
            raise OutOfDomain(f"the record lacks the fields {', '.join(missing)}")
        if len(value) > len(self.fields):
            raise OutOfDomain(f"the record has fields other than {', '.join(self.fields)}")
        return {name: value[name] for name in self.fields}

    def encode(self, value: Any) -> int:
        """Mixed-radix index of the fields' indices."""
        index = 0
        for name, item in self.items(value).items():
            index = index * self.fields[name].size + self.fields[name].encode(item)
        return index

    def decode(self, index: int) -> dict[str, Any]:
        """The record with this index."""
        self.check_index(index)
        decoded: dict[str, Any] = {}
        for name, domain in reversed(list(self.fields.items())):
            index, digit = divmod(index, domain.size)
            decoded[name] = domain.decode(digit)
        return {name: decoded[name] for name in self.fields}

    def clip(self, value: Any) -> dict[str, Any]:
        """Every field clipped to its own domain."""
        return {name: self.fields[name].clip(item) for name, item in self.items(value).items()}

    def recipe(self) -> dict[str, Any]:
        """The fields in order."""
        return {"kind": self.kind, "fields": [[name, domain.recipe()] for name, domain in self.fields.items()]}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Record:
        if set(fields) != {"fields"}:
            raise InvalidDomain("a record recipe has 'fields'")
        domains: dict[str, Domain] = {}
        attributes = 0
        for name, domain in fields["fields"]:
            domains[name] = inner = domain_from_recipe(domain)
            attributes += inner.attributes if isinstance(inner, Record) else 1
            if attributes > MOST_ATTRIBUTES:
                raise InvalidDomain(f"a record has at most {MOST_ATTRIBUTES} attributes: ask fewer questions at once")
        return cls(domains)

    def __repr__(self) -> str:
        return f"Record({self.fields!r})"
