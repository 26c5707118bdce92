"""What was worked out for a fit takes a hundred megabytes: it goes with the fit, and only the last of it is kept."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import numpy as np
import pytest

from deniable.core import make_mechanism
from deniable.estimators import recent_shapes, shape
from deniable.estimators.shape_fit import KEPT, Shape


@pytest.fixture
def nobody_looks_for_garbage() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def fitted() -> Shape:
    """Asked for everything that the Results page shows."""
    reports = make_mechanism("sw", epsilon=1).randomize_many(np.linspace(0, 1, 300))
    fit = shape(reports)
    fit.bins(4).interval()
    fit.quantiles([0.25, 0.5]).interval()
    return fit


def test_a_fit_is_gone_when_nobody_refers_to_it(monkeypatch: pytest.MonkeyPatch, nobody_looks_for_garbage: None) -> None:
    monkeypatch.setattr(recent_shapes, "_RECENT", {})
    fit = weakref.ref(fitted())
    assert fit() is not None, "the last fits are kept for further questions"
    recent_shapes._RECENT.clear()
    assert fit() is None


def test_only_the_points_of_the_last_edges_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent_shapes, "_RECENT", {})
    assert len(fitted()._known) <= KEPT
