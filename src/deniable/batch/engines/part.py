"""The result of one share of the work: sums, what was refused, and what was missing. Parts merge in any order."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field

from deniable import errors
from deniable.batch.accumulators.base import Accumulator
from deniable.batch.accumulators.choose import accumulator_for, accumulator_from_bytes
from deniable.batch.files.intake import Intake
from deniable.core import Mechanism
from deniable.errors import DeniableError, InvalidParameter, Malformed

HEAD_BYTES = 8


@dataclass
class Part:
    """What came of some of the files. A commutative monoid, as the sums are; `to_bytes` is how workers send it."""

    accumulator: Accumulator
    refused: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    broken: dict[str, int] = field(default_factory=dict)
    """Files that could not be read to their end: their name, and how many rows are known to be missing."""
    exports: dict[str, str] = field(default_factory=dict)
    """A collector's exports: directory and survey, for sums also window and shard, with tabs between; and the file."""
    stopped: tuple[str, str] | None = None
    """The kind and the words of the error that ended this share."""

    @classmethod
    def empty(cls, mechanism: Mechanism) -> Part:
        """The result of a share without files."""
        return cls(accumulator_for(mechanism))

    def merge(self, other: Part) -> Part:
        """The result of both shares."""
        stopped = self.stopped or other.stopped
        twice = sorted(key for key in self.exports.keys() & other.exports.keys() if self.exports[key] != other.exports[key])
        if twice and stopped is None:
            stopped = ("InvalidParameter", _twice_exported(self.exports[twice[0]], other.exports[twice[0]]))
        broken = Counter(self.broken) + Counter(other.broken)
        return Part(
            self.accumulator.merge(other.accumulator),
            self.refused + other.refused,
            sorted(self.notes + other.notes),
            {name: broken[name] for name in sorted({*self.broken, *other.broken})},
            {**self.exports, **other.exports},
            stopped,
        )

    def to_bytes(self) -> bytes:
        """The length of a head, the head as JSON, then the bytes of the sums."""
        head = {
            "refused": dict(sorted(self.refused.items())),
            "notes": self.notes,
            "broken": self.broken,
            "exports": self.exports,
            "stopped": self.stopped,
        }
        text = json.dumps(head).encode()
        return len(text).to_bytes(HEAD_BYTES, "big") + text + self.accumulator.to_bytes()

    @classmethod
    def from_bytes(cls, mechanism: Mechanism, data: bytes) -> Part:
        """A part that one of our own workers sent."""
        size = HEAD_BYTES + int.from_bytes(data[:HEAD_BYTES], "big")
        if len(data) < size:
            raise Malformed("the bytes are not a share of the work: they are cut short")
        head = json.loads(data[HEAD_BYTES:size])
        stopped = None if head["stopped"] is None else (str(head["stopped"][0]), str(head["stopped"][1]))
        sums = accumulator_from_bytes(mechanism, data[size:])
        return cls(sums, Counter(head["refused"]), head["notes"], head["broken"], head["exports"], stopped)

    def add_export(self, key: str, name: str) -> None:
        """Remember where an export came from; refuse a second one, which would hold the same reports again."""
        before = self.exports.setdefault(key, name)
        if before != name:
            raise InvalidParameter(_twice_exported(before, name))

    def stop(self, error: DeniableError) -> None:
        """Remember the error that ends the work; whoever asked for the work raises it."""
        self.stopped = (type(error).__name__, str(error))

    def raise_stopped(self) -> None:
        """The error of the worker, here."""
        if self.stopped is not None:
            kind, message = self.stopped
            error = getattr(errors, kind, DeniableError)
            raise error(message) if issubclass(error, DeniableError) else DeniableError(message)


@dataclass
class Folded(Intake):
    """What an engine made of all files: an `Intake`, and how many files there were and which were broken."""

    files: int = 0
    broken: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, part: Part, files: int, *, strict: bool) -> Folded:
        """The whole result, unless the work was stopped."""
        part.raise_stopped()
        _check_exports(part.exports)
        refused = Counter(dict(sorted(part.refused.items())))
        return cls(part.accumulator, strict, refused, sorted(part.notes), files, part.broken)

    def summary(self) -> list[str]:
        """One sentence per thing that went wrong; nothing when all went well."""
        lines = super().summary()
        if self.broken:
            rows = sum(self.broken.values())
            lost = f", and at least {rows:,} reports in them are missing" if rows else "; how many reports they held is unknown"
            lines.append(f"{len(self.broken)} of {self.files} files could not be read to the end{lost}")
        return lines


def _check_exports(exports: dict[str, str]) -> None:
    """Refuse exports that hold the same reports, or answers to different surveys."""
    surveys: dict[str, str] = {}
    for key, name in sorted(exports.items()):
        directory, survey, *_ = key.split("\t")
        whole = exports.get(f"{directory}\t{survey}", name)
        if whole != name:  # reports of a survey, and sums of the same reports
            raise InvalidParameter(_twice_exported(whole, name))
        if survey:
            surveys.setdefault(survey, name)
    if len(surveys) > 1:
        first, second, *_ = surveys.values()
        raise InvalidParameter(f"{first} and {second} are exports of different surveys; fold each survey on its own")


def _twice_exported(first: str, second: str) -> str:
    return (
        f"{first} and {second} are exports of the same survey and hold the same reports, which would count twice; keep only the "
        "newest export of a database, of reports or of sums, and exports of different databases in different directories"
    )


def check_mergeable(mechanism: Mechanism) -> None:
    """Refuse mechanisms without sums, before any work starts."""
    try:
        accumulator_for(mechanism)
    except errors.NotSupported as error:
        raise InvalidParameter(f"an engine adds up sums, and {error}; read these files without --engine") from None
