"""From a question to a plan."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache

from scipy.optimize import brentq

from deniable.core import Epsilon, Rectangle
from deniable.errors import InvalidParameter, NotSupported
from deniable.planning.averages import mean_ways
from deniable.planning.bounds import Bound, NoBound, lower_bound
from deniable.planning.candidate import Candidate, Plan
from deniable.planning.frequency import share_ways
from deniable.planning.heavy_hitters import word_ways
from deniable.planning.hypothesis import hypothesis_ways
from deniable.planning.places import place_ways
from deniable.planning.question import Question
from deniable.planning.sets import set_ways
from deniable.planning.shape import shape_ways
from deniable.planning.trends import trend_ways
from deniable.planning.vectors import vector_ways
from deniable.planning.way import LeftOut, Way
from deniable.planning.workloads.ways import workload_ways

TRIED = (0.01, 1.0, 2.0, 4.0, 8.0, 11.0, 16.0)
"""Between which the smallest epsilon is searched; hashes end at 11.09."""
DIGITS = 4
EPSILON_STEP = 2e-5
"""How exactly the smallest epsilon is found before it is rounded up."""
LEAST_ERROR, FARTHEST_LOG = 1e-300, 100.0
RAISED_AT_MOST = 3
MOST_USERS = 10**12
MILD = 1.0
"""Beyond this epsilon the plan says in words what it allows."""
KEPT = "The answer is drawn once, kept on the device and sent again: it must not change."


class Impossible(NotSupported):
    """No candidate meets the target, and where a bound is known, no mechanism can."""


def ways(question: Question, epsilon: Epsilon, *, slow: bool = True) -> Iterator[Way | LeftOut]:
    """Every way to ask at this epsilon, and what is left out; without `slow` only those that are quick to predict."""
    if question.task == "frequency":
        return share_ways(question, epsilon)
    if question.task == "mean":
        return mean_ways(question, epsilon, slow=slow)
    if question.task in ("distribution", "quantile"):
        return shape_ways(question, epsilon, slow=slow)
    if question.task == "heavy-hitters":
        return word_ways(question, epsilon)
    if question.task == "location":
        return place_ways(question, epsilon, slow=slow)
    if question.task == "vector":
        return vector_ways(question, epsilon)
    if question.task == "workload":
        return workload_ways(question, epsilon, slow=slow)
    if question.task in ("items", "key-values", "key-distributions"):
        return set_ways(question, epsilon)
    if question.task == "trend":
        return trend_ways(question, epsilon)
    return hypothesis_ways(question, epsilon)


def plan(question: Question) -> Plan:
    """The candidates for a question, best first; where epsilon or the number of users is missing, the smallest that is enough.

    Ranked by predicted error. A target that no candidate meets is refused, with the bound that no mechanism can beat.

    >>> from deniable.core import Categories
    >>> planned = plan(Question(task="frequency", domain=Categories(1000), users=100_000, epsilon=1))
    >>> planned.pick.mechanism, round(planned.pick.predicted_error, 5), planned.lean.mechanism
    ('subset', 0.00606, 'hadamard')
    """
    if question.epsilon is None:
        assert question.users is not None
        return _with_epsilon(question, question.users)
    epsilon = Epsilon(question.epsilon)
    if question.users is None:
        return _with_users(question, epsilon)
    answer = _ranked(question, epsilon, question.users, bounded=True)
    bound = answer.bound
    least = None if not isinstance(bound, Bound) else bound.error if question.half_width is None else bound.half_width
    if question.aim is not None and least is not None and question.aim < least:
        assert isinstance(bound, Bound)
        raise Impossible(
            f"the target {question.aim:g} is impossible with epsilon = {epsilon} and {question.users:,} users: the lower bound for "
            f"every mechanism is {least:.4g} ({bound.why}). Raise epsilon, ask more people, or ask for less"
        )
    return answer


def _ranked(question: Question, epsilon: Epsilon, users: int, *, slow: bool = True, bounded: bool = False) -> Plan:
    candidates, left_out = [], []
    for way in ways(question, epsilon, slow=slow):
        if isinstance(way, LeftOut):
            left_out.append(way)
            continue
        one = Candidate(way, users, way.predict(users))
        if question.max_bytes is not None and one.bytes_per_report > question.max_bytes:
            left_out.append(LeftOut(one.label, f"a report takes {one.bytes_per_report} bytes, more than {question.max_bytes}"))
        elif not math.isfinite(one.predicted_error):
            left_out.append(LeftOut(one.label, "too few users to find anything"))
        else:
            candidates.append(one)
    if not candidates:
        reasons = "; ".join(f"{one.mechanism}: {one.reason}" for one in left_out[:3])
        raise NotSupported(f"no mechanism is left for this question ({reasons}); allow more bytes, or ask more people")
    candidates.sort(key=lambda one: (one.predicted_error, one.bytes_per_report))
    ranked = Plan(question, epsilon, users, tuple(candidates), tuple(left_out), "")
    met = None if question.aim is None else ranked.pick.value(question) <= question.aim
    # A bound on a rectangle is a linear program: it is asked for only when the answer depends on it.
    wanted = bounded and (not isinstance(question.domain, Rectangle) or met is False)
    bound = lower_bound(question, epsilon, users) if wanted else None
    return replace(ranked, met=met, bound=bound, why=_why(ranked, met, bound))


def _why(answer: Plan, met: bool | None, bound: Bound | NoBound | None) -> str:
    pick, question = answer.pick, answer.question
    reasons = [f"{pick.label} has the least predicted error, {pick.predicted_error:.4g}"]
    if len(answer.candidates) > 1:
        second = answer.candidates[1]
        reasons[0] += f" ({second.label}: {second.predicted_error:.4g})"
    reasons[0] += f", at {_bytes(pick)} a report."
    lean = answer.lean
    if lean.bytes_per_report < pick.bytes_per_report:
        more = lean.predicted_error / pick.predicted_error - 1
        reasons.append(f"{lean.label} takes {_bytes(lean)} for {100 * more:.2g} % more error.")
    if bound is not None:
        reasons.append(bound.words)
    if question.repeats > 1:
        each = float(question.each(answer.epsilon))
        repeated = f"Every one of the {question.repeats} answers has epsilon {each:.4g}." if question.changing else KEPT
        reasons.append(repeated)
    if pick.way.promise:
        reasons.append(pick.way.promise)
    if met is False:
        reasons.append(f"The target {question.aim:.4g} is not met.")
    if float(answer.epsilon) > MILD:
        odds = math.exp(float(answer.epsilon))
        reasons.append(f"Epsilon {float(answer.epsilon):.4g} lets a person's reports change anyone's odds up to {odds:.3g} times.")
    return " ".join(reasons)


def _bytes(one: Candidate) -> str:
    return f"{one.bytes_per_report} byte{'' if one.bytes_per_report == 1 else 's'}"


def _with_epsilon(question: Question, users: int) -> Plan:
    """The smallest epsilon whose best candidate meets the target, to four digits, rounded up."""

    @cache
    def value(epsilon: float) -> float:
        try:
            return _ranked(question, Epsilon(Fraction(epsilon)), users, slow=False).pick.value(question)
        except NotSupported:
            return math.inf

    aim = question.aim
    assert aim is not None
    best, low = math.inf, TRIED[0]
    for high in TRIED:
        best = min(best, value(high))
        if best <= aim:
            break
        low = high
    else:
        reached = _impossible(question, f"even epsilon = {high:g}, which protects nothing, gives", best)
        raise Impossible(reached + _below(question, Epsilon(Fraction(high)), users))
    smallest = rounded_up(_crossing(low, high, value, aim))
    ranked = _ranked(question, Epsilon(smallest), users, bounded=True)
    for _ in range(RAISED_AT_MOST):  # where the error falls in steps, the crossing may lie a hair before one
        if ranked.pick.value(question) <= aim:
            break
        smallest = rounded_up(float(smallest) * (1 + EPSILON_STEP))
        ranked = _ranked(question, Epsilon(smallest), users, bounded=True)
    return replace(ranked, found="epsilon")


def _with_users(question: Question, epsilon: Epsilon) -> Plan:
    """The fewest users whose best candidate meets the target."""
    aim = question.aim
    assert aim is not None
    every = [way for way in ways(question, epsilon) if isinstance(way, Way)]

    def value(users: float) -> float:
        least = math.inf
        for way in every:
            try:
                one = Candidate(way, round(users), way.predict(round(users)))
            except InvalidParameter:
                continue
            if question.max_bytes is None or one.bytes_per_report <= question.max_bytes:
                least = min(least, one.value(question))
        return least

    most = float(MOST_USERS)
    if value(most) > aim:
        reached = _impossible(question, f"epsilon = {epsilon} gives, with {MOST_USERS:.0e} users,", value(most))
        raise Impossible(reached + _below(question, epsilon, MOST_USERS))
    low, high = 1, 1
    while value(high) > aim:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if value(middle) <= aim else (middle, high)
    return replace(_ranked(question, epsilon, high, bounded=True), found="users")


def _impossible(question: Question, given: str, reached: float) -> str:
    kind = "target_error" if question.half_width is None else "half_width"
    return f"{kind} = {question.aim:g} cannot be met: {given} at best {reached:.4g}. Ask for less, or ask more people"


def _below(question: Question, epsilon: Epsilon, users: int) -> str:
    return f". {lower_bound(question, epsilon, users).words}"


def _crossing(low: float, high: float, value: Callable[[float], float], aim: float) -> float:
    """Where the error meets the aim: on logarithmic scales it falls nearly straight, and few trials are enough."""
    if low == high:
        return high

    def above(place: float) -> float:
        epsilon = min(max(math.exp(place), low), high)
        return min(math.log(max(value(epsilon), LEAST_ERROR) / aim), FARTHEST_LOG)

    return math.exp(float(brentq(above, math.log(low), math.log(high), xtol=EPSILON_STEP, rtol=1e-12)))


def rounded_up(number: float) -> Fraction:
    """A number with four digits that is not smaller.

    >>> str(rounded_up(1.23456)), str(rounded_up(0.01))
    ('247/200', '1/100')
    """
    unit = Fraction(10) ** (math.floor(math.log10(number)) + 1 - DIGITS)
    return math.ceil(Fraction(repr(number)) / unit) * unit
