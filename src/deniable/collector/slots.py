"""Slots for records of one length in a SQLite table: many in a row, a row in a page, overwritten in place.

A table holds the records of slots 0 to n - 1 one after the other; the rest of the last row is zero. The caller knows n.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from sqlite3 import Connection

import numpy as np
import numpy.typing as npt

Records = npt.NDArray[np.uint8]
Slots = npt.NDArray[np.int64]

ROOM = 4000
"""Bytes of a row: with SQLite's own they fill a page of 4,096."""
_ROWS = 2000
"""Rows that are in memory at once."""


def rows_table(table: str) -> str:
    """The statement that makes a table of slots."""
    return f"CREATE TABLE {table} (row INTEGER PRIMARY KEY, data BLOB NOT NULL)"


def in_a_row(size: int) -> int:
    """How many records of a size a row holds."""
    return max(1, ROOM // size)


def random_order(count: int) -> list[int]:
    """The numbers below `count` in an order drawn uniformly with the system's generator."""
    order = list(range(count))
    for last, slot in enumerate(_drawn(0, count)):
        order[last], order[slot] = order[slot], order[last]
    return order


def place_among(connection: Connection, table: str, n: int, records: Records) -> None:
    """Put records among the n that are there, so that all orders of all of them are equally likely.

    The i-th of all goes to a slot drawn uniformly among the first i, and what was there moves to slot i (Fisher and Yates, inside
    out). Only the last word about every slot is written.
    """
    # What a slot gets: a new record by its number, or what another slot held before, as -1 - slot.
    gets: dict[int, int] = {}
    for number, slot in enumerate(_drawn(n, len(records))):
        last = n + number
        if slot != last:
            gets[last] = gets.get(slot, -1 - slot)
        gets[slot] = number
    targets = np.fromiter(gets.keys(), np.int64, len(gets))
    sources = np.fromiter(gets.values(), np.int64, len(gets))
    order = np.argsort(targets)
    targets, sources = targets[order], sources[order]
    moved = sources < 0
    data = np.empty((len(targets), records.shape[1]), np.uint8)
    data[~moved] = records[sources[~moved]]
    data[moved] = _read(connection, table, -1 - sources[moved], records.shape[1])
    _write(connection, table, n, targets, data)


def read_slots(connection: Connection, table: str, first: int, last: int, size: int) -> Records:
    """The records of the slots from `first` to the one before `last`."""
    return _read(connection, table, np.arange(first, last, dtype=np.int64), size)


def _drawn(n: int, count: int) -> list[int]:
    """For each of `count` numbers from n on, a slot drawn uniformly among those up to it."""
    words = np.frombuffer(os.urandom(8 * count), np.uint64)
    among = np.arange(n + 1, n + count + 1, dtype=np.uint64)
    slots: list[int] = (words % among).tolist()
    # Exactly uniform: of 2**64 numbers, those beyond the last whole multiple are drawn again.
    beyond = np.flatnonzero(words > np.iinfo(np.uint64).max - (np.uint64(0) - among) % among)
    for place in beyond.tolist():
        slots[place] = secrets.randbelow(n + place + 1)
    return slots


def _pieces(slots: Slots, in_row: int) -> Iterator[tuple[Slots, npt.NDArray[np.bool_] | slice, Slots]]:
    """Rows by rows: the numbers of some rows, which of the slots are in them, and their places among the records of these rows."""
    of = slots // in_row
    rows = np.unique(of)
    for begin in range(0, len(rows), _ROWS):
        some = rows[begin : begin + _ROWS]
        here = slice(None) if len(rows) <= _ROWS else (of >= some[0]) & (of <= some[-1])
        yield some, here, np.searchsorted(some, of[here]) * in_row + slots[here] % in_row


def _rows(connection: Connection, table: str, rows: Sequence[int], in_row: int, size: int) -> Records:
    """The records of some rows; those of rows that are not there yet are zero."""
    query = f"SELECT data FROM {table} WHERE row = ?"  # noqa: S608 - a name of ours
    data = bytearray()
    for row in rows:
        held = connection.execute(query, (row,)).fetchone()
        data += bytes(in_row * size) if held is None else held[0]
    return np.frombuffer(data, np.uint8).reshape(-1, size)


def _read(connection: Connection, table: str, slots: Slots, size: int) -> Records:
    out = np.empty((len(slots), size), np.uint8)
    in_row = in_a_row(size)
    for some, here, places in _pieces(slots, in_row):
        out[here] = _rows(connection, table, some.tolist(), in_row, size)[places]
    return out


def _write(connection: Connection, table: str, n: int, slots: Slots, data: Records) -> None:
    size, in_row = data.shape[1], in_a_row(data.shape[1])
    rows_before = -(-n // in_row)
    for some, here, places in _pieces(slots, in_row):
        held = _rows(connection, table, some.tolist(), in_row, size)
        held[places] = data[here]
        filled = list(zip(held.reshape(len(some), -1), some.tolist(), strict=True))
        old = int(np.searchsorted(some, rows_before))
        connection.executemany(f"UPDATE {table} SET data = ? WHERE row = ?", filled[:old])  # noqa: S608
        connection.executemany(f"INSERT INTO {table} (data, row) VALUES (?, ?)", filled[old:])  # noqa: S608
