"""Density maps: exact channels between maps and reports, EM as defined, unbiased inversion that covers, and honest refusals."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.batch import Floats, Reports, accumulator_for, draw_many, randomize_many
from deniable.core import Disc, Interval, Polygon, Record, Rectangle, make_mechanism
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import binned, dense
from deniable.privacy import FixedKeystream
from deniable.studies import density_map, fine_density_map
from deniable.studies.trajectories.fine_density import resampled, smoothed
from deniable.studies.trajectories.nearest_law import NearestLaw
from deniable.studies.trajectories.place_channel import place_channel

METHODS: tuple[Literal["em", "ems"], ...] = ("em", "ems")


def rectangle(columns: int, rows: int) -> Rectangle:
    return Rectangle(Interval(0, columns, cells=columns), Interval(0, rows, cells=rows))


REGIONS: dict[str, Any] = {
    "rectangle": rectangle(13, 9),
    "strip": rectangle(40, 3),
    "disc": Disc((0, 0), 1, cells=14),
    "polygon": Polygon([(0, 0), (9, 1), (10, 8), (5, 3), (1, 9)], cells=12),
}


@pytest.mark.parametrize("name", REGIONS)
@pytest.mark.parametrize("epsilon", [0.5, 2, 5])
def test_stretches_of_rows_equal_the_matrix_of_nearest_cells(name: str, epsilon: float) -> None:
    mechanism: Any = make_mechanism("nearest-cells", domain=REGIONS[name], epsilon=epsilon)
    law, size = NearestLaw(mechanism), mechanism.channel.inputs
    matrix = dense(mechanism.channel, np.arange(size))
    values = np.random.default_rng(1).random(size)
    assert np.abs(law.chances(values) - values @ matrix).max() < 1e-12
    assert np.abs(law.averages(values) - matrix @ values).max() < 1e-12
    inputs, outputs = np.arange(size) % 7, np.arange(size) % 5
    slow = np.array([[matrix[inputs == i][:, outputs == o].sum(axis=1).mean() for o in range(5)] for i in range(7)])
    assert np.abs(law.between(inputs, outputs) - slow).max() < 1e-12


def test_map_cells_mix_the_cells_of_the_region_they_hold() -> None:
    mechanism = make_mechanism("nearest-cells", domain=REGIONS["polygon"], epsilon=3)
    laid = place_channel(mechanism, (5, 4))
    matrix, middles = dense(mechanism.channel, np.arange(mechanism.channel.inputs)), REGIONS["polygon"]
    cell = laid.grid.numbered(np.array([middles.decode(i) for i in range(middles.size)]))
    assert (cell >= 0).all()
    slow = np.array([matrix[cell == i].mean(axis=0) for i in range(len(laid.grid))])
    assert np.abs(laid.matrix[:, laid.groups[0]] - slow).max() < 1e-12
    assert laid.grid.inside.sum() == len(laid.grid) < 20


def tracs_c(epsilon: float) -> Any:
    return make_mechanism("tracs-c", domain=rectangle(64, 32), epsilon=epsilon)


def test_coordinates_are_the_product_of_two_laws_in_either_order() -> None:
    mechanism = tracs_c(3)
    laid = place_channel(mechanism, (4, 2))
    y, x = binned(mechanism.parts["y"], 2).transition.matrix, binned(mechanism.parts["x"], 4).transition.matrix
    assert np.abs(laid.matrix - np.kron(y, x)).max() < 1e-15
    record = Record({"x": Interval(0, 4, cells=64), "y": Interval(0, 2, cells=64)})
    apart = place_channel(make_mechanism("product", domain=record, epsilon=3), (4, 2))
    assert apart.matrix.shape[0] == 8
    values = {"x": np.full(3000, 3.5), "y": np.full(3000, 0.5)}
    reports = randomize_many(make_mechanism("product", domain=record, epsilon=12), values, FixedKeystream("x first"))
    density = density_map(reports, cells=4)
    assert density.labels is not None
    assert density.labels[int(density.value.argmax())] == (3.5, 0.5)


def test_tracs_d_from_one_reference_is_mixed_as_its_weights_say() -> None:
    domain = rectangle(24, 16)
    mechanism = make_mechanism(
        "tracs-d", domain=domain, epsilon=3, direction_cells=32, distance_cells=16, reference=(7, 3), split="published"
    )
    laid = place_channel(mechanism, (3, 2))
    channel: Any = mechanism.channel
    outputs = np.arange(channel.outputs)
    slow = np.zeros((6, len(outputs)))
    for index in range(channel.inputs):
        row, column = divmod(index, 24)
        slow[row // 8 * 3 + column // 8] += [float(channel.weight(index, int(output)) / channel.total) for output in outputs]
    slow /= 64
    # Every one of the 8 by 8 lattice cells of a map cell is one of the points that stand for it, and no outputs share a group.
    assert laid.matrix.shape == (6, channel.outputs)
    assert np.abs(laid.matrix - slow).max() < 1e-12
    places = np.array([[3.0, 13.0]] * 4000)
    sharp = make_mechanism("tracs-d", domain=rectangle(64, 64), epsilon=12)
    density = density_map(randomize_many(sharp, places, FixedKeystream("one reference")), cells=8)
    assert int(density.value.argmax()) == 8
    folded = accumulator_for(mechanism).add(randomize_many(mechanism, places[:500], FixedKeystream("fold")))
    direct = density_map(randomize_many(mechanism, places[:500], FixedKeystream("fold")), cells=(3, 2))
    assert np.allclose(density_map(folded, cells=(3, 2)).value, direct.value)


def runs(mechanism: Any, cells: NDArray[Any], count: int, name: str) -> list[Reports]:
    """Many surveys of the same people."""
    outputs = draw_many(mechanism.channel, np.tile(cells, count), FixedKeystream(name))
    return [Reports(mechanism, part) for part in np.split(outputs, count)]


def test_unbiased_maps_are_unbiased_and_cover() -> None:
    # The map's cells are the mechanism's own, so nothing is assumed about how places are spread.
    mechanism = make_mechanism("nearest-cells", domain=rectangle(4, 3), epsilon=2, area="1/12")
    people = np.repeat(np.arange(12), [60, 0, 10, 0, 0, 80, 0, 10, 0, 0, 200, 40])
    truth = np.bincount(people, minlength=12) / len(people)
    found = [density_map(one, cells=(4, 3), method="unbiased") for one in runs(mechanism, people, 600, "unbiased")]
    values, errors = np.array([one.value for one in found]), np.array([one.standard_error for one in found])
    assert (np.abs(values.mean(axis=0) - truth) < 5.5 * values.std(axis=0) / np.sqrt(600)).all()
    # 600 runs at 95 %: beyond 90.3 % or 98.9 % once in 10**6 times per cell.
    covered = (np.abs(values - truth) <= 1.959964 * errors).mean(axis=0)
    assert covered.min() > 0.9
    assert covered.max() < 0.99
    ranges = [one.range_share((1, 1), (4, 3)) for one in found]
    inside = truth.reshape(3, 4)[1:, 1:].sum()
    hit = np.mean([abs(float(one.value) - inside) <= 1.959964 * float(one.standard_error) for one in ranges])
    assert 0.9 < hit < 0.99
    possible = found[0].projected("simplex")
    assert possible.value.min() >= 0
    assert possible.parent is found[0]


def test_a_hotspot_is_found_and_false_ones_are_rare() -> None:
    mechanism = make_mechanism("nearest-cells", domain=rectangle(4, 4), epsilon=4)
    people = np.concatenate([np.repeat(np.arange(16), 25), np.full(200, 9)])
    found = [density_map(one, cells=4, method="unbiased") for one in runs(mechanism, people, 300, "hot")]
    # The other 15 cells lie exactly at the threshold: in 2.5 % of the runs one of them may look above it, 7.5 of 300.
    spots = [[spot.cell for spot in one.hotspots(25 / 600)] for one in found]
    assert all(9 in one for one in spots)
    assert sum(len(one) > 1 for one in spots) <= 25
    assert sum(len(one.hotspots(25 / 600, together=False)) > 1 for one in found) > 60
    assert found[0].hotspots(0.1)[0].bounds == (1, 2, 2, 3)
    assert not found[0].hotspots(0.6)
    with pytest.raises(InvalidParameter, match="threshold"):
        found[0].hotspots(1.5)


@pytest.mark.parametrize("make", [lambda: make_mechanism("nearest-cells", domain=rectangle(16, 16), epsilon=5), lambda: tracs_c(8)])
def test_em_finds_the_truth_behind_exact_expectations(make: Any) -> None:
    laid = place_channel(make(), (4, 4))
    truth = np.random.default_rng(4).dirichlet(np.ones(16))
    shares = np.full(16, 1 / 16)
    from deniable.estimators import maximise

    found = maximise(
        lambda s: s @ laid.matrix, lambda r: laid.matrix @ r, lambda s: s, 1e6 * (truth @ laid.matrix), shares, 0.0, 4000
    )
    assert np.abs(found.shares - truth).max() < 1e-6


def two_towns(count: int) -> Floats:
    draws = np.random.default_rng(8)
    return np.asarray(
        np.clip(np.concatenate([draws.normal((20, 44), 5, (count, 2)), draws.normal((45, 20), 8, (count, 2))]), 0, 64)
    )


@pytest.mark.slow
def test_fitted_maps_are_near_and_covered() -> None:
    places = two_towns(20_000)
    mechanism = make_mechanism("nearest-cells", domain=rectangle(64, 64), epsilon=6)
    reports = randomize_many(mechanism, places, FixedKeystream("towns"))
    truth = np.histogram2d(places[:, 1], places[:, 0], bins=8, range=((0, 64), (0, 64)))[0].ravel() / len(places)
    for method in METHODS:
        density = density_map(reports, cells=8, method=method)
        assert density.converged
        assert density.value.sum() == pytest.approx(1)
        assert np.abs(density.value - truth).sum() < (0.15 if method == "em" else 0.25)
        if method == "em":
            low, high = density.interval()
            assert ((low <= truth) & (truth <= high)).mean() >= 0.93
    folded = density_map(accumulator_for(mechanism).add(reports), cells=8)
    assert np.array_equal(folded.value, density_map(reports, cells=8).value)


def test_a_fine_map_equals_the_written_out_one() -> None:
    mechanism = make_mechanism("nearest-cells", domain=Disc((0, 0), 1, cells=16), epsilon=3)
    places = np.random.default_rng(2).normal(0, 0.3, (4000, 2)).clip(-0.6, 0.6)
    reports = randomize_many(mechanism, places.tolist(), FixedKeystream("fine"))
    for method in METHODS:
        one = density_map(reports, cells=16, method=method, tolerance=0, most_iterations=25)
        other = fine_density_map(
            reports,
            cells=16,
            method=method,
            runs=4,
            tolerance=0,
            most_iterations=25,
            keystream=FixedKeystream("again"),
        )
        assert np.abs(one.value - other.value).max() < 1e-12
        assert np.isnan(other.table[0, 0])
        assert np.isnan(one.table[0, 0])
    half = other.range_share((-1, -1), (0, 1))
    assert 0 < float(half.standard_error) < 0.1
    assert abs(float(half.value) - 0.5) < 0.1
    assert other.estimate.variance.shape == other.value.shape


@pytest.mark.parametrize("epsilon", [1, 4])
def test_reports_that_say_the_same_may_be_counted_together(epsilon: float) -> None:
    """Many groups of reports have proportional probabilities: expectation maximization on all of them ends in the same map."""
    mechanism: Any = make_mechanism("tracs-d", domain=rectangle(4, 4), epsilon=epsilon)
    reports = randomize_many(mechanism, np.tile([[0.5, 0.5], [3.2, 1.4]], (150, 1)), FixedKeystream(8))
    laid = place_channel(mechanism, (4, 4))
    matrix, alike = laid.told_apart
    assert matrix.shape[1] < laid.matrix.shape[1] / 2
    assert np.stack([np.bincount(alike, row) for row in laid.matrix]) == pytest.approx(matrix)
    fitted, counts = density_map(reports, cells=4), laid.counts(reports)
    shares = np.full(16, 1 / 16)
    for _ in range(fitted.iterations):
        likely = shares @ laid.matrix
        shares = shares * (laid.matrix @ (counts / likely)) / counts.sum()
    assert fitted.value == pytest.approx(shares, abs=1e-9)


def test_smoothing_keeps_the_sum_and_never_leaves_the_region() -> None:
    for name in REGIONS:
        grid = place_channel(make_mechanism("nearest-cells", domain=REGIONS[name], epsilon=1), (7, 3)).grid
        matrix = grid.smoothing()
        assert np.allclose(matrix.sum(axis=0), 1)
        shares = np.random.default_rng(6).random(len(grid))
        assert np.abs(smoothed(shares, grid) - matrix @ shares).max() < 1e-15


def test_resampling_keeps_the_number_of_reports_and_follows_the_counts() -> None:
    counts = np.array([0, 5000, 20_000, 0, 75_000])
    drawn = resampled(counts, FixedKeystream("again"))
    assert drawn.sum() == 100_000
    assert drawn[[0, 3]].sum() == 0
    # Five standard deviations and more: once in 10**6 times.
    assert (np.abs(drawn - counts) < 5.5 * np.sqrt(counts + 1)).all()


def test_what_no_map_can_be_made_of_is_refused() -> None:
    mechanism = tracs_c(2)
    reports = Reports(mechanism, draw_many(mechanism.channel, (np.zeros(9, int), np.zeros(9, int)), FixedKeystream("no")))
    with pytest.raises(NotSupported, match="do not know where people are"):
        density_map(accumulator_for(mechanism).add(reports))
    with pytest.raises(NotSupported, match="nearest-cells"):
        fine_density_map(reports)
    names = make_mechanism("k-rr", epsilon=1)
    with pytest.raises(NotSupported, match="region with a grid"):
        density_map(randomize_many(names, [1], FixedKeystream("no")))
    steps = make_mechanism("tracs-d-disc", epsilon=4)
    with pytest.raises(NotSupported, match="not of tracs-d-disc"):
        density_map(Reports(steps, np.zeros(3, np.uint64)))
    with pytest.raises(InvalidParameter, match="Accumulator or Reports"):
        density_map([1, 2])  # type: ignore[arg-type]
    small = make_mechanism("nearest-cells", domain=rectangle(64, 64), epsilon=1)
    few = randomize_many(small, [(1, 1)] * 5, FixedKeystream("no"))
    with pytest.raises(InvalidParameter, match="at most 1024"):
        density_map(few, cells=64)
    with pytest.raises(InvalidParameter, match="at most 64 by 64"):
        density_map(few, cells=65)
    # Three nearest cells of twelve: the two cells of a corner favour the same ones.
    alike = make_mechanism("nearest-cells", domain=rectangle(4, 3), epsilon=2)
    with pytest.raises(NotSupported, match="can distinguish"):
        density_map(randomize_many(alike, [(1, 1)] * 5, FixedKeystream("no")), cells=4, method="unbiased")
    for cells in (0, True, (3,), (2, 0), 2.5):
        with pytest.raises(InvalidParameter, match="cells"):
            density_map(few, cells=cells)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="no reports"):
        density_map(accumulator_for(small))
    with pytest.raises(InvalidParameter, match="method"):
        density_map(few, method="best")  # type: ignore[arg-type]
