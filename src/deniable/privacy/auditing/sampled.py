"""The sampled audit: draw in random order, look for the worst pair and event, and test them on fresh draws."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Keystream, SystemKeystream
from deniable.core import Epsilon, EpsilonLike, Privacy
from deniable.errors import InvalidParameter
from deniable.privacy.auditing.bounds import delta_below, epsilon_below, visible_violation
from deniable.privacy.auditing.events import Candidate, histograms
from deniable.privacy.auditing.families import learned as classifier
from deniable.privacy.auditing.fields import Table
from deniable.privacy.auditing.octets import Octets
from deniable.privacy.auditing.search import Levels, Support, search
from deniable.privacy.auditing.targets import CHUNK, Draws, Scalar, Target, Vectorised, draw_same
from deniable.privacy.auditing.verdict import Audit, never_repeating

CONFIDENCE = 0.9999
SEARCH_SHARE = 0.3
MOST_SEARCH = 200_000
"""Reports per input that the search looks at: more of them cost time and choose no better event."""
MOST_NUMBERS = 40_000_000
"""The same for long reports: numbers in all reports the search looks at."""
FEWEST = 100
SILENCE = "no report came back"
MOST_INPUTS = 64
HARDLY = 0.1
"""An event that shows no more than this share of the claim says nothing about reports that never repeat."""
UNHEARD = "reports hardly ever repeat, and no event distinguished the test values"
HARDLY_HEARD = "reports hardly ever repeat, and the events that distinguish the test values show less than a tenth of the claim"


def audit(
    target: Target | Callable[[Any], Any],
    inputs: Sequence[Any],
    *,
    epsilon: EpsilonLike | Privacy,
    delta: float = 0.0,
    samples: int = 1_000_000,
    confidence: float = CONFIDENCE,
    vectorised: bool = False,
    support: Support | None = None,
    learned: bool = True,
    order: Keystream | None = None,
) -> Audit:
    """Try to disprove a claim of (epsilon, delta) by drawing reports of a few test inputs, in random order.

    The first 30 % of the draws choose the pair of inputs and the event; fresh draws test them, so the search cannot
    fool the test. That no report comes back is an event like any other. A correct mechanism is called violated with
    probability at most 1 - confidence. Finding nothing
    proves nothing beyond `epsilon_lower`; `power` says what that one event would have shown. Where reports hardly ever
    repeat and no event told anything, there is no verdict.

    `inputs` must hold the values that could differ: all of a few categories, both ends of a range, the first and the
    last coordinate. `support(reports, value)` helps where reports need decoding (hashes). With `learned`, a classifier
    proposes events too, if scikit-learn is installed. `order` is what the order of the inputs is drawn from.
    `epsilon` may be a `Privacy` with a level for every pair of inputs, in their order; pairs without a level are left alone, and
    the verdict is about the pair that came nearest to breaking its level.

    >>> audit(lambda values: values, [0, 1], epsilon=1, samples=2000, vectorised=True).violated
    True
    """
    chosen = list(inputs)
    promise = epsilon if isinstance(epsilon, Privacy) else None
    claim = float(promise.largest if promise is not None else Epsilon(epsilon, allow_large=True))  # type: ignore[arg-type]
    levels = None if promise is None else [[None if one is None else float(one) for one in row] for row in promise.closed]
    if promise is not None and promise.size != len(chosen):
        raise InvalidParameter("the promise must have one row for each of the inputs, in their order")
    if not 2 <= len(chosen) <= MOST_INPUTS:
        raise InvalidParameter(f"inputs must be 2 to {MOST_INPUTS} test values")
    if not 0.5 <= confidence < 1 or not 0 <= delta < 1:
        raise InvalidParameter("confidence must lie between 0.5 and 1, and delta from 0 to below 1")
    if samples < 2 * FEWEST * len(chosen):
        raise InvalidParameter(f"samples must be at least {2 * FEWEST * len(chosen)} for {len(chosen)} inputs")
    asked = target if hasattr(target, "draw") else (Vectorised if vectorised else Scalar)(target)
    coins = SystemKeystream() if order is None else order
    failures, error = Counter[str](), 1 - confidence
    width = _width(draw_same(asked, chosen[0], FEWEST).reports)  # only to see how long a report is
    each = min(int(samples * SEARCH_SHARE) // len(chosen), MOST_SEARCH, max(2 * FEWEST, MOST_NUMBERS // (width * len(chosen))))
    order_asked = _shuffled(len(chosen), each, coins)
    replies = _numbered(asked.draw(chosen, order_asked), FEWEST)
    failures += replies.failures
    kept = np.bincount(replies.reports.places, minlength=len(chosen))
    warnings = []
    if kept.max() - kept.min() > 6 * math.sqrt(each):
        warnings.append("how often no report came back depends on the input: that alone tells inputs apart")
    told: dict[str, Any] = {
        "epsilon": claim,
        "delta": delta,
        "confidence": confidence,
        "failures": dict(failures),
        "warnings": tuple(warnings),
    }
    if kept.min() < FEWEST:
        return Audit(**told, samples=each * len(chosen), reason="there were too few reports")
    half = len(replies.reports) // 2
    fit, select = replies.reports.rows(slice(0, half)), replies.reports.rows(slice(half, None))
    goals = search(fit, select, chosen, epsilon=claim, delta=delta, support=support, learned=learned, levels=levels)
    searched = each * len(chosen)
    calls = np.bincount(order_asked, minlength=len(chosen))
    silent = _most_silent(calls - kept, calls, levels)
    hits, trials = _judged(asked, chosen, goals, samples - searched, failures, coins, width, silent, before=FEWEST + searched)
    told["failures"] = dict(failures)
    if min(trials[number][place] for number, goal in enumerate(goals) for place in (goal.likely, goal.unlikely)) < FEWEST:
        return Audit(**told, samples=samples, reason="there were too few reports")
    # One test of epsilon and one of delta share the error; where calls gave no report, with a test of that.
    share = error / (2 if silent is None else 3)
    first, second = (_counts((goal.likely, goal.unlikely), hits[number], trials[number]) for number, goal in enumerate(goals))
    if levels is not None:
        claim = levels[goals[0].likely][goals[0].unlikely] or 0.0
    beside = claim if levels is None else levels[goals[1].likely][goals[1].unlikely] or 0.0
    lower, excess = float(epsilon_below(*first, share, delta)), float(delta_below(*second, share, beside))
    pair, event = (goals[0].likely, goals[0].unlikely), goals[0].event.words
    if silent is not None:
        missing = _counts(silent, hits[-1], trials[-1])
        by_silence = float(epsilon_below(*missing, share, delta))
        allowed = claim if levels is None else levels[silent[0]][silent[1]] or 0.0
        if by_silence > max(lower - claim, 0.0) + allowed:
            claim = allowed
            first, lower, pair, event = missing, by_silence, silent, SILENCE
    told["epsilon"] = claim
    violated = lower > claim or excess > delta
    blind = never_repeating(replies.reports) if not violated else []
    unheard = not violated and lower <= HARDLY * claim and bool(blind)
    if unheard and learned and not classifier.available():
        told["warnings"] += ("with scikit-learn (pip install 'deniable[models]') a classifier would look for events too",)
    return Audit(
        **told,
        violated=None if unheard else violated,
        reason="" if not unheard else UNHEARD if lower <= 0 else HARDLY_HEARD,
        blind=tuple(blind),
        epsilon_lower=lower,
        delta_lower=excess,
        pair=(chosen[pair[0]], chosen[pair[1]]),
        event=event,
        hits=(first[0], first[2]),
        trials=(first[1], first[3]),
        samples=samples,
        visible=visible_violation(claim, (first[2] + 0.5) / (first[3] + 1), min(first[1], first[3]), share),
    )


def _width(reports: Table) -> int:
    """Numbers per report, about: bytes of text count as such."""
    return max(1, sum(column.matrix.shape[1] if isinstance(column, Octets) else 1 for column in reports.columns.values()))


def _shuffled(inputs: int, each: int, coins: Keystream) -> NDArray[np.intp]:
    """Every input equally often, in random order; about equally often where there are many."""
    if each > CHUNK >> 6:
        return _random(inputs, inputs * each, coins)
    keys = np.empty(inputs * each, np.uint64)
    coins.fill(keys)
    return np.argsort(keys) % inputs


def _random(inputs: int, count: int, coins: Keystream) -> NDArray[np.intp]:
    """Independent and equally likely inputs: which came before says nothing about the next."""
    words = np.empty(count, np.uint32)
    coins.fill(words)
    return (words.astype(np.intp) * inputs) >> 32


def _numbered(draws: Draws, before: int) -> Draws:
    """Positions counted from the first call of the audit: a program may do something every thousandth time."""
    draws.reports.positions = draws.reports.positions + before
    return draws


def _judged(
    target: Target,
    inputs: list[Any],
    goals: tuple[Candidate, Candidate],
    count: int,
    failures: Counter[str],
    coins: Keystream,
    width: int,
    silent: tuple[int, int] | None,
    *,
    before: int,
) -> tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]]:
    """Fresh draws of the chosen inputs: for each goal and input, how many lie in the event, and how many there are.

    The last entry is about calls: how many gave no report, and how many there were.
    """
    places = np.array(sorted({place for goal in goals for place in (goal.likely, goal.unlikely)} | set(silent or ())))
    hits, trials = ([np.zeros(len(inputs), np.int64) for _ in (*goals, "calls")] for _ in range(2))
    chunk = max(1 << 14, CHUNK // width)
    for start in range(0, count, chunk):
        order = places[_random(len(places), min(chunk, count - start), coins)]
        replies = _numbered(target.draw(inputs, order), before + start)
        failures.update(replies.failures)
        calls = np.bincount(order, minlength=len(inputs))
        trials[-1] += calls
        hits[-1] += calls - np.bincount(replies.reports.places, minlength=len(inputs))
        if not len(replies.reports):
            continue
        cells = {
            id(feature): histograms(feature, replies.reports, len(inputs)) for feature in (goal.event.feature for goal in goals)
        }
        for number, goal in enumerate(goals):
            inside, total = goal.event.among(cells[id(goal.event.feature)])
            hits[number] += inside
            trials[number] += total
    return hits, trials


def _most_silent(missing: NDArray[Any], calls: NDArray[Any], levels: Levels | None) -> tuple[int, int] | None:
    """The two inputs between which it differs most how often no report came back; None when all came."""
    if not missing.any():
        return None
    error = 1 / int(calls.max())
    shown = [
        (float(epsilon_below(missing[i], calls[i], missing[j], calls[j], error)), i, j)
        for i, j in permutations(range(len(calls)), 2)
        if levels is None or levels[i][j] is not None
    ]
    if not shown:
        return None
    _, likely, unlikely = max(shown)
    return likely, unlikely


def _counts(pair: tuple[int, int], hits: NDArray[np.int64], trials: NDArray[np.int64]) -> tuple[int, int, int, int]:
    a, b = pair
    return int(hits[a]), int(trials[a]), int(hits[b]), int(trials[b])
