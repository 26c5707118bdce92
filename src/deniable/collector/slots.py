"""Slots for records of one length in a SQLite table: many in a row, a row in a page, overwritten in place.

A table holds the records of slots 0 to n - 1 one after the other; the rest of the last row is zero. The caller knows n.
"""

from __future__ import annotations

import os
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
    while True:
        words = np.frombuffer(os.urandom(8 * count), np.uint64)
        order = np.argsort(words)
        # With two equal words the order would not be uniform: once in 10**13 for a thousand, and then all are drawn again.
        if not (np.diff(words[order]) == 0).any():
            found: list[int] = order.tolist()
            return found


def place_among(connection: Connection, table: str, n: int, records: Records) -> None:
    """Put records among the n that are there, so that all orders of all of them are equally likely.

    The new ones get distinct slots, drawn uniformly among all; what lay in those moves to the slots at the end that are still free,
    in whichever order: it was in random order before.
    """
    count, size = records.shape
    slots = _distinct(n + count, count)
    taken = np.zeros(count, np.bool_)
    taken[slots[slots >= n] - n] = True
    moved, free = slots[slots < n], np.flatnonzero(~taken) + n
    targets = np.concatenate([slots, free])
    data = np.concatenate([records, _read(connection, table, moved, size)])
    order = np.argsort(targets)
    _write(connection, table, n, targets[order], data[order])


def read_slots(connection: Connection, table: str, first: int, last: int, size: int) -> Records:
    """The records of the slots from `first` to the one before `last`."""
    return _read(connection, table, np.arange(first, last, dtype=np.int64), size)


def _distinct(among: int, count: int) -> Slots:
    """`count` distinct numbers below `among`: every sequence of them is equally likely."""
    if among < 2 * count:
        return np.array(random_order(among)[:count], np.int64)
    slots = np.empty(0, np.int64)
    while len(slots) < count:
        # Whatever was drawn before is left out: what is new among the rest is uniform, in the order in which it was drawn.
        slots = np.concatenate([slots, _below(among, count - len(slots))])
        slots = slots[np.sort(np.unique(slots, return_index=True)[1])]
    return slots


def _below(among: int, count: int) -> Slots:
    """Numbers below `among`, each uniform and independent of the others."""
    words = np.frombuffer(os.urandom(8 * count), np.uint64)
    # Exactly uniform: of 2**64 numbers, those beyond the last whole multiple are drawn again.
    kept = words[words <= np.uint64(2**64 - 1 - 2**64 % among)]
    slots = (kept % np.uint64(among)).astype(np.int64)
    return slots if len(kept) == count else np.concatenate([slots, _below(among, count - len(kept))])


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
