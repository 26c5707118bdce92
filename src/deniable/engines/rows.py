"""Rows of Arrow batches into sums: whole numbers and hexadecimal text without a Python object per report."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from deniable.accumulators import Counts, SupportCounts
from deniable.batch.packing import outputs_from_ints
from deniable.channels import Bits
from deniable.datasets import Intake
from deniable.datasets.report_intake import OUT_OF_RANGE, UNREADABLE
from deniable.datasets.report_rows import Waiting
from deniable.errors import Malformed, WrongRecipe
from deniable.wire import output_bits
from deniable.wire.width import possible

MOST_ROWS, LEAST_ROWS = 1 << 20, 1 << 10
ONE_THREAD = (1 << 17) - 1
"""Fewer reports than this are counted on the worker's own thread: its neighbours have the other cores."""
BATCH_BYTES = 1 << 24
_NIBBLES = np.full(256, 255, np.uint8)
_NIBBLES[np.frombuffer(b"0123456789abcdef", np.uint8)] = np.arange(16)


class RowReader:
    """Folds rows of one recipe into an intake, and knows how many of them to take at a time."""

    def __init__(self, intake: Intake, column: str) -> None:
        self.intake, self.column = intake, column
        self.channel = intake.mechanism.channel
        self.bits = output_bits(self.channel)
        empty = outputs_from_ints(self.channel, [])
        self.unary = isinstance(empty, np.ndarray) and empty.ndim == 2
        self.counts = type(intake.accumulator) is Counts
        self.hashed = type(intake.accumulator) is SupportCounts
        self._seen = np.zeros(len(intake.accumulator.sums) if self.counts else 0, np.bool_)

    @property
    def at_once(self) -> int:
        """Rows of a batch: as many as there are sums, so that clearing and adding these costs little; in bounded memory."""
        wide = max(8, self.bits // 4)
        least = ONE_THREAD if len(self._seen) <= 1 << 16 else MOST_ROWS
        return max(LEAST_ROWS, min(least, BATCH_BYTES // wide))

    def take(self, batch: pa.RecordBatch, name: str, first: int, base: int) -> None:
        """Fold a batch whose first row has the number `first`; rows of another recipe stop everything, with their place."""
        if "recipe" in batch.schema.names:
            self._check_recipe(batch.column("recipe"), name, first)
        values = batch.column(self.column)
        numbers = None
        if values.null_count:
            filled = np.asarray(values.is_valid())
            self.intake.refuse(UNREADABLE, name, f"row {first + int(np.argmin(filled))}", values.null_count)
            numbers = np.flatnonzero(filled) + first
            values = values.drop_null()
        rows = _Rows(name, first, numbers)
        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        if pa.types.is_integer(values.type):
            self._whole(values.to_numpy(zero_copy_only=False), rows)
        elif pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
            self._text(values, rows, base)
        else:
            raise Malformed(f"{name}: the column {self.column[:60]!r} must hold whole numbers or text, it holds {values.type}")

    def _check_recipe(self, recipes: pa.Array, name: str, first: int) -> None:
        mine = self.intake.mechanism.fingerprint
        if pa.types.is_dictionary(recipes.type):
            recipes = recipes.dictionary_decode()
        same = np.asarray(pc.fill_null(pc.equal(recipes.cast(pa.string()), mine), False))
        if not same.all():
            raise WrongRecipe(
                f"{name}, row {first + int(np.argmin(same))}: the record is of another recipe than {mine} "
                f"({self.intake.mechanism.name}); fold files of different recipes apart"
            )

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
        elif self.unary and inside and isinstance(self.channel, Bits):
            size = -(-self.bits // 8)
            self.intake.fold(np.ascontiguousarray(unsigned.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :size]))
        elif self.intake.takes_numbers and int(whole.min()) >= 0:
            self.intake.take(unsigned.astype(np.uint64, copy=False), rows.name, rows.place)
        else:
            self.intake.take(whole.tolist(), rows.name, rows.place)

    def _refuse_impossible(self, outputs: NDArray[Any], rows: _Rows) -> None:
        """Take back outputs that no input gives. Each different one is asked about once, when it is first counted."""
        sums = self.intake.accumulator.sums
        new = np.flatnonzero((sums > 0) & ~self._seen)
        if not len(new):
            return
        fine = np.array([possible(self.channel, output) for output in new.tolist()], np.bool_)
        self._seen[new[fine]] = True
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
        if packed is not None and isinstance(self.channel, Bits) and not self._beyond(packed).any():
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
    """Where rows of a batch stand in their file."""

    def __init__(self, name: str, first: int, numbers: NDArray[np.int64] | None) -> None:
        self.name, self._first, self._numbers = name, first, numbers

    def number(self, place: int) -> int:
        """The number of a row; the first row of a file is row 1."""
        return place + self._first if self._numbers is None else int(self._numbers[place])

    def place(self, place: int) -> str:
        """The same in words."""
        return f"row {self.number(place)}"
