"""Kernels of steps and walks do what the scalar path does, integer by integer."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.batch import StepKernel, Walk, draw_many
from deniable.batch.steps import _angle, direction_cell
from deniable.core import DirectionDistance, Interval, Rectangle, RectangleView, TraCSD, TwoLevel, slid_window, wrapped_window
from deniable.core.channels.directions import Directions
from deniable.core.mechanisms.spatial.tracs_d import half_cell_point
from deniable.core.mechanisms.spatial.trajectory import TrajectoryMechanism
from deniable.privacy import FixedKeystream, ScriptedCoins, goodness_of_fit

WIDE = Rectangle(Interval(-1, 3, cells=40), Interval(0, 1, cells=10))
REFERENCES = [(0, 0), (80, 0), (0, 20), (80, 20), (0, 7), (80, 13), (31, 0), (40, 20), (40, 10), (33, 5), (1, 1)]


def channel_of(mechanism: TraCSD) -> DirectionDistance:
    assert isinstance(mechanism.channel, DirectionDistance)
    return mechanism.channel


@pytest.mark.parametrize("reference", REFERENCES)
def test_kernels_see_places_and_read_reports_as_the_scalar_path_does(reference: tuple[int, int]) -> None:
    point = half_cell_point(WIDE, reference)
    mechanism = TraCSD(domain=WIDE, epsilon=4, reference=point, direction_cells=64, distance_cells=32)
    channel = channel_of(mechanism)
    kernel = StepKernel(channel, WIDE)
    turns, shares = kernel.polar(np.arange(channel.inputs))
    assert list(zip(turns.tolist(), shares.tolist(), strict=True)) == [channel.polar(i) for i in range(channel.inputs)]
    outputs = np.arange(channel.outputs)
    assert kernel.read(outputs).tolist() == [list(mechanism.decode(y)) for y in range(channel.outputs)]
    references = kernel.references(len(outputs))
    kernel.follow(outputs, references)
    wanted = [channel.after(y).view for y in range(channel.outputs)]
    assert list(zip(*(part.tolist() for part in references), strict=True)) == [
        v.reference for v in wanted if isinstance(v, RectangleView)
    ]


@pytest.mark.parametrize("aspect", [Fraction(1), Fraction(2, 7), Fraction(9), Fraction(1, 1 << 16), Fraction(1 << 16)], ids=str)
@pytest.mark.parametrize("cells", [4, 8, 64, 4096])
def test_guessed_directions_are_settled_by_whole_numbers(cells: int, aspect: Fraction) -> None:
    directions = Directions.at(cells, aspect)
    half = np.array(directions.half, np.int64)
    corners = half[:: max(1, len(half) // 100)] >> 14
    near = [(int(x) + right, int(y) + up) for x, y in corners for right in (-1, 0, 1) for up in (-1, 0, 1)]
    small = [(x, y) for x in range(-6, 7) for y in range(-6, 7)]
    for across, up in [*near, *small]:
        for sign in (1, -1):
            assert direction_cell(np.int64(sign * across), np.int64(sign * up), half) == directions.cell(sign * across, sign * up)


def test_a_guess_is_at_most_one_cell_of_4096_away() -> None:
    # A worse one would still lead to the same cell, but slowly.
    for turned in np.linspace(0, np.pi, 2001).tolist():
        assert abs(_angle(np.cos(turned), abs(np.sin(turned))) - turned / np.pi) < 1 / 2048


def test_the_finest_lattice_fits_the_kernels_integers() -> None:
    domain = Rectangle(Interval(0, 1, cells=8192), Interval(0, 1, cells=8192))
    for reference in ((0, 0), (1, 0), (0, "0.4999"), ("0.3", "0.7")):
        mechanism = TraCSD(domain=domain, epsilon=9, reference=reference)
        channel = channel_of(mechanism)
        outputs = np.random.default_rng(2).integers(0, channel.outputs, 300)
        kernel = StepKernel(channel, domain)
        assert kernel.read(outputs).tolist() == [list(mechanism.decode(int(y))) for y in outputs]
        inputs = np.random.default_rng(3).integers(0, channel.inputs, 300)
        assert [*zip(*(part.tolist() for part in kernel.polar(inputs)), strict=True)] == [channel.polar(int(i)) for i in inputs]


def test_batch_walks_follow_the_exact_law() -> None:
    """Fixed keystream; false alarm below 1e-6."""
    walk = TrajectoryMechanism.divide(
        "tracs-d", Rectangle(Interval(cells=2), Interval(cells=3)), length=2, epsilon=3, direction_cells=8, distance_cells=4
    )
    for index in (0, 17, 35):
        drawn = Counter(draw_many(walk.channel, np.full(400_000, index), FixedKeystream(index)).tolist())
        weights = [walk.channel.weight(index, output) for output in range(walk.channel.outputs)]
        assert goodness_of_fit([drawn[output] for output in range(walk.channel.outputs)], weights) > 1e-6


def test_a_walk_through_many_chunks_sees_every_place_from_the_report_before_it() -> None:
    mechanism = TraCSD(domain=WIDE, epsilon=3, direction_cells=64, distance_cells=32)
    channel = channel_of(mechanism)
    walk = Walk(channel, WIDE)
    rng = np.random.default_rng(5)
    keystream = FixedKeystream(5)
    begins = np.zeros(700, np.bool_)
    begins[[0, 1, 250, 600]] = True
    columns, rows = rng.integers(0, 40, 700), rng.integers(0, 10, 700)
    parts = [walk.draw(columns[a:b], rows[a:b], begins[a:b], keystream) for a, b in ((0, 3), (3, 400), (400, 400), (400, 700))]
    outputs = np.concatenate([part[0] for part in parts])
    places = np.concatenate([part[1] for part in parts])
    now = channel
    for begin, output, place in zip(begins, outputs.tolist(), places.tolist(), strict=True):
        now = channel if begin else now
        assert mechanism._read(now, output) == tuple(place)
        now = now.after(output)


def test_a_walk_draws_every_step_by_its_exact_law() -> None:
    """Two steps from the same two cells, many times; fixed keystream, false alarm below 1e-6."""
    domain = Rectangle(Interval(cells=2), Interval(cells=3))
    mechanism = TraCSD(domain=domain, epsilon=3, direction_cells=8, distance_cells=4)
    channel = channel_of(mechanism)
    count = 200_000
    cells = np.tile([1, 4], count)
    outputs, _ = Walk(channel, domain).draw(cells % 2, cells // 2, np.tile([True, False], count), FixedKeystream(8))
    pairs = Counter((outputs[0::2] * 32 + outputs[1::2]).tolist())
    weights = [channel.weight(1, y // 32) * channel.after(y // 32).weight(4, y % 32) for y in range(1024)]
    assert goodness_of_fit([pairs[y] for y in range(1024)], weights) > 1e-6


class Script:
    """A keystream that says the listed words, and then the last one again and again."""

    def __init__(self, words: list[int]) -> None:
        self.words = words

    def fill(self, buffer: NDArray[Any]) -> None:
        said, self.words = self.words[: len(buffer)], self.words[len(buffer) :] or self.words[-1:]
        buffer[:] = np.array(said + said[-1:] * (len(buffer) - len(said)), np.uint64)

    def spawn(self) -> Script:
        raise AssertionError("scripts are for one thread")


def test_words_that_must_be_thrown_away_are() -> None:
    windows = (TwoLevel(wrapped_window(8, 1), 4, 11), TwoLevel(slid_window(4, 1), 8, 29))
    channel = DirectionDistance(RectangleView(2, 3, (2, 3)), Directions.at(8, Fraction(1)), *windows)
    good = [-(-drawn * (1 << 64) // total) + 1 for drawn, total in ((13, 39), (40, 53))]
    # Word 0 has the low product half 0, which is below 2**64 mod any total that is no power of two.
    assert [(1 << 64) % window.total > 0 for window in windows] == [True, True]
    found = []
    for script in ([*good, *good], [0, good[0], 0, 0, good[1], 0, *good], [0] * 150 + [*good, 0, *good]):
        walk = Walk(channel, Rectangle(Interval(cells=2), Interval(cells=3)))
        cells = np.array([1, 0]), np.array([2, 0])
        found.append(walk.draw(*cells, np.array([True, False]), Script(script))[0].tolist())
    turn, share = (
        channel.direction.draw(channel.polar(5)[0], ScriptedCoins([13])),
        channel.distance.draw(channel.polar(5)[1], ScriptedCoins([40])),
    )
    assert found[0][0] == turn * 4 + share
    assert found[1] == found[0], "thrown away in the middle"
    assert found[2] == found[0], "thrown away until the words ran out"
