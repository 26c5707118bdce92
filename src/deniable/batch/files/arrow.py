"""Rows of Arrow batches to sums: whole numbers and hexadecimal text without a Python object per report."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from deniable.batch.accumulators.counts import Counts, SupportCounts
from deniable.batch.files.intake import OTHER_RECIPE, OUT_OF_RANGE, UNREADABLE, Intake
from deniable.batch.files.rows import Waiting
from deniable.batch.packing import outputs_from_ints
from deniable.core import output_bits
from deniable.errors import Malformed, WrongRecipe

MOST_ROWS, LEAST_ROWS = 1 << 20, 1 << 10
ONE_THREAD = (1 << 17) - 1
"""Fewer reports than this are counted on the worker's own thread: its neighbours have the other cores."""
BATCH_BYTES = 1 << 24
RECIPE = "recipe"
"""The column that says which recipe a report is of."""
_NIBBLES = np.full(256, 255, np.uint8)
_NIBBLES[np.frombuffer(b"0123456789abcdef", np.uint8)] = np.arange(16)


class RowReader:
    """Folds rows into an intake, and knows how many of them to take at a time.

    Rows of another recipe stop everything; where recipes are `mixed`, they are counted and left out.
    """

    def __init__(self, intake: Intake, column: str, *, mixed: bool = False) -> None:
        self.intake, self.column, self.mixed = intake, column, mixed
        self.channel = intake.mechanism.channel
        self.bits = output_bits(self.channel)
        empty = outputs_from_ints(self.channel, [])
        self.unary = isinstance(empty, np.ndarray) and empty.ndim == 2
        self.counts = type(intake.accumulator) is Counts
        self.hashed = type(intake.accumulator) is SupportCounts

    @property
    def at_once(self) -> int:
        """Rows of a batch: as many as there are sums, so that clearing and adding these costs little; in bounded memory."""
        wide = max(8, self.bits // 4)
        few = not self.counts or len(self.intake.accumulator.sums) <= 1 << 16
        return max(LEAST_ROWS, min(ONE_THREAD if few else MOST_ROWS, BATCH_BYTES // wide))

    def take(self, batch: pa.RecordBatch, name: str, first: int, base: int) -> None:
        """Fold a batch whose first row has the number `first`."""
        values = batch.column(self.column)
        if not reads(values.type):
            raise Malformed(f"{name}: the column {self.column[:60]!r} must hold whole numbers or text, it holds {values.type}")
        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        same = self._same(batch)
        if same is not None and not self.mixed:
            raise WrongRecipe(
                f"{name}, row {first + int(np.argmin(same))}: the record is of another recipe than "
                f"{self.intake.mechanism.fingerprint} ({self.intake.mechanism.name}); fold files of different recipes apart"
            )
        filled = np.asarray(values.is_valid()) if values.null_count else None
        good = filled if filled is None or same is None else filled | ~same
        for fine, reason in ((same, OTHER_RECIPE), (good, UNREADABLE)):
            if fine is None or fine.all():
                continue
            bad = int(np.argmin(fine))
            if self.intake.strict and bad:  # an earlier row may be the first that cannot be used
                self.take(batch.slice(0, bad), name, first, base)
            self.intake.refuse(reason, name, f"row {first + bad}", int(len(fine) - np.count_nonzero(fine)))
        kept = filled if same is None else same if filled is None else same & filled
        if kept is not None:
            values = values.filter(pa.array(kept))
        self._fold(values, _Rows(name, first, kept), base)

    def _fold(self, values: pa.Array, rows: _Rows, base: int) -> None:
        if pa.types.is_integer(values.type):
            self._whole(values.to_numpy(zero_copy_only=False), rows)
        else:
            self._text(values, rows, base)

    def _same(self, batch: pa.RecordBatch) -> NDArray[np.bool_] | None:
        """Which rows are of this recipe; None when all are. A dictionary of recipes is looked at once, not in every row."""
        if RECIPE not in batch.schema.names:
            return None
        recipes, mine = batch.column(RECIPE), self.intake.mechanism.fingerprint
        if pa.types.is_dictionary(recipes.type):
            fine = _equal(recipes.dictionary, mine)
            if fine.all() and not recipes.null_count:
                return None
            places = recipes.indices
            # A row without a recipe takes the place behind all of them.
            filled = places.cast(pa.int64()).fill_null(len(fine)) if places.null_count else places
            same = np.append(fine, False).take(np.asarray(filled))
        else:
            same = _equal(recipes, mine)
        return None if same.all() else same

    def _whole(self, whole: NDArray[Any], rows: _Rows) -> None:
        if not len(whole):
            return
        # Seen as unsigned, a negative number is larger than any output.
        unsigned = whole.view(f"u{whole.dtype.itemsize}")
        inside = int(unsigned.max()) < self.channel.outputs
        if inside and self.counts:
            self.intake.fold(unsigned)
            self._refuse_impossible(unsigned, rows)
        elif inside and self.hashed:
            self.intake.fold(unsigned.astype(np.uint64, copy=False))
        elif self.unary and inside and self.channel.free_bits:
            size = -(-self.bits // 8)
            self.intake.fold(np.ascontiguousarray(unsigned.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :size]))
        elif self.intake.takes_numbers and int(whole.min()) >= 0:
            self.intake.take(unsigned.astype(np.uint64, copy=False), rows.name, rows.place)
        else:
            self.intake.take(whole.tolist(), rows.name, rows.place)

    def _refuse_impossible(self, outputs: NDArray[Any], rows: _Rows) -> None:
        """Take back outputs that no input gives. Each different one is asked about once, when it is first counted."""
        sums = self.intake.accumulator.sums
        seen = self.intake.seen
        new = np.flatnonzero((sums > 0) & ~seen)
        if not len(new):
            return
        fine = np.array([self.channel.possible(output) for output in new.tolist()], np.bool_)
        seen[new[fine]] = True
        if not fine.all():
            bad = new[~fine]
            count = int(sums[bad].sum())
            sums[bad] = 0
            self.intake.accumulator.n -= count
            first = int(np.argmax(np.isin(outputs.astype(np.int64), bad)))
            self.intake.refuse(OUT_OF_RANGE, rows.name, rows.place(first), count)

    def _text(self, values: pa.Array, rows: _Rows, base: int) -> None:
        packed = self._bytes(values) if base == 16 and (self.unary or self.bits <= 64) else None
        if packed is not None and not self.unary:
            self._whole(packed.view(">u8").reshape(-1).astype(np.uint64), rows)
            return
        if packed is not None and self.channel.free_bits and not self._beyond(packed).any():
            self.intake.fold(np.ascontiguousarray(packed[:, ::-1]))
            return
        waiting = Waiting(self.intake, rows.name, "row", base)
        for place, text in enumerate(values.to_pylist()):
            waiting.add(text, rows.number(place))
        waiting.flush()

    def _bytes(self, values: pa.Array) -> NDArray[np.uint8] | None:
        """Hexadecimal text as rows of bytes, most significant first; None where only a slower look can tell what it is."""
        size = 8 if not self.unary else -(-self.bits // 8)
        lengths = pc.binary_length(values)
        if not len(values) or pc.min(lengths).as_py() < 1 or pc.max(lengths).as_py() > 2 * size:
            return None
        even = pc.ascii_lpad(values.cast(pa.large_string()), 2 * size, "0")
        _, _, data = even.buffers()
        digits = _NIBBLES[np.frombuffer(data, np.uint8, count=2 * size * len(even))].reshape(len(even), 2 * size)
        if (digits == 255).any():
            return None
        return np.ascontiguousarray(digits[:, ::2] << 4 | digits[:, 1::2])

    def _beyond(self, packed: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Bits above the highest one there is."""
        spare = 8 * packed.shape[1] - self.bits
        return packed[:, 0] >> np.uint8(8 - spare) != 0 if spare else np.zeros(len(packed), np.bool_)


class _Rows:
    """Where rows of a batch stand in their file, of which some were left out."""

    def __init__(self, name: str, first: int, kept: NDArray[np.bool_] | None) -> None:
        self.name, self._first, self._kept = name, first, kept

    @cached_property
    def _places(self) -> NDArray[np.int64] | None:
        return None if self._kept is None else np.flatnonzero(self._kept)

    def number(self, place: int) -> int:
        """The number of a row; the first row of a file is row 1."""
        return self._first + (place if self._places is None else int(self._places[place]))

    def place(self, place: int) -> str:
        """The same in words."""
        return f"row {self.number(place)}"


def reads(kind: pa.DataType) -> bool:
    """Can a reader take a column of this type?"""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _equal(recipes: pa.Array, mine: str) -> NDArray[np.bool_]:
    try:
        return np.asarray(pc.fill_null(pc.equal(recipes.cast(pa.string()), mine), False))
    except pa.ArrowException:  # no text at all
        return np.zeros(len(recipes), np.bool_)
