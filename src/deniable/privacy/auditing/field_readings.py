"""Fields read as rows of small units: the bytes of numbers and byte strings, of hex and base64 text, decimal digits, characters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.privacy.auditing.answers import TEXT
from deniable.privacy.auditing.fields import Table
from deniable.privacy.auditing.measures import Measure, measures
from deniable.privacy.auditing.octets import Octets, number_bytes

Units = NDArray[np.uint8]
Decode = Callable[[Units], Units]

MOST_BITS = 1024
MOST_UNITS = 4096
SHOWN_OF_TEXT = 64
NOT_WORDS = ("type of ", "keys of ", "layout of ")
NUMBER_DIGITS = 20


@dataclass(frozen=True)
class Words:
    """A field as rows of `width` units below `radix`. `main` is false where another reading of the field has the same bits."""

    name: str
    unit: str
    radix: int
    width: int
    main: bool
    source: Callable[[Table], Units]
    names: tuple[str, ...] = ()

    def read(self, table: Table) -> Units:
        """The units of every report; read once per table."""
        key = f"{self.unit}s of {self.name}"
        if key not in table.cache:
            table.cache[key] = self.source(table)
        units: Units = table.cache[key]
        return units

    def label(self, place: int) -> str:
        """The unit in words, as an event's name shows it."""
        return self.names[place] if self.names else f"{self.unit} {place + 1} of {self.width} of {self.name}"


def readings(fit: Table) -> list[Words]:
    """Every way to read the fields of these reports."""
    if "readings" not in fit.cache:
        fit.cache["readings"] = list(_readings(fit))
    words: list[Words] = fit.cache["readings"]
    return words


def _readings(fit: Table) -> Iterator[Words]:
    numbers = {name: column for name, column in fit.columns.items() if isinstance(column, np.ndarray)}
    numbers = {name: column for name, column in numbers.items() if not name.startswith(NOT_WORDS)}
    small = tuple(
        name for name, column in numbers.items() if column.dtype.kind in "biu" and column.min() >= 0 and column.max() < 256
    )
    if small:
        yield Words("the small fields", "byte", 256, len(small), True, partial(_small, small), small)
    for name, column in numbers.items():
        if name in small:
            continue
        yield Words(name, "byte", 256, 8, True, partial(_number, name, column.dtype.kind == "f"))
        if column.dtype.kind in "iu":
            yield Words(name, "digit", 10, NUMBER_DIGITS, False, partial(_digits, name))
    for name, octets in fit.columns.items():
        if isinstance(octets, Octets):
            yield from _of_octets(name, octets)


def _of_octets(name: str, column: Octets) -> Iterator[Words]:
    width = min(max(1, column.matrix.shape[1]), MOST_UNITS)
    if column.kind == "whole":
        yield Words(name, "byte", 256, width, True, partial(_octets, name, width, False, None))
        return
    if name == TEXT:
        width = min(width, SHOWN_OF_TEXT)
    ragged = column.lengths.min() < column.lengths.max()
    decoded = list(_decoded(name, column, width)) if column.kind == "text" and name != TEXT else []
    yield from decoded
    unit = "character" if column.kind == "text" else "byte"
    main = not decoded and name != TEXT
    yield Words(name, unit, 256, width, main, partial(_octets, name, width, False, None))
    if ragged or column.lengths.max() > width:
        yield Words(f"{name} from its end", unit, 256, width, main, partial(_octets, name, width, True, None))


def _decoded(name: str, column: Octets, width: int) -> Iterator[Words]:
    """Hex and base64, when every character that varies could be one."""
    right = column.right(width)
    varies: NDArray[np.bool_] = np.asarray(np.ptp(right, axis=0) > 0)
    moving = right[:, varies]
    if varies.any() and bool(np.all((moving == 0) | (moving >= 48) & (moving < 58))):
        yield Words(f"{name} as a number", "digit", 10, width, False, partial(_octets, name, width, True, _decimal))
    for what, table in (("hex", HEX), ("base64", BASE64)):
        codes = table[right]
        valid: NDArray[np.bool_] = np.asarray(np.max(codes, axis=0) < 64)
        if not varies.any() or not valid[varies].all() or valid[varies].size < 2:
            continue
        kept = np.flatnonzero(valid)  # without hyphens and prefixes
        if what == "hex":
            wide = -(-len(kept) // 2)
            yield Words(f"{name} as hex", "byte", 256, wide, True, partial(_octets, name, width, True, partial(_hex, kept)))
        else:
            end = bool(column.lengths.min() < column.lengths.max())
            kept = np.arange(width) if end else kept
            yield Words(
                f"{name} as base64", "digit", 64, len(kept), True, partial(_octets, name, width, False, partial(_base64, kept))
            )
            if len(kept) >= 4:
                whole = partial(_octets, name, width, False, partial(_base64_bytes, kept))
                yield Words(f"{name} as base64", "byte", 256, len(kept) * 6 // 8, False, whole)
            yield from _in_other_bases(name, column, width)
        return
    yield from _in_other_bases(name, column, width)


def _in_other_bases(name: str, column: Octets, width: int) -> Iterator[Words]:
    """Text in the first alphabet that has all its characters: base 32, 36 and 58 as one number, base 85 by groups of five."""
    characters = column.left(width)
    for base, alphabet in ALPHABETS.items():
        if int(alphabet[characters].max()) >= 255 or width > WIDEST_NUMBER:
            continue
        radix = int(alphabet[alphabet < 255].max()) + 1
        if radix == 85:
            read = partial(_octets, name, width, False, partial(_groups_of_five, alphabet))
            yield Words(f"{name} as {base}", "byte", 256, -(-width // 5) * 4, True, read)
        else:
            size = -(-(width * (radix - 1).bit_length()) // 8)
            read = partial(_octets, name, width, True, partial(_one_number, alphabet, radix, size))
            yield Words(f"{name} as {base}", "byte", 256, size, True, read)
        return


def _octets(name: str, width: int, end: bool, decode: Decode | None, table: Table) -> Units:
    column = table.columns.get(name)
    if isinstance(column, np.ndarray) and column.dtype.kind in "biu":
        column = Octets(number_bytes(column), np.zeros(len(column), np.int64), "whole")
    matrix: Units = np.zeros((len(table), width), np.uint8)
    if isinstance(column, Octets):
        matrix = column.right(width) if end else column.left(width)
    return matrix if decode is None else decode(matrix)


def _small(names: tuple[str, ...], table: Table) -> Units:
    given = table.given
    if given is not None and given.ndim == 2 and given.shape[1] == len(names) and given.dtype.kind in "biu":
        return np.asarray(np.clip(given, 0, 255), np.uint8)
    return np.column_stack([np.clip(_numeric(table, name), 0, 255).astype(np.uint8) for name in names])


def _numeric(table: Table, name: str) -> NDArray[Any]:
    column = table.columns.get(name)
    return np.nan_to_num(column) if isinstance(column, np.ndarray) else np.zeros(len(table))


def _number(name: str, real: bool, table: Table) -> Units:
    column = table.columns.get(name)
    if not isinstance(column, np.ndarray):
        return column.left(8) if isinstance(column, Octets) else np.zeros((len(table), 8), np.uint8)
    if not real and column.dtype.kind == "f":
        column = np.nan_to_num(column).astype(np.int64)
    return number_bytes(column.astype(np.float64) if real else column)


def _digits(name: str, table: Table) -> Units:
    column = table.columns.get(name)
    if not isinstance(column, np.ndarray) or column.dtype.kind == "f":
        return np.zeros((len(table), NUMBER_DIGITS), np.uint8)
    rest = np.abs(column.astype(np.int64)).astype(np.uint64) if column.dtype.kind != "u" else column.astype(np.uint64)
    digits = np.zeros((len(rest), NUMBER_DIGITS), np.uint8)
    for place in range(NUMBER_DIGITS - 1, -1, -1):
        rest, digits[:, place] = rest // np.uint64(10), rest % np.uint64(10)
    return digits


def _lookup(alphabet: str, *others: str) -> Units:
    table = np.full(256, 255, np.uint8)
    table[0] = 0  # padding
    for spelling in (alphabet, *others):
        table[np.frombuffer(spelling.encode(), np.uint8)] = np.arange(len(spelling))
    return table


HEX = _lookup("0123456789abcdef", "0123456789ABCDEF")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
BASE64 = _lookup(LETTERS + "+/", LETTERS + "-_")
BASE64[ord("=")] = 0


WIDEST_NUMBER = 64
CAPITALS, SMALL, DIGITS = LETTERS[:26], LETTERS[26:52], LETTERS[52:]
CROCKFORD = DIGITS + "ABCDEFGHJKMNPQRSTVWXYZ"
ALPHABETS = {
    "base32": _lookup(CAPITALS + "234567"),
    "base32 in small letters": _lookup(SMALL + "234567"),
    "base32 of Crockford": _lookup(CROCKFORD),
    "base32 of Crockford in small letters": _lookup(CROCKFORD.lower()),
    "base36": _lookup(DIGITS + CAPITALS),
    "base36 in small letters": _lookup(DIGITS + SMALL),
    "base58": _lookup("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"),
    "base85": _lookup(DIGITS + CAPITALS + SMALL + "!#$%&()*+-;<=>?@^_`{|}~"),
    "Ascii85": _lookup("".join(map(chr, range(33, 118)))),
    "Z85": _lookup(DIGITS + SMALL + CAPITALS + ".-:+=^!/*?&<>()[]{}@%$#"),
}


def _one_number(alphabet: Units, radix: int, size: int, matrix: Units) -> Units:
    """The text as a whole number, in bytes: sums of powers, carried once at the end."""
    codes = alphabet[matrix].astype(np.int64)
    total = np.zeros((len(codes), size), np.int64)
    for place in range(codes.shape[1]):
        total *= radix
        total[:, -1] += codes[:, place]
        for column in range(size - 1, 0, -1):
            total[:, column - 1] += total[:, column] >> 8
            total[:, column] &= 255
    return (total & 255).astype(np.uint8)


def _groups_of_five(alphabet: Units, matrix: Units) -> Units:
    codes = alphabet[matrix].astype(np.int64)
    codes = np.pad(codes, ((0, 0), (0, -codes.shape[1] % 5)), constant_values=84)
    numbers = codes.reshape(len(codes), -1, 5) @ np.array([85**4, 85**3, 85**2, 85, 1])
    return np.asarray((numbers & 0xFFFFFFFF).astype(">u4").view(np.uint8).reshape(len(codes), -1), np.uint8)


def _decimal(matrix: Units) -> Units:
    return np.where((matrix >= 48) & (matrix < 58), matrix - 48, 0).astype(np.uint8)


def _hex(kept: NDArray[np.intp], matrix: Units) -> Units:
    codes = HEX[matrix[:, kept]] & 15
    if codes.shape[1] % 2:
        codes = np.pad(codes, ((0, 0), (1, 0)))
    return np.asarray(codes[:, ::2] * 16 + codes[:, 1::2], np.uint8)


def _base64(kept: NDArray[np.intp], matrix: Units) -> Units:
    return np.asarray(BASE64[matrix[:, kept]] & 63, np.uint8)


def _base64_bytes(kept: NDArray[np.intp], matrix: Units) -> Units:
    codes = _base64(kept, matrix)
    bits = np.unpackbits(codes[:, :, None], axis=2)[:, :, 2:].reshape(len(codes), -1)
    return np.packbits(bits[:, : bits.shape[1] // 8 * 8], axis=1)


@dataclass(frozen=True)
class Bit:
    """A bit of a report. `single` is false for the parity of all bits of a field."""

    label: str
    read: Callable[[Table], Units]
    single: bool = True


def parity(units: Units) -> Units:
    """The parity of all bits of each row."""
    return np.asarray(np.bitwise_count(np.bitwise_xor.reduce(units, axis=1)) & 1, np.uint8)


def bits(fit: Table) -> list[Bit]:
    """The bits that vary, of very long reports the first and the last ones; the parity of every field; lowest bits of lengths."""
    if "bits" not in fit.cache:
        single, whole = [], []
        for words in readings(fit):
            if words.main:
                units = words.read(fit)
                varying = np.bitwise_or.reduce(units ^ units[0], axis=0)
                places = np.flatnonzero(varying).tolist()
                single += [_bit(words, place, shift) for place in places for shift in _set(int(varying[place]))]
                if np.bitwise_count(varying).sum() > 1:
                    whole.append(Bit(f"the parity of {words.name}", partial(_parity_of, words), False))
        lengths = [one for one in measures(fit) if one.ordered and one.name not in fit.columns and one.name != "the report"]
        whole += [Bit(f"the lowest bit of {one.name}", partial(_lowest, one), False) for one in lengths]
        half = MOST_BITS // 2
        fit.cache["bits"] = (single if len(single) <= MOST_BITS else single[:half] + single[-half:]) + whole[: MOST_BITS // 4]
    chosen: list[Bit] = fit.cache["bits"]
    return chosen


def _bit(words: Words, place: int, shift: int) -> Bit:
    return Bit(f"bit {shift} of {words.label(place)}", lambda table: np.asarray(words.read(table)[:, place] >> shift & 1, np.uint8))


def _set(byte: int) -> list[int]:
    return [shift for shift in range(7, -1, -1) if byte >> shift & 1]


def _lowest(measure: Measure, table: Table) -> Units:
    return np.asarray(np.nan_to_num(measure.of(table)).astype(np.int64) & 1, np.uint8)


def _parity_of(words: Words, table: Table) -> Units:
    return parity(words.read(table))
