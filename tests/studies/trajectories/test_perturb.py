"""Many paths at once: policies, budgets, awkward paths, long tracks, and how near the reports are."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from deniable.core import Disc, Interval, Mechanism, Parallelogram, Points, Polygon, Rectangle, Sphere, TraCSD, make_mechanism
from deniable.errors import InvalidParameter, OutOfDomain
from deniable.privacy import FixedKeystream
from deniable.studies import Paths, perturb
from deniable.studies.trajectories.perturb import CHUNK


def square(cells: int) -> Rectangle:
    return Rectangle(Interval(0, 1, cells=cells), Interval(0, 1, cells=cells))


MECHANISMS: list[Mechanism] = [
    make_mechanism("tracs-c", epsilon=4),
    make_mechanism("tracs-d", epsilon=4),
    make_mechanism("tracs-d", domain=Parallelogram((0, 0), (1, 0), ("0.5", 1), cells=(64, 64)), epsilon=4),
    make_mechanism("nearest-cells", domain=square(16), epsilon=4),
    make_mechanism("nearest-cells", domain=Disc(("0.5", "0.5"), "0.5", cells=16), epsilon=4),
    make_mechanism("nearest-cells", domain=Polygon([(0, 0), (1, 0), (1, 1), ("0.5", "0.4"), (0, 1)], cells=16), epsilon=4),
    make_mechanism("tracs-c-sphere", domain=Sphere(Interval(0, 1, cells=64), cells=64), epsilon=4),
    make_mechanism("tracs-d-disc", domain=Disc(("0.5", "0.5"), "0.5", cells=32), epsilon=4),
    make_mechanism("nearest-places", domain=Points([(0.25, 0.25), (0.5, 0.25), (0.75, 0.25)]), epsilon=4),
]
each = pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: f"{m.name}-{type(m.domain).__name__}")
CENTRAL = Paths.of([[(0.5, 0.25), (0.5, 0.25), (0.5, 0.25)], [], [(0.5, 0.25)]], names=["a", "b", "c"])


@each
def test_empty_one_point_and_standing_paths_keep_their_shape_and_stay_in_the_region(mechanism: Mechanism) -> None:
    for per in ("location", "trajectory"):
        private = perturb(CENTRAL, mechanism, epsilon_per=per, keystream=FixedKeystream(1))
        assert private.lengths.tolist() == [3, 0, 1]
        assert private.names == CENTRAL.names
        assert private.finite
        for place in private.places.tolist():
            mechanism.domain.encode(mechanism.domain.clip(place))
    assert len(perturb(Paths.of([]), mechanism)) == 0
    assert perturb(Paths.of([[], []]), mechanism).lengths.tolist() == [0, 0]


@each
def test_places_outside_are_refused_clipped_or_dropped_as_asked(mechanism: Mechanism) -> None:
    paths = Paths.of([[(0.5, 0.25), (7.0, 91827.3645)], [(-91827.3645, 0.25)]])
    with pytest.raises(OutOfDomain, match="2 of 3 places") as caught:
        perturb(paths, mechanism)
    assert "91827" not in str(caught.value)
    assert perturb(paths, mechanism, outside="clip").lengths.tolist() == [2, 1]
    assert perturb(paths, mechanism, outside="drop").lengths.tolist() == [1, 0]


@each
def test_nan_is_refused_or_dropped_and_never_clipped(mechanism: Mechanism) -> None:
    paths = Paths.of([[(0.5, 0.25), (float("nan"), 0.25)]])
    for policy in ("refuse", "clip"):
        with pytest.raises(OutOfDomain):
            perturb(paths, mechanism, outside=policy)
    assert perturb(paths, mechanism, outside="drop").lengths.tolist() == [1]


def test_points_on_the_border_belong_and_clipped_points_are_the_nearest() -> None:
    corners = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 0.5)]
    for mechanism in MECHANISMS[:2]:
        assert perturb(Paths.of([corners]), mechanism).lengths.tolist() == [5]
    sharp = make_mechanism("nearest-cells", domain=square(8), epsilon=19)
    private = perturb(Paths.of([[(5, 5), (-3, 0.06), (2, -9)]] * 200), sharp, outside="clip", keystream=FixedKeystream(2))
    found = np.median(private.places.reshape(200, 3, 2), axis=0)
    assert found.tolist() == [[0.9375, 0.9375], [0.0625, 0.0625], [0.9375, 0.0625]]


def test_places_over_the_date_line_stay_near_it() -> None:
    mechanism = make_mechanism("tracs-c-sphere", epsilon=16)
    private = perturb(
        Paths.of([[(179.99, 10.0), (-179.99, 10.0), (180.0, 10.0), (-180.0, 10.0)]] * 250), mechanism, keystream=FixedKeystream(11)
    )
    away = np.abs(private.places[:, 0])
    assert (away <= 180).all()
    assert (away > 170).mean() > 0.9
    assert (private.places[:, 0] > 0).any()
    assert (private.places[:, 0] < 0).any()


def test_a_whole_trajectory_is_given_an_equal_share_for_every_place(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, Any]] = []
    from deniable.studies.trajectories import perturb as module

    real = module._perturbed

    def watched(paths: Paths, mechanism: Mechanism, keystream: Any) -> Any:
        seen.append((len(paths.places), mechanism.epsilon))
        return real(paths, mechanism, keystream)

    monkeypatch.setattr(module, "_perturbed", watched)
    paths = Paths.of([[(0.5, 0.5)] * 4, [(0.5, 0.5)], [(0.5, 0.5)] * 4, [(0.5, 9.0), (0.5, 0.5)]])
    perturb(paths, make_mechanism("tracs-d", epsilon=4), epsilon_per="trajectory", outside="drop")
    # The last path lost a place and keeps the share of two.
    assert seen == [(1, 4), (1, 2), (8, 1)]


def test_paths_of_many_lengths_come_back_in_their_own_places() -> None:
    lengths = np.array([1, 2, 0, 2, 1, 3] * 200)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    places = np.random.default_rng(4).random((int(starts[-1]), 2))
    paths = Paths(places, starts)
    private = perturb(paths, make_mechanism("tracs-d", epsilon=20), epsilon_per="trajectory", keystream=FixedKeystream(3))
    assert private.starts.tolist() == starts.tolist()
    apart = np.hypot(*(private.places - places).T)
    for length, most in ((1, 0.02), (2, 0.12), (3, 0.25)):
        assert np.median(apart[np.repeat(lengths, lengths) == length]) < most, "two random places are 0.52 apart"


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({"outside": "ignore"}, "outside"),
        ({"epsilon_per": "person"}, "epsilon_per"),
        ({"mechanism": make_mechanism("window", epsilon=1)}, "mechanism"),
        ({"mechanism": "tracs-c"}, "mechanism"),
        ({"paths": [[(0, 0)]]}, "paths"),
    ],
)
def test_bad_arguments_are_refused_by_name(fields: dict[str, Any], match: str) -> None:
    arguments: dict[str, Any] = {"paths": CENTRAL, "mechanism": MECHANISMS[0], **fields}
    with pytest.raises(InvalidParameter, match=match):
        perturb(**arguments)


@pytest.mark.parametrize("mechanism", [MECHANISMS[1], MECHANISMS[0]], ids=["tracs-d", "tracs-c"])
def test_a_long_track_takes_no_more_work_space_than_a_short_one(mechanism: Mechanism) -> None:
    def work_space(count: int) -> float:
        paths = Paths(np.random.default_rng(6).random((count, 2)), np.array([0, count]))
        perturb(Paths.of([[(0.5, 0.5)]]), mechanism)
        tracemalloc.start()
        private = perturb(paths, mechanism)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return float(peak - private.places.nbytes - 2 * count)  # two marks a place: is it inside, does it begin a path

    assert work_space(8 * CHUNK) < 1.3 * work_space(2 * CHUNK)


def test_chunks_do_not_cut_a_walk() -> None:
    count = CHUNK + 2
    places = np.full((count, 2), 0.25)
    mechanism = TraCSD(domain=square(64), epsilon=4)
    long, cut = (
        perturb(Paths(places, np.array(starts)), mechanism, keystream=FixedKeystream(7)).places
        for starts in ([0, count], [0, CHUNK, count])
    )
    assert (long[:CHUNK] == cut[:CHUNK]).all()
    assert not (long[CHUNK:] == cut[CHUNK:]).all(), "the second path begins at the center, the long one goes on"


# --- how near the reports are: 2 * 10**5 random places in paths of 100, fixed keystream, the noise of the mean below 0.001


def average_error(name: str, epsilon: int, **options: Any) -> float:
    count = 200_000
    places = np.random.default_rng(epsilon).random((count, 2))
    private = perturb(
        Paths(places, np.arange(0, count + 1, 100)),
        make_mechanism(name, epsilon=epsilon, **options),
        keystream=FixedKeystream(epsilon),
    )
    return float(np.hypot(*(private.places - places).T).mean())


@pytest.mark.parametrize(("epsilon", "most"), [(2, 0.34), (4, 0.195), (6, 0.105), (8, 0.055), (10, 0.029)])
def test_the_disc_is_as_near_as_stated(epsilon: int, most: float) -> None:
    assert average_error("nearest-cells", epsilon, domain=square(256)) <= most


@pytest.mark.parametrize(("epsilon", "stated"), [(2, 0.392), (4, 0.279), (6, 0.190), (8, 0.124), (10, 0.079)])
def test_coordinates_are_as_near_as_stated_and_the_better_window_is_nearer(epsilon: int, stated: float) -> None:
    published = average_error("tracs-c", epsilon, loss_exponent=1)
    assert published == pytest.approx(stated, rel=0.01)
    assert 0.96 * published < average_error("tracs-c", epsilon) < published


@pytest.mark.parametrize(("epsilon", "least"), [(2, 1.05), (4, 1.025), (6, 0.995), (8, 1.035), (10, 1.17)])
def test_the_automatic_split_beats_the_published_one(epsilon: int, least: float) -> None:
    """At 6 the published share is the best one."""
    assert average_error("tracs-d", epsilon, split="published") >= least * average_error("tracs-d", epsilon)
