"""The sampled audit: draw, look for the worst pair and event, and test them on fresh draws."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deniable.auditing.bounds import delta_below, epsilon_below, visible_violation
from deniable.auditing.events import Candidate, Reports, Support, search
from deniable.auditing.targets import CHUNK, Scalar, Target, Vectorised
from deniable.errors import InvalidParameter
from deniable.exact import Epsilon, EpsilonLike

CONFIDENCE = 0.9999
SEARCH_SHARE = 0.3
MOST_SEARCH = 400_000
"""Reports per input that the search looks at: more of them cost time and choose no better event."""
MOST_NUMBERS = 40_000_000
"""The same for long reports: numbers in all reports the search looks at."""
FEWEST = 100
MOST_INPUTS = 64


@dataclass(frozen=True)
class Audit:
    """What the draws prove. `violated` is None when there were too few reports to say anything."""

    epsilon: float
    delta: float
    confidence: float
    violated: bool | None
    epsilon_lower: float
    delta_lower: float
    pair: tuple[Any, Any] | None
    event: str
    hits: tuple[int, int]
    trials: tuple[int, int]
    samples: int
    visible: float
    failures: dict[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The finding in a sentence."""
        if self.violated is None:
            return "no verdict: there were too few reports"
        sure = f"with confidence {self.confidence:g}"
        if self.violated:
            found = [f"epsilon is at least {self.epsilon_lower:.4f}"] if self.epsilon_lower > self.epsilon else []
            if self.delta_lower > self.delta:
                found.append(f"delta is at least {self.delta_lower:.3g} beside epsilon {self.epsilon:g}")
            return f"VIOLATED: {' and '.join(found)}, {sure}; claimed was {self._claim}"
        return f"no violation found: epsilon is at least {max(self.epsilon_lower, 0.0):.4f} ({sure}); claimed was {self._claim}"

    @property
    def _claim(self) -> str:
        return f"epsilon {self.epsilon:g}" + (f" with delta {self.delta:g}" if self.delta else "")

    @property
    def power(self) -> str:
        """What would have been seen."""
        if self.violated is None:
            return "nothing would have been seen"
        if not math.isfinite(self.visible):
            return f"with {self.samples:,} samples no violation by an event as rare as this one would have been seen"
        percent = 100 * self.visible / self.epsilon
        share = f"{percent:.0f}" if percent >= 10 else f"{percent:.2g}"
        return (
            f"with {self.samples:,} samples, a violation of {share} % (epsilon {self.epsilon + self.visible:.4g} instead of "
            f"{self.epsilon:g}) by an event as likely as this one would be seen with probability at least .99"
        )

    def to_dict(self) -> dict[str, Any]:
        """A JSON form."""
        return {
            "verdict": {True: "violated", False: "no violation found", None: "no verdict"}[self.violated],
            "violated": self.violated,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "epsilon_lower": self.epsilon_lower,
            "delta_lower": max(self.delta_lower, 0.0),
            "confidence": self.confidence,
            "pair": None if self.pair is None else list(self.pair),
            "event": self.event,
            "hits": list(self.hits),
            "trials": list(self.trials),
            "samples": self.samples,
            "visible_violation": self.visible,
            "failures": self.failures,
            "warnings": list(self.warnings),
            "words": self.words,
            "power": self.power,
        }


def audit(
    target: Target | Callable[[Any], Any],
    inputs: Sequence[Any],
    *,
    epsilon: EpsilonLike,
    delta: float = 0.0,
    samples: int = 1_000_000,
    confidence: float = CONFIDENCE,
    vectorised: bool = False,
    support: Support | None = None,
) -> Audit:
    """Try to disprove a claim of (epsilon, delta) by drawing reports of a few test inputs.

    The first 30 % of the draws choose the pair of inputs and the event; fresh draws test them, so the search cannot
    fool the test. A correct mechanism is called violated with probability at most 1 - confidence. Finding nothing
    proves nothing beyond `epsilon_lower`; `power` says what would have been seen.

    `inputs` must hold the values that could differ: all of a few categories, both ends of a range, the first and the
    last coordinate. `support(reports, value)` helps where reports need decoding (hashes).

    >>> audit(lambda values: values, [0, 1], epsilon=1, samples=2000, vectorised=True).violated
    True
    """
    claim, chosen = float(Epsilon(epsilon, allow_large=True)), list(inputs)
    if not 2 <= len(chosen) <= MOST_INPUTS:
        raise InvalidParameter(f"inputs must be 2 to {MOST_INPUTS} test values")
    if not 0.5 <= confidence < 1 or not 0 <= delta < 1:
        raise InvalidParameter("confidence must lie between 0.5 and 1, and delta from 0 to below 1")
    if samples < 2 * FEWEST * len(chosen):
        raise InvalidParameter(f"samples must be at least {2 * FEWEST * len(chosen)} for {len(chosen)} inputs")
    asked = target if hasattr(target, "draw") else (Vectorised if vectorised else Scalar)(target)
    failures, error = Counter[str](), 1 - confidence
    probe = asked.draw(chosen[0], FEWEST).reports  # only to see how wide a report is
    width = probe.shape[1] if probe.ndim == 2 else 1
    each = min(int(samples * SEARCH_SHARE) // len(chosen), MOST_SEARCH, max(2 * FEWEST, MOST_NUMBERS // (width * len(chosen))))
    drawn, warnings = [], []
    for value in chosen:
        got = asked.draw(value, each)
        failures += got.failures
        drawn.append(got.reports)
    lost = [each - len(reports) for reports in drawn]
    if max(lost) - min(lost) > 6 * math.sqrt(each):
        warnings.append("how often no report came back depends on the input: that alone tells inputs apart")
    if min(map(len, drawn)) < FEWEST or len({reports.shape[1:] for reports in drawn}) > 1:
        return _nothing(claim, delta, confidence, each * len(chosen), failures, warnings)
    halves = [(reports[: len(reports) // 2], reports[len(reports) // 2 :]) for reports in _alike(drawn)]
    fit, select = [first for first, _ in halves], [second for _, second in halves]
    goals = search(fit, select, chosen, epsilon=claim, delta=delta, support=support)
    rest = samples - each * len(chosen)
    places = sorted({place for goal in goals for place in (goal.likely, goal.unlikely)})
    hits, trials = _test(asked, chosen, places, goals, rest // len(places), failures, drawn[0])
    if min(trials[place] for place in places) < FEWEST:
        return _nothing(claim, delta, confidence, samples, failures, warnings)
    # One test of epsilon and one of delta share the error.
    first, second = (_counts(goal, number, hits, trials) for number, goal in enumerate(goals))
    lower = float(epsilon_below(*first, error / 2, delta))
    excess = float(delta_below(*second, error / 2, claim))
    other = (first[2] + 0.5) / (first[3] + 1)
    return Audit(
        epsilon=claim,
        delta=delta,
        confidence=confidence,
        violated=lower > claim or excess > delta,
        epsilon_lower=lower,
        delta_lower=excess,
        pair=(chosen[goals[0].likely], chosen[goals[0].unlikely]),
        event=goals[0].event.words,
        hits=(first[0], first[2]),
        trials=(first[1], first[3]),
        samples=samples,
        visible=visible_violation(claim, min(other, 0.999 * math.exp(-claim)), min(first[1], first[3]), error / 2),
        failures=dict(failures),
        warnings=tuple(warnings),
    )


def _test(
    target: Target,
    inputs: list[Any],
    places: list[int],
    goals: tuple[Candidate, Candidate],
    count: int,
    failures: Counter[str],
    like: Reports,
) -> tuple[dict[tuple[int, int], int], dict[int, int]]:
    """Fresh draws of the chosen inputs, and how many of them lie in each goal's event."""
    hits: dict[tuple[int, int], int] = {}
    trials = dict.fromkeys(places, 0)
    for place in places:
        chunk = CHUNK if like.ndim == 1 else max(1024, CHUNK // like.shape[1])
        for start in range(0, count, chunk):
            got = target.draw(inputs[place], min(chunk, count - start))
            failures.update(got.failures)
            reports = got.reports
            if not len(reports):
                continue
            if reports.shape[1:] != like.shape[1:]:
                failures["answered in another form than most"] += len(reports)
                continue
            if reports.dtype.kind != like.dtype.kind and "U" in (reports.dtype.kind, like.dtype.kind):
                reports = reports.astype(like.dtype)
            trials[place] += len(reports)
            for number, goal in enumerate(goals):
                if place in (goal.likely, goal.unlikely):
                    key = number, place
                    hits[key] = hits.get(key, 0) + goal.event.hits(reports)
    return hits, trials


def _counts(goal: Candidate, number: int, hits: dict[tuple[int, int], int], trials: dict[int, int]) -> tuple[int, int, int, int]:
    a, b = goal.likely, goal.unlikely
    return hits[number, a], trials[a], hits[number, b], trials[b]


def _alike(drawn: list[Reports]) -> list[Reports]:
    """The same kind of array for every input: text when one of them is text."""
    if len({reports.dtype.kind == "U" for reports in drawn}) > 1:
        return [reports.astype(np.str_) for reports in drawn]
    return drawn


def _nothing(epsilon: float, delta: float, confidence: float, samples: int, failures: Counter[str], warnings: list[str]) -> Audit:
    return Audit(
        epsilon=epsilon,
        delta=delta,
        confidence=confidence,
        violated=None,
        epsilon_lower=-math.inf,
        delta_lower=0.0,
        pair=None,
        event="",
        hits=(0, 0),
        trials=(0, 0),
        samples=samples,
        visible=math.inf,
        failures=dict(failures),
        warnings=tuple(warnings),
    )
