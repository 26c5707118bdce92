"""How far fake devices can move each estimate: they send the worst reports the format allows."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from deniable import estimators, privacy
from deniable.collector.estimates import BINS
from deniable.core import Binary, Categories, Circle, Interval, Mechanism, TreeOfChanges
from deniable.errors import DeniableError, MissingPackage, NotSupported
from deniable.surveys import Survey

HONEST, FAKE = 99, 1
"""One device in a hundred is fake."""
SEARCHED = 10_000
"""Reports that a search is made with where there is no formula; only their proportion matters."""
TRIED = 17
NOTHING = (
    "No bound is worked out for this kind of estimate. "
    "Malicious devices can at least add their own share, and usually several times that."
)


def poisoning_of(survey: Survey) -> list[dict[str, Any]]:
    """For every attribute: how far one fake device in a hundred can move its estimate, as a number and in words."""
    stream = survey.changes
    if stream is not None:
        return [{"name": one.name, "question": one.question, **_of_changes(stream)} for one in survey.attributes]
    # Honest devices pick one question at random; fake ones can all pick the same.
    times = len(survey.names) if survey.strategy == "sample-one" else 1
    return [
        {"name": attribute.name, "question": attribute.question, **_moved(survey.parts[attribute.name], times)}
        for attribute in survey.attributes
    ]


@lru_cache(maxsize=256)
def _moved(part: Mechanism, times: int) -> dict[str, Any]:
    fakes = FAKE * times / (HONEST + FAKE * times)
    try:
        if isinstance(part.domain, Binary | Categories):
            return _share(part, fakes, times)
        if isinstance(part.domain, Circle):
            return _direction(part, fakes)
        if isinstance(part.domain, Interval):
            return _mean(part, times)
        words = NOTHING
    except MissingPackage as lacking:
        words = f"No bound is worked out: {lacking}."
    except DeniableError:
        words = NOTHING
    return {"what": "map", "moves": None, "per_fake": None, "proved": False, "words": words}


def _share(part: Mechanism, fakes: float, times: int) -> dict[str, Any]:
    """A report that supports an answer adds (1 - q)/(p - q) to its estimated count."""
    law = estimators.support(part)
    each = (1 - float(law.q)) / float(law.p - law.q)
    moves = fakes * each
    alone = f"One malicious device can add as much to a share as up to {each * times:.3g} honest people with that answer"
    asked = ", because it can choose which question it answers" if times > 1 else ""
    together = f"One malicious device in a hundred can raise the share of one answer by up to {100 * moves:.2g} percentage points."
    words = f"{alone}{asked}. {together}"
    return {"what": "share", "moves": moves, "per_fake": each * times, "proved": True, "words": words}


def _of_changes(stream: TreeOfChanges) -> dict[str, Any]:
    """A share is a sum over stretches; malicious devices send the same sign for all of them, with the length of each."""
    scale = stream.changes * (stream.high + stream.low) / (stream.high - stream.low)
    stretches = max((period + 1).bit_count() for period in range(stream.periods))
    fakes = FAKE * stream.lengths / (HONEST + FAKE * stream.lengths)
    each, moves = stretches * stream.lengths * scale, stretches * fakes * (scale + 1)
    alone = f"One malicious device can add as much to the share of yes in a window as up to {each:.3g} honest people who say yes"
    together = f"One malicious device in a hundred can raise a window's share by up to {100 * moves:.2g} percentage points."
    words = f"{alone}, because it need not keep to one length and one change. {together}"
    return {"what": "share", "moves": moves, "per_fake": each, "proved": True, "words": words}


def _direction(part: Mechanism, fakes: float) -> dict[str, Any]:
    """Reports are divided by the first coefficient of the law; the true mean may point the other way."""
    each = 1 / estimators.first_coefficient(part.channel)
    moves = fakes * (each + 1)
    words = (
        f"One malicious device in a hundred can move the mean direction's arrow, whose length is the concentration, by up to "
        f"{moves:.2g}. Where people agree less than that, the direction can be turned anywhere."
    )
    return {"what": "direction", "moves": moves, "per_fake": each, "proved": True, "words": words}


def _mean(part: Mechanism, times: int) -> dict[str, Any]:
    assert isinstance(part.domain, Interval)
    try:
        gains = privacy.mean_gain(part, users=HONEST, fakes=FAKE * times)
        moves, each = gains.gain, gains.per_fake * times
        words = f"One malicious device in a hundred can move the mean by up to {moves:.3g}"
        return {"what": "mean", "moves": moves, "per_fake": each, "proved": True, "words": f"{words}, up or down."}
    except NotSupported:
        moves = _searched(part, times)
        words = f"One malicious device in a hundred moved the mean by {moves:.3g} in a search among people spread evenly"
        return {
            "what": "mean",
            "moves": moves,
            "per_fake": None,
            "proved": False,
            "words": f"{words}; this does not prove a limit.",
        }


def _searched(part: Mechanism, times: int) -> float:
    """The mean of the smoothed distribution, with the fakes all sending one report."""
    assert isinstance(part.domain, Interval)
    laid = estimators.binned(part, estimators.checked_bins(part, min(BINS, part.domain.cells), BINS))
    matrix = laid.transition.matrix
    middles = (laid.edges[:-1] + laid.edges[1:]) / 2

    def mean_of(counts: Any) -> float:
        fitted = estimators.fit(laid.transition, counts, smooth=True, circular=False, tolerance=estimators.STOP, most=10_000)
        return float(middles @ fitted.shares)

    counts = SEARCHED * HONEST / (HONEST + FAKE) * matrix.mean(axis=0)
    tried = np.unique(np.linspace(0, len(counts) - 1, TRIED).round().astype(int)).tolist()
    fakes = SEARCHED * FAKE * times // (HONEST + FAKE)
    up = privacy.worst_report(counts, mean_of, fakes=fakes, candidates=tried)[1].gain
    down = privacy.worst_report(counts, lambda seen: -mean_of(seen), fakes=fakes, candidates=tried)[1].gain
    return max(up, down)
