"""Windows, square waves, atoms, pieces and the one bit: their laws and their published errors."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from deniable.core import (
    OGPM,
    Epsilon,
    Interval,
    NumericMechanism,
    OneBitSquared,
    Pieces,
    SquareWave,
    TwoLevel,
    Windows,
    column_ratio,
    mechanism_class,
    mechanism_from_recipe,
)
from deniable.core.mechanisms.numeric._atoms_shape import best_atoms, worst_error
from deniable.core.mechanisms.numeric._square_wave_shape import redesigned_share, square_wave_share
from deniable.core.mechanisms.numeric.atoms import AtomsWindow
from deniable.core.mechanisms.numeric.window import Window as WindowMechanism
from deniable.errors import InvalidParameter

GOLDEN = {row["id"]: row for row in json.loads((Path(__file__).parents[2] / "golden" / "golden.json").read_text())}


def rows(prefix: str) -> list[Any]:
    return [pytest.param(row, id=row["id"]) for row in GOLDEN.values() if row["id"].startswith(prefix)]


def at(name: str, epsilon: Any, cells: int = 2048) -> NumericMechanism:
    found = mechanism_class(name)(domain=Interval(0, 1, cells=cells), epsilon=epsilon)
    assert isinstance(found, NumericMechanism)
    return found


def error(mechanism: NumericMechanism, index: int, power: float = 1, value: float | None = None) -> float:
    place = float(mechanism.grid.position(index)) if value is None else value
    channel, position = mechanism.channel, mechanism.reading.position
    return float(sum(w * abs(float(position(y)) - place) ** power for y, w in enumerate(channel.row(index)))) / channel.total


@pytest.mark.parametrize("row", rows("L1.err."))
def test_ogpm_has_the_published_absolute_error_at_every_value(row: dict[str, Any]) -> None:
    mechanism = OGPM(domain=Interval(0, 1, cells=2048), epsilon=row["inputs"]["eps"])
    assert error(mechanism, mechanism.encode(row["inputs"]["x"])) == pytest.approx(row["value"], abs=1e-3)


@pytest.mark.parametrize("row", rows("T7.L2.mse_opt."))
def test_window_has_the_least_worst_squared_error(row: dict[str, Any]) -> None:
    mechanism = WindowMechanism(domain=Interval(0, 1, cells=8192), epsilon=row["inputs"]["eps"])
    assert error(mechanism, 0, 2, value=0.0) == pytest.approx(row["value"], rel=1e-3)


@pytest.mark.parametrize("row", rows("lk.s."))
def test_window_worst_error_is_s_to_the_k(row: dict[str, Any]) -> None:
    k = row["inputs"]["k"]
    mechanism = WindowMechanism(domain=Interval(0, 1, cells=8192), epsilon=row["inputs"]["eps"], loss_exponent=k)
    assert error(mechanism, 0, k, value=0.0) == pytest.approx(row["value"]["worst"], rel=1e-3)


@pytest.mark.parametrize("name", ["ogpm", "redesigned-sw"])
def test_slid_windows_have_equal_size_and_stay_inside(name: str) -> None:
    mechanism = at(name, 1, cells=16)
    channel = mechanism.channel
    assert isinstance(channel, TwoLevel)
    for x in range(16):
        favoured = [y for y in range(16) if channel.weight(x, y) == channel.high]
        assert len(favoured) == channel.sets.members
        assert favoured == list(range(favoured[0], favoured[-1] + 1))
        assert x in favoured


def test_square_wave_shares_survive_a_tiny_epsilon() -> None:
    for epsilon in ("1e-9", "1e-6", "0.001"):
        assert square_wave_share(Epsilon(epsilon)) == pytest.approx(1, abs=1e-3)
        assert redesigned_share(Epsilon(epsilon)) == pytest.approx(0.5, abs=1e-3)
    for share in (square_wave_share, redesigned_share):
        assert share(Epsilon(1)) == pytest.approx(share(Epsilon("1.000000001")), rel=1e-8)


def test_redesigned_square_wave_is_normalised_with_its_published_density() -> None:
    density, half = GOLDEN["D26.SW.C.eps4"]["value"]
    assert redesigned_share(Epsilon(4)) == pytest.approx(2 * half, rel=1e-9)
    assert 2 * half * density + (1 - 2 * half) * density / math.exp(4) == pytest.approx(1)
    channel = at("redesigned-sw", 4, cells=1 << 16).channel
    assert channel.weight(9, 9) / channel.total * (1 << 16) == pytest.approx(density, rel=1e-3)


def test_square_wave_window_is_centred_at_the_true_cell() -> None:
    mechanism = SquareWave(domain=Interval(0, 1, cells=8), epsilon=1)
    channel = mechanism.channel
    assert isinstance(channel, TwoLevel)
    for x in range(8):
        favoured = [mechanism.reading.position(y) for y in range(channel.outputs) if channel.weight(x, y) == channel.high]
        assert (favoured[0] + favoured[-1]) / 2 == mechanism.grid.position(x)


def test_square_wave_has_the_golden_squared_error_at_zero() -> None:
    mechanism = at("sw", 1, cells=8192)
    assert error(mechanism, 0, 2) == pytest.approx(GOLDEN["C25.sw"]["value"], rel=1e-3)
    assert error(OGPM(domain=Interval(0, 1, cells=8192), epsilon=1), 0, 2) == pytest.approx(GOLDEN["C25.ogpm"]["value"], rel=1e-3)


@pytest.mark.parametrize(("name", "parent"), [("sw-c", "sw"), ("t-sw", "sw"), ("t-pm", "pm")])
def test_other_readings_do_not_change_the_law(name: str, parent: str) -> None:
    assert at(name, 2, cells=64).channel == at(parent, 2, cells=64).channel


@pytest.mark.parametrize("name", ["sw-c", "t-sw", "pm-c", "t-pm"])
def test_squeezed_and_clipped_readings_stay_in_the_domain(name: str) -> None:
    mechanism = at(name, 1, cells=8)
    positions = [mechanism.reading.position(y) for y in range(mechanism.channel.outputs)]
    assert positions == sorted(positions)
    assert min(positions) >= 0
    assert max(positions) <= 1


@pytest.mark.parametrize(("name", "key"), [("pm-c", "PM"), ("sw-c", "SW")])
@pytest.mark.parametrize("epsilon", [2, 4])
def test_ogpm_beats_the_squeezed_mechanisms_as_much_as_published(name: str, key: str, epsilon: int) -> None:
    tried = [20 * i + 10 for i in range(1, 50)]
    ours, theirs = at("ogpm", epsilon, cells=1000), at(name, epsilon, cells=1000)
    ratio = sum(error(ours, x) for x in tried) / sum(error(theirs, x) for x in tried)
    assert ratio == pytest.approx(GOLDEN[f"5.6.1.L1.{key}.eps{epsilon}"]["value"], rel=0.01)


def test_squeezed_pm_ties_with_ogpm_at_the_ends() -> None:
    assert error(at("pm-c", 3), 0, 2) == pytest.approx(error(at("ogpm", 3), 0, 2), rel=1e-2)


@pytest.mark.parametrize("row", rows("minimaxL2.2out."))
def test_one_bit_has_the_minimax_squared_error(row: dict[str, Any]) -> None:
    mechanism = OneBitSquared(epsilon=row["inputs"]["eps"])
    worst = 0.0
    for x in (Fraction(0), Fraction(1, 2), Fraction(1)):
        index = mechanism.grid.index(x)
        weights = list(mechanism.channel.row(index))
        squares = [(mechanism.reading.position(y) - x) ** 2 for y in range(2)]
        worst = max(worst, float(sum(w * s for w, s in zip(weights, squares, strict=True)) / mechanism.channel.total))
    assert worst == pytest.approx(row["value"], rel=1e-9)


def test_one_bit_asks_for_the_upper_half() -> None:
    mechanism = OneBitSquared(domain=Interval(0, 10), epsilon=1)
    assert [mechanism.encode(value) for value in (0, 4.999, 5, 10)] == [0, 0, 1, 1]


@pytest.mark.parametrize("row", rows("atoms.L1."))
def test_atoms_have_the_golden_worst_error(row: dict[str, Any]) -> None:
    epsilon = row["inputs"]["eps"]
    w, m = best_atoms(Epsilon(epsilon))
    assert worst_error(w, m, epsilon) == pytest.approx(row["value"]["worst"], rel=1e-4)
    assert w == pytest.approx(row["value"]["w"], abs=1e-3)
    mechanism = AtomsWindow(epsilon=epsilon, points=1024)
    assert max(error(mechanism, x) for x in range(0, 512, 16)) == pytest.approx(row["value"]["worst"], rel=2e-3)


@pytest.mark.parametrize("epsilon", ["1e-9", "0.001", 0.5, 1, 3, 10, 20])
def test_atoms_rows_are_level_and_within_epsilon(epsilon: Any) -> None:
    mechanism = AtomsWindow(epsilon=epsilon, points=9)
    channel = mechanism.channel
    assert all(sum(channel.row(x)) == channel.total for x in range(9))
    assert column_ratio(channel) == channel.max_ratio()
    assert mechanism.certificate().holds
    assert mechanism_from_recipe(mechanism.recipe()).fingerprint == mechanism.fingerprint


def test_atoms_beat_every_constant_band() -> None:
    for epsilon in (0.5, 1, 2, 4, 6):
        w, m = best_atoms(Epsilon(epsilon))
        assert worst_error(w, m, epsilon) < 0.95 / (math.exp(epsilon / 2) + 1)


@pytest.mark.parametrize("bad", [{"atom": 0}, {"atom": "1/2"}, {"favoured": 1}, {"points": 1}, {"points": 1 << 20}])
def test_atoms_refuse_bad_parameters(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter, match=next(iter(bad))):
        AtomsWindow(epsilon=1, **bad)


def test_pieces_follow_their_densities() -> None:
    mechanism = Pieces(domain=Interval(0, 1, cells=101), epsilon=2, widths=["0.1", "0.5"], weights=[7, 3, 1])
    row = list(mechanism.channel.row(50))
    assert row[50] == 7 * row[0]
    assert row[50 + 20] == 3 * row[0]
    assert row == row[::-1]


def test_two_pieces_make_a_window() -> None:
    window = OGPM(domain=Interval(0, 1, cells=64), epsilon=1)
    share = 1 / (math.exp(0.5) + 1)
    pieces = Pieces(domain=window.domain, epsilon=1, widths=[share], weights=[math.e, 1])
    assert isinstance(window.channel, TwoLevel)
    assert isinstance(window.channel.sets, Windows)
    for x in (0, 5, 40, 63):
        favoured = [y for y, weight in enumerate(pieces.channel.row(x)) if weight > min(pieces.channel.row(x))]
        assert favoured == [y for y in range(64) if window.channel.sets.contains(x, y)]


def test_pieces_lower_a_density_that_rounding_put_above_epsilon() -> None:
    above = Fraction(math.e) * (1 + Fraction(1, 10**12))
    assert Pieces(epsilon=1, widths=["0.3"], weights=[above, 1]).certificate().holds


@pytest.mark.parametrize(
    ("widths", "weights", "word"),
    [
        (["0.3"], [3, 1], "too far apart"),
        (["0.3"], [1], "one more"),
        (["0.5", "0.3"], [2, 1.5, 1], "growing"),
        (["1.5"], [2, 1], "growing"),
        (["0.1", "0.1000001"], [2, 1.5, 1], "too close"),
        ([], [1], "widths"),
        (["0.3"], [2, 0], "positive"),
        ("0.3", [2, 1], "sequence"),
    ],
)
def test_pieces_refuse_what_is_no_private_law(widths: Any, weights: Any, word: str) -> None:
    with pytest.raises(InvalidParameter, match=word):
        Pieces(domain=Interval(0, 1, cells=100), epsilon=1, widths=widths, weights=weights)


def test_one_bit_is_worst_in_the_middle_above_its_range() -> None:
    mechanism, e = OneBitSquared(epsilon=3), math.exp(3)
    assert error(mechanism, 0, 2, value=0.5) == pytest.approx((e - 1) ** 2 / (4 * (e + 1) ** 2), rel=1e-9)
    assert error(mechanism, 0, 2, value=0.5) > error(mechanism, 0, 2, value=0.0)
