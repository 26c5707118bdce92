"""Direction and distance from a reference, and walks of them: the integers of the scalar path, in 64 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from deniable.batch.arrays import Floats
from deniable.batch.keystream import Keystream
from deniable.batch.sampler import Indices, TooWide, acceptance, power_of_two, random_words, word
from deniable.batch.wide import multiply_high
from deniable.batch.windows import checked_reciprocal
from deniable.core import DirectionDistance, DiscView, Parallelogram, Rectangle, TwoLevel, as_window

SPARE = 64
"""Words beyond two per place, for those that are thrown away."""


@njit(nogil=True, cache=True)
def direction_cell(across, up, half):  # type: ignore[no-untyped-def]
    """The angle a vector lies in; `half` holds the vectors of the upper half of the circle.

    They are evenly spaced, so a guess in floats is nearly always right; whole numbers decide.
    """
    base = np.int64(0)
    if across == 0 and up == 0:
        return base
    if up < 0 or (up == 0 and across < 0):
        across, up, base = -across, -up, np.int64(half.shape[0] - 1)
    cells = np.int64(half.shape[0] - 1)
    # The lattice's cells need not be square: the first and the middle vector say how wide and high they are.
    guess = _angle(np.float64(across) * half[cells >> 1, 1], np.float64(up) * half[0, 0])
    cell = min(max(np.int64(guess * cells), np.int64(0)), np.int64(cells - 1))
    while cell > 0 and half[cell, 0] * up < half[cell, 1] * across:
        cell -= 1
    while cell < cells - 1 and half[cell + 1, 0] * up >= half[cell + 1, 1] * across:
        cell += 1
    return base + cell


@njit(nogil=True, cache=True)
def _angle(across, up):  # type: ignore[no-untyped-def]
    """Nearly the angle of a vector of the upper half in half turns, by floats: where to begin looking, no more.

    Arctangent by a polynomial (Abramowitz and Stegun, 4.4.49), off by 1e-5.
    """
    x = abs(across)
    slope = min(x, up) / max(x, up)
    square = slope * slope
    angle = slope * (0.999866 + square * (-0.3302995 + square * (0.180141 + square * (-0.085133 + square * 0.0208351)))) / np.pi
    angle = 0.5 - angle if up > x else angle
    return 1.0 - angle if across < 0 else angle


@njit(nogil=True, cache=True)
def _room(step, reference, cells):  # type: ignore[no-untyped-def]
    return 2 * cells - reference if step > 0 else reference


@njit(nogil=True, cache=True)
def _polar(column, row, x, y, columns, rows, distances, half):  # type: ignore[no-untyped-def]
    """Direction and distance cell of a lattice cell, seen from (x, y) in half cells."""
    across, up = 2 * column + 1 - x, 2 * row + 1 - y
    right, top = _room(across, x, columns), _room(up, y, rows)
    # The larger of two shares, which need not both be divided.
    right, top, sideways, upright = max(right, 1), max(top, 1), abs(across), abs(up)
    share = sideways * distances // right if sideways * top >= upright * right else upright * distances // top
    return direction_cell(across, up, half), share


@njit(nogil=True, cache=True)
def _step(turn, share, x, y, columns, rows, distances, half):  # type: ignore[no-untyped-def]
    """Where a report lies, in half cells: two numerators and their common denominator."""
    upper = np.int64(half.shape[0] - 1)
    cell = turn if turn < upper else turn - upper
    across, up = half[cell, 0] + half[cell + 1, 0], half[cell, 1] + half[cell + 1, 1]
    if turn >= upper:
        across, up = -across, -up
    right, top = _room(across, x, columns), _room(up, y, rows)
    sideways = right * abs(up) <= top * abs(across)
    length = right if sideways else top
    along = abs(across) if sideways else abs(up)
    way, unit = (2 * share + 1) * length, 2 * distances * along
    return x * unit + way * across, y * unit + way * up, unit


@njit(nogil=True, cache=True)
def _window(drawn, index, unsigned, signed):  # type: ignore[no-untyped-def]
    """The cell an integer below the total means for an input, as in the window kernel."""
    inside = multiply_high(drawn, unsigned[3]) >> unsigned[4]
    outside = unsigned[6] + ((drawn - unsigned[2]) >> unsigned[5])
    start = min(max(index + signed[0], signed[1]), signed[2])
    start = start + np.int64(unsigned[7]) if start < 0 else start
    cell = np.uint64(start) + (inside if drawn < unsigned[2] else outside)
    return np.int64(cell - unsigned[7] if cell >= unsigned[7] else cell)


@njit(nogil=True, cache=True)
def _walk(  # type: ignore[no-untyped-def]
    words,
    columns_in,
    rows_in,
    begins,
    done,
    state,
    outputs,
    over,
    columns,
    rows,
    distances,
    half,
    block,
    turning,
    turns,
    lengthening,
    lengths,
):
    """Place after place, each seen from the report before it; returns how many are done when the words run out.

    A word is thrown away by its low half, which says nothing about the draw, so neither does when the words run out.
    """
    used = np.int64(0)
    start_x, start_y = state[0], state[1]
    x, y = state[2], state[3]
    for i in range(done, columns_in.size):
        if begins[i]:
            x, y = start_x, start_y
        while used < words.size and words[used] * turning[0] < turning[1]:
            used += 1
        first = used
        used += 1
        while used < words.size and words[used] * lengthening[0] < lengthening[1]:
            used += 1
        if used >= words.size:
            state[2], state[3] = x, y
            return i
        turn, share = _polar(columns_in[i], rows_in[i], x, y, columns, rows, distances, half)
        turn = _window(multiply_high(words[first], turning[0]), turn - turn % block, turning, turns)
        share = _window(multiply_high(words[used], lengthening[0]), share, lengthening, lengths)
        used += 1
        to_x, to_y, unit = _step(turn, share, x, y, columns, rows, distances, half)
        outputs[i] = turn * distances + share
        over[i, 0], over[i, 1] = np.float64(to_x) / np.float64(unit), np.float64(to_y) / np.float64(unit)
        x, y = (2 * to_x + unit) // (2 * unit), (2 * to_y + unit) // (2 * unit)
    state[2], state[3] = x, y
    return columns_in.size


@njit(nogil=True, cache=True)
def _read(outputs, over, x, y, columns, rows, distances, half):  # type: ignore[no-untyped-def]
    for i in range(outputs.size):
        to_x, to_y, unit = _step(outputs[i] // distances, outputs[i] % distances, x, y, columns, rows, distances, half)
        over[i, 0], over[i, 1] = np.float64(to_x) / np.float64(unit), np.float64(to_y) / np.float64(unit)


@njit(nogil=True, cache=True)
def _rectangle_polar(indices, turns, shares, x, y, columns, rows, distances, half):  # type: ignore[no-untyped-def]
    for i in range(indices.size):
        row = indices[i] // columns
        turns[i], shares[i] = _polar(indices[i] - row * columns, row, x[i], y[i], columns, rows, distances, half)


@njit(nogil=True, cache=True)
def _disc_polar(places, turns, shares, cells, distances, half):  # type: ignore[no-untyped-def]
    for i in range(places.size):
        row = places[i] // cells
        across, up = 2 * (places[i] - row * cells) + 1 - cells, 2 * row + 1 - cells
        wanted = distances * distances * (across * across + up * up) // (cells * cells)
        root = np.int64(np.sqrt(np.float64(wanted)))
        while root * root > wanted:
            root -= 1
        while (root + 1) * (root + 1) <= wanted:
            root += 1
        turns[i] = direction_cell(across, up, half)
        shares[i] = min(root, distances - 1)


@njit(nogil=True, cache=True)
def _follow(outputs, x, y, columns, rows, distances, half):  # type: ignore[no-untyped-def]
    for i in range(outputs.size):
        to_x, to_y, unit = _step(outputs[i] // distances, outputs[i] % distances, x[i], y[i], columns, rows, distances, half)
        x[i], y[i] = (2 * to_x + unit) // (2 * unit), (2 * to_y + unit) // (2 * unit)


class StepKernel:
    """A direction-distance channel made ready for arrays."""

    def __init__(self, channel: DirectionDistance, region: Rectangle | Parallelogram | None = None) -> None:
        self.channel, self.region = channel, region
        self.half = np.array(channel.directions.half, np.int64)
        self.distances = channel.distance.outputs
        # Sectors are windows that begin where a block of directions does.
        self.block, self.direction = as_window(channel.direction)

    @property
    def lattice(self) -> tuple[Any, ...]:
        """What the kernels of a rectangle need: its cells, the distances and the table of directions."""
        return self.channel.view.columns, self.channel.view.rows, self.distances, self.half

    def polar(self, indices: Indices, references: tuple[Indices, Indices] | None = None) -> tuple[Indices, Indices]:
        """Direction and distance cells of many inputs, each seen from its own reference (or all from the channel's)."""
        turns, shares = np.empty(len(indices), np.int64), np.empty(len(indices), np.int64)
        view = self.channel.view
        if isinstance(view, DiscView):
            _disc_polar(np.array(view.inside, np.int64)[indices], turns, shares, view.cells, self.distances, self.half)
            return turns, shares
        x, y = references if references is not None else self.references(len(indices))
        _rectangle_polar(indices, turns, shares, x, y, *self.lattice)
        return turns - turns % self.block, shares

    def references(self, count: int) -> tuple[Indices, Indices]:
        """The channel's own reference, as often as asked."""
        x, y = self.channel.view.reference
        return np.full(count, x), np.full(count, y)

    def follow(self, outputs: Indices, references: tuple[Indices, Indices]) -> None:
        """Move every reference to the lattice point nearest to its report."""
        _follow(outputs, *references, *self.lattice)

    def read(self, outputs: Indices) -> Floats:
        """The places of reports seen from the channel's reference."""
        over = np.empty((len(outputs), 2))
        _read(outputs, over, *self.channel.view.reference, *self.lattice)
        return self.places(over)

    def places(self, over: Floats) -> Floats:
        """Half cells to places of the region."""
        assert self.region is not None
        sides = (self.region.sides.x, self.region.sides.y)
        moved = [
            np.clip(float(side.low) + over[:, i] * (float(side.width) / (2 * side.cells)), float(side.low), float(side.high))
            for i, side in enumerate(sides)
        ]
        return np.stack(self.region.place(*moved), axis=1)  # type: ignore[arg-type]


class Walk:
    """Many walks, fed chunk by chunk: each place is seen from the report before it."""

    def __init__(self, channel: DirectionDistance, region: Rectangle | Parallelogram) -> None:
        self.kernel = StepKernel(channel, region)
        windows = (*_integers(self.kernel.direction), *_integers(channel.distance))
        self._windows = (np.int64(self.kernel.block), *windows)
        self._state = np.array([*channel.view.reference, *channel.view.reference], np.int64)

    def draw(self, columns: Indices, rows: Indices, begins: NDArray[np.bool_], keystream: Keystream) -> tuple[Indices, Floats]:
        """Reports of the next places and where they lie; `begins` marks the first place of every walk."""
        outputs, over = np.empty(len(columns), np.int64), np.empty((len(columns), 2))
        done = 0
        while done < len(columns):
            words = random_words(keystream, 2 * (len(columns) - done) + SPARE)
            rest: tuple[Any, ...] = (done, self._state, outputs, over, *self.kernel.lattice, *self._windows)
            done = _walk(words, columns, rows, begins, *rest)
        return outputs, self.kernel.places(over)


def _integers(channel: TwoLevel) -> tuple[NDArray[np.uint64], Indices]:
    """What `_window` needs: total, threshold, favoured, multiplier, shift, low bits, members and outputs; and the rule."""
    window = channel.sets.window
    if window is None:
        raise TooWide
    draw = (*acceptance(channel.total), word(channel.favoured), *map(word, checked_reciprocal(channel.high, channel.total)))
    cells = (power_of_two(channel.low), word(window.members), word(window.outputs))
    return np.array([*draw, *cells], np.uint64), np.array([window.offset, window.first, window.last], np.int64)
