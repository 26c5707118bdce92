"""Hashes and MACs that anyone can work out: a field made of another one and the value, and bits of a field's own digest.

A tag such as sha256(nonce + value) looks random in every bit, alone and with all others. Who guesses the recipe reads
the value off it. So the usual recipes are tried, also MACs under the keys that people write into examples.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np

from deniable.privacy.auditing.events import Codes, Feature, contrast
from deniable.privacy.auditing.fields import Table
from deniable.privacy.auditing.octets import Octets

HASHES = ("md5", "sha1", "sha256", "sha512", "blake2b", "blake2s", "sha3_256")
MACS = ("md5", "sha1", "sha256", "sha512")
WORDS = (b"key", b"secret", b"password", b"salt", b"test", b"k", b"0", b"1", b"changeme", b"deniable", b"hmac", b"mykey")
KEYS = (*WORDS, b"secretkey", b"", bytes(16), bytes(32))
SEPARATORS = (b"", b":", b"|", b",", b"-", b".", b" ", b"\0")
MOST_FIELDS = 6
FEWEST_BYTES = 3
"""Shorter tags agree by chance."""
CHECKED = 12
CHECKSUMS: dict[str, Callable[[bytes], int]] = {"crc32": zlib.crc32, "adler32": zlib.adler32}
GROUND = ("md5", "sha1", "sha256", "sha512", "blake2b", *CHECKSUMS)
GROUND_ROWS = 4096
GROUND_BYTES = 8
"""So many from the start of a digest, and as many from its end."""
GROUND_BITS = 16 * GROUND_BYTES
MODULI = (3, 5, 7, 9, 10)
TEN = max(MODULI)
MOST_FEATURES = 2
Form = Callable[[Any], bytes | None]


def propose(fit: Table, values: list[Any]) -> Iterator[Feature]:
    """Recipes that fit the first reports, and the bits of digests that differ most between the test values."""
    fields = [name for name, column in fit.columns.items() if _is_long(column)][:MOST_FIELDS]
    for source in fields:
        for target in fields:
            if source != target:
                yield from _tags(fit, source, target, values)
    if fields:
        yield from _ground(fit, fields, len(values))


def _is_long(column: Any) -> bool:
    if isinstance(column, Octets):
        return int(column.lengths[:64].min()) >= (8 * FEWEST_BYTES if column.kind == "whole" else FEWEST_BYTES)
    return bool(column.dtype.kind in "iu" and np.abs(column[:64].astype(np.float64)).max() >= 1 << 8 * FEWEST_BYTES)


def _field(table: Table, name: str, row: int) -> Any:
    """A field of one report as text, bytes or a whole number."""
    column = table.columns.get(name)
    if column is None:
        return b""
    if not isinstance(column, Octets):
        return int(column[row])
    if column.kind == "whole":
        return int.from_bytes(column.matrix[row].tobytes(), "big", signed=True)
    data = column.matrix[row, : int(column.lengths[row])].tobytes()
    return data.decode("utf-8", "replace") if column.kind == "text" else data


def _plain(value: Any) -> bytes | None:
    return value if isinstance(value, bytes) else str(value).encode()


def _decoded(value: Any) -> bytes | None:
    try:
        return bytes.fromhex(value.replace("-", "")) if isinstance(value, str) else None
    except ValueError:
        return None


def _bytes_of(size: int, order: Any) -> Form:
    def form(value: Any) -> bytes | None:
        fits = isinstance(value, int) and 0 <= value < 1 << 8 * size
        return value.to_bytes(size, order) if fits else None

    return form


def _as_json(value: Any) -> bytes | None:
    return json.dumps(value).encode() if isinstance(value, str | bool | float | list | dict) else None


WHOLE: tuple[Form, ...] = tuple(_bytes_of(size, order) for size in (4, 8, 16) for order in ("big", "little"))
OF_FIELD: tuple[Form, ...] = (_plain, _decoded, *WHOLE)
OF_VALUE: tuple[Form, ...] = (_plain, _as_json, _bytes_of(1, "big"), *WHOLE[:4])


@dataclass(frozen=True)
class Recipe:
    """How a tag is made of a field and a value."""

    of_field: Form
    of_value: Form
    separator: bytes
    field_first: bool
    hash: str
    key: bytes | None

    def digest(self, field: Any, value: Any) -> bytes | None:
        """The tag; None where a part has no such form."""
        one, other = self.of_field(field), self.of_value(value)
        if one is None or other is None:
            return None
        message = one + self.separator + other if self.field_first else other + self.separator + one
        return hashlib.new(self.hash, message).digest() if self.key is None else hmac.digest(self.key, message, self.hash)


@cache
def _recipes() -> list[Recipe]:
    """All that are tried: some ten thousand."""
    return [
        Recipe(*how, hash_name, key)
        for how in product(OF_FIELD, OF_VALUE, SEPARATORS, (True, False))
        for hash_name, key in (*product(HASHES, (None,)), *(product(MACS, KEYS) if not how[2] else ()))
    ]


def _spellings(tag: Any) -> list[bytes]:
    """What the tag may stand for: its own bytes, hexadecimal digits, a whole number."""
    if isinstance(tag, int):
        return [tag.to_bytes(size, order) for size in (4, 8, 16) for order in ("big", "little") if 0 <= tag < 1 << 8 * size]
    return [data for data in (_decoded(tag), _plain(tag)) if data is not None and len(data) >= FEWEST_BYTES]


def _agrees(digest: bytes | None, tags: list[bytes]) -> bool:
    return digest is not None and any(digest.startswith(tag) or digest.endswith(tag) for tag in tags)


def _tags(fit: Table, source: str, target: str, values: list[Any]) -> Iterator[Feature]:
    """The recipes by which the first reports are tagged with their own value."""
    first = min(CHECKED, len(fit))
    rows = [(_field(fit, source, row), _spellings(_field(fit, target, row)), values[fit.places[row]]) for row in range(first)]
    for recipe in _recipes():
        if all(_agrees(recipe.digest(field, value), tags) for field, tags, value in rows):
            how = f"the {recipe.hash} {'of' if recipe.key is None else 'MAC, under a key that can be guessed, of'}"
            label = f"{target} as {how} {source} and a test value"
            yield Feature(label, partial(_tagged, recipe, source, target, values), len(values) + 1)
            return


def _tagged(recipe: Recipe, source: str, target: str, values: list[Any], table: Table) -> Codes:
    """The number of the value that a report is tagged with."""
    codes = np.full(len(table), len(values), np.intp)
    for row in range(len(table)):
        field, tags = _field(table, source, row), _spellings(_field(table, target, row))
        for place, value in enumerate(values):
            if _agrees(recipe.digest(field, value), tags):
                codes[row] = place
    return codes


def _ground(fit: Table, fields: list[str], inputs: int) -> Iterator[Feature]:
    """Bits and remainders of a field's own digest: a nonce can be drawn again until its hash says the value."""
    rows = fit.rows(slice(0, GROUND_ROWS))
    scored = []
    for name, form, kind in product(fields, OF_FIELD[:4], GROUND):
        if form(_field(rows, name, 0)) is None:
            continue
        for place, codes in enumerate(_seen(name, form, kind, rows).T):
            what, cells = (f"bit {place}", 2) if place < GROUND_BITS else (f"the remainder by {MODULI[place - GROUND_BITS]}", TEN)
            feature = Feature(f"{what} of the {kind} of {name}", partial(_column, name, form, kind, place), cells)
            counts = np.bincount(rows.places * cells + codes, minlength=cells * inputs).reshape(inputs, cells)
            scored.append((float(contrast(counts)), feature))
    for _, feature in sorted(scored, key=lambda one: -one[0])[:MOST_FEATURES]:
        yield feature


def _digest(kind: str, part: bytes) -> bytes:
    return CHECKSUMS[kind](part).to_bytes(4, "big") if kind in CHECKSUMS else hashlib.new(kind, part).digest()


def _seen(name: str, form: Form, kind: str, table: Table) -> Codes:
    """First and last bits of the digest of every report's field, and its remainders; worked out once per table."""
    key = f"{kind} of {name} {OF_FIELD.index(form)}"
    if key not in table.cache:
        digests = [_digest(kind, form(_field(table, name, row)) or b"") for row in range(len(table))]
        ends = b"".join(
            digest[:GROUND_BYTES].rjust(GROUND_BYTES, b"\0") + digest[-GROUND_BYTES:].rjust(GROUND_BYTES, b"\0")
            for digest in digests
        )
        bits = np.unpackbits(np.frombuffer(ends, np.uint8).reshape(len(table), 2 * GROUND_BYTES), axis=1)
        rests = [[number % modulus for modulus in MODULI] for number in (int.from_bytes(digest, "big") for digest in digests)]
        table.cache[key] = np.column_stack([bits, np.array(rests, np.uint8).reshape(len(table), len(MODULI))]).astype(np.uint8)
    seen: Codes = table.cache[key]
    return seen


def _column(name: str, form: Form, kind: str, place: int, table: Table) -> Codes:
    return _seen(name, form, kind, table)[:, place].astype(np.intp)
