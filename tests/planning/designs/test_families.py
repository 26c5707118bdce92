"""Small families of mechanisms at their best: shapes of a reference, windows on average, unbiased windows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deniable.core import Interval, Pieces, make_mechanism
from deniable.errors import InvalidEpsilon, InvalidParameter
from deniable.estimators import average_error, closed_form, worst_case
from deniable.planning import best_average_window, best_in_family, best_unbiased_window, design
from deniable.planning.designs.average_window import average_window_error


def test_every_shape_brings_the_error_closer_to_the_bound() -> None:
    even, atoms, curved = (
        best_in_family(1, 2, shapes).error for shapes in (("even",), ("atoms", "even"), ("atoms", "even", "curved"))
    )
    best = design(Interval(0, 1), "absolute", 2)
    assert even > atoms > curved > best.lower_bound
    assert even == pytest.approx(worst_case(make_mechanism("window", epsilon=2, loss_exponent=1), 1).error, rel=1e-4)
    assert atoms == pytest.approx(worst_case(make_mechanism("atoms", epsilon=2), 1).error, rel=1e-3)
    assert curved < best.worst_case * 1.005


def test_masses_are_a_reference() -> None:
    designed = best_in_family(1, 1)
    y = np.concatenate([[0.0], (np.arange(100) + 0.5) / 100, [1.0]])
    assert float(designed.reference(y).sum()) == pytest.approx(designed.mass)
    assert 0 < designed.mass < 1
    assert designed.reference(y)[0] == pytest.approx(designed.atom * designed.mass)


@pytest.mark.parametrize(("k", "eps"), [(1, 0.5), (1, 4.0), (2, 2.0)])
def test_the_average_of_a_window_is_what_its_weights_give(k: int, eps: float) -> None:
    length, error = best_average_window(k, eps)
    share = round(length * 2**20)
    window = Pieces(domain=Interval(0, 1, cells=1 << 20), epsilon=eps, widths=[f"{share}/{2**20}"], weights=[math.exp(eps), 1])
    assert average_error(window, k) == pytest.approx(error, rel=1e-4)
    assert error < min(average_window_error(length * factor, k, eps) for factor in (0.97, 1.03))


@pytest.mark.parametrize("eps", [0.5, 1, 3])
def test_unbiased_windows_include_the_published_ones_and_beat_theorem_10(eps: float) -> None:
    h = math.exp(eps / 2)
    reach = (h + 1) / (h - 1)
    published = closed_form(make_mechanism("ogpm-u", epsilon=eps), "worst_variance")
    assert best_unbiased_window(eps, 1 + 2 * reach).worst_variance < published
    # On PM's own range exactly one length fits, and it is PM.
    pm = closed_form(make_mechanism("pm", domain=Interval(0, 1), epsilon=eps), "worst_variance")
    assert best_unbiased_window(eps, reach).worst_variance == pytest.approx(pm, rel=1e-5)
    with pytest.raises(InvalidParameter, match="range_length"):
        best_unbiased_window(eps, reach * 0.999)


def test_the_variance_of_an_unbiased_window_is_that_of_a_simulation_of_its_law() -> None:
    found, length = best_unbiased_window(1, 6.0), 6.0
    low = found.density / math.e
    assert low * (length - found.length) + found.density * found.length == pytest.approx(1)
    y = 0.5 + length * ((np.arange(200_000) + 0.5) / 200_000 - 0.5)
    centre = 0.5 + 0.5 / ((found.density - low) * found.length)  # for the value 1
    law = np.where(np.abs(y - centre) < found.length / 2, found.density, low) * length / y.size
    assert centre + found.length / 2 <= 0.5 + length / 2 + 1e-9
    assert float(law @ y) == pytest.approx(1, abs=1e-4)
    assert float(law @ (y - 1) ** 2) == pytest.approx(found.worst_variance, rel=1e-4)


def test_bad_questions_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="shapes"):
        best_in_family(1, 1, ("round",))
    with pytest.raises(InvalidParameter, match="shapes"):
        best_in_family(1, 1, ())
    with pytest.raises(InvalidEpsilon):
        best_in_family(1, 1e-9)
    with pytest.raises(InvalidEpsilon):
        best_unbiased_window(0, 5)
