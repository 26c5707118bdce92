"""The m-piece bilinear problem of the published framework, solved globally by SCIP.

It checks the closed forms: three pieces suffice, and the window's height is the proven one. Every
variable has bounds, without which a global solver proves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from deniable.core import Epsilon, EpsilonLike
from deniable.errors import InvalidParameter, MissingPackage, NotSupported

MOST_PIECES = 7
LEAST_WIDTH = 1e-3
"""Neighbouring pieces count as one if their heights differ relatively by less than MERGED, or if one is narrower than this."""
MERGED = 1e-3
AGREE = 1e-3
"""Errors and places closer than this, relatively, count as one: the solver's own tolerance is 1e-4."""


@dataclass(frozen=True)
class PiecewiseSolution:
    """Heights and breakpoints (one more, from 0 to 1) on [0, 1], their error, and what the solver proved."""

    heights: tuple[float, ...]
    breaks: tuple[float, ...]
    error: float
    lower_bound: float
    status: str

    @property
    def gap(self) -> float:
        """error / lower_bound."""
        return self.error / self.lower_bound if self.lower_bound > 0 else math.inf

    def merged(self) -> PiecewiseSolution:
        """The same density with empty pieces dropped and neighbours of one height joined."""
        heights: list[float] = []
        breaks = [0.0]
        for height, end in zip(self.heights, self.breaks[1:], strict=True):
            narrow = end - breaks[-1] < LEAST_WIDTH
            if heights and (narrow or abs(height - heights[-1]) <= MERGED * heights[-1]):
                breaks[-1] = end
            elif not narrow:
                heights.append(height)
                breaks.append(end)
        return PiecewiseSolution(tuple(heights), tuple(breaks), self.error, self.lower_bound, self.status)


def optimal_heights(
    epsilon: EpsilonLike, pieces: int = 3, *, exponent: int = 1, seconds: float = 20.0, gap: float = 1e-4
) -> PiecewiseSolution:
    """The m-piece density with the least mean |y - x|**k at an end of the domain, the worst value there is.

    min over heights p_i and breaks b_i of Σ p_i (b_i**(k+1) - b_{i-1}**(k+1))/(k+1), with Σ p_i (b_i - b_{i-1}) = 1
    and p_i <= e**epsilon p_j. Products of variables are what makes it bilinear. k is 1 or 2.
    """
    eps = _checked(epsilon, pieces, exponent, seconds)
    model = _model(seconds, gap)
    low, most = model.addVar(lb=math.exp(-eps), ub=1.0, name="low"), math.exp(eps)
    heights = [model.addVar(lb=math.exp(-eps), ub=most, name=f"p{i}") for i in range(pieces)]
    for height in heights:
        model.addCons(height >= low)
        model.addCons(height <= most * low)
    # Sorting the pieces by height, the highest at x, changes no constraint and never raises the error.
    for nearer, farther in pairwise(heights):
        model.addCons(nearer >= farther)
    return _solved(model, heights, pieces, 0.0, exponent)


def optimal_breaks(
    heights: Sequence[float], x: float, *, exponent: int = 1, seconds: float = 20.0, gap: float = 1e-4
) -> PiecewiseSolution:
    """The breaks with the least mean |y - x|**k at x, for given heights from left to right."""
    levels = [float(height) for height in heights]
    if not levels or not all(math.isfinite(height) and height > 0 for height in levels):
        raise InvalidParameter("heights must be positive numbers")
    if not min(levels) <= 1 <= max(levels):
        raise InvalidParameter("heights must lie on both sides of 1, or no density has them")
    if not 0 <= x <= 1:
        raise InvalidParameter("x must lie in [0, 1]")
    _checked(1, len(levels), exponent, seconds)
    return _solved(_model(seconds, gap), list(levels), len(levels), x, exponent)


def optimal_pieces(
    epsilon: EpsilonLike,
    x: float,
    pieces: int = 3,
    *,
    exponent: int = 1,
    seconds: float = 20.0,
    gap: float = 1e-4,
    ends: PiecewiseSolution | None = None,
) -> PiecewiseSolution:
    """Both steps of the framework: heights from the ends of the domain, then the pieces for one value x, merged.

    All heights of the first step (`ends`, if it was solved before) are offered on either side of x.
    """
    first = optimal_heights(epsilon, pieces, exponent=exponent, seconds=seconds, gap=gap) if ends is None else ends
    heights = first.merged().heights
    around = [*reversed(heights), *heights[1:]]
    return optimal_breaks(around, x, exponent=exponent, seconds=seconds, gap=gap).merged()


def fit_height(epsilons: Sequence[EpsilonLike], *, exponent: int = 1, seconds: float = 20.0) -> tuple[float, float, float]:
    """(b1, b2, largest error) of the regression p(epsilon) ≈ e**(b1 epsilon) + b2 of solved window heights.

    The published example finds b1 = 1/2 and b2 = -0.07; the theorem for absolute error says 1/2 and 0.
    """
    from scipy.optimize import curve_fit

    if len(epsilons) < 3:
        raise InvalidParameter("epsilons must hold at least three values to fit two numbers")
    places = [float(Epsilon(epsilon)) for epsilon in epsilons]
    solved = [max(optimal_heights(eps, 2, exponent=exponent, seconds=seconds, gap=1e-6).heights) for eps in places]

    def form(eps: Any, b1: float, b2: float) -> Any:
        import numpy as np

        return np.exp(b1 * np.asarray(eps)) + b2

    (b1, b2), _ = curve_fit(form, places, solved, p0=(0.5, 0.0))
    worst = max(abs(float(form(eps, b1, b2)) - height) for eps, height in zip(places, solved, strict=True))
    return float(b1), float(b2), worst


class PiecesCheck(NamedTuple):
    """The solutions at an end of the domain and at x for each number of pieces, and whether they are all one."""

    pieces: tuple[int, ...]
    ends: tuple[PiecewiseSolution, ...]
    at_x: tuple[PiecewiseSolution, ...]

    @property
    def same_error(self) -> bool:
        """Do all numbers of pieces reach the same error, at the end and at x?"""
        return all(_close([solution.error for solution in solved]) for solved in (self.ends, self.at_x))

    @property
    def same_pieces(self) -> bool:
        """Are the merged densities the same, piece by piece?"""
        shapes = [solution.merged() for solution in self.at_x]
        if len({len(shape.heights) for shape in shapes}) != 1:
            return False
        numbers = zip(*((*shape.heights, *shape.breaks[1:]) for shape in shapes), strict=True)
        return all(_close(list(values), 10 * AGREE) for values in numbers)

    @property
    def proved(self) -> float:
        """The largest gap that the solver itself left, over all problems (1 is none)."""
        return max(solution.gap for solution in (*self.ends, *self.at_x))


def check_pieces(
    epsilon: EpsilonLike, x: float, pieces: Sequence[int] = (3, 4, 5), *, exponent: int = 1, seconds: float = 10.0
) -> PiecesCheck:
    """Solve the framework's two steps for each number of pieces, each within `seconds`."""
    if len(pieces) < 2:
        raise InvalidParameter("pieces must name at least two numbers to compare")
    ends = [optimal_heights(epsilon, m, exponent=exponent, seconds=seconds).merged() for m in pieces]
    # The second step asks for the pieces at x with the heights that the first step found.
    at_x = [
        optimal_pieces(epsilon, x, m, exponent=exponent, seconds=seconds, ends=end) for m, end in zip(pieces, ends, strict=True)
    ]
    return PiecesCheck(tuple(pieces), tuple(ends), tuple(at_x))


def _close(values: Sequence[float], within: float = AGREE) -> bool:
    return max(values) - min(values) <= within * max(abs(value) for value in values)


def _checked(epsilon: EpsilonLike, pieces: int, exponent: int, seconds: float) -> float:
    if isinstance(pieces, bool) or not isinstance(pieces, int) or not 1 <= pieces <= MOST_PIECES:
        raise InvalidParameter(f"pieces must be a whole number from 1 to {MOST_PIECES}")
    if exponent not in (1, 2):
        raise InvalidParameter("exponent must be 1 or 2: higher powers are not bilinear; see best_share for all of them")
    if not seconds > 0:
        raise InvalidParameter("seconds must be positive")
    eps = float(Epsilon(epsilon))
    if eps > 10:
        raise NotSupported("the bilinear problem is badly scaled above epsilon = 10; use the closed form")
    return eps


def _model(seconds: float, gap: float) -> Any:
    try:
        from pyscipopt import Model
    except ImportError:
        advice = "pip install 'deniable-reproduce[scip]'"
        raise MissingPackage(f"this needs pyscipopt, which is not installed: {advice}", name="pyscipopt") from None
    model = Model()
    model.hideOutput()
    model.setParam("limits/time", seconds)
    model.setParam("limits/gap", gap)
    model.setParam("numerics/feastol", 1e-8)
    return model


def _solved(model: Any, heights: list[Any], pieces: int, x: float, exponent: int) -> PiecewiseSolution:
    """Free breaks for given or variable heights; the mean of |y - x|**k as the objective."""
    breaks: list[Any] = [0.0, *(model.addVar(lb=0.0, ub=1.0, name=f"b{i}") for i in range(1, pieces)), 1.0]
    for left, right in pairwise(breaks[1:-1]):
        model.addCons(right >= left)
    # powers[i] = |b_i - x|**k (b_i - x)/(k + 1): the integral of |y - x|**k from x to b_i.
    powers = [_integral(model, end, x, exponent, f"q{i}") for i, end in enumerate(breaks)]
    model.addCons(sum(heights[i] * (breaks[i + 1] - breaks[i]) for i in range(pieces)) == 1)
    error = model.addVar(lb=0.0, ub=1.0, name="error")
    model.addCons(error >= sum(heights[i] * (powers[i + 1] - powers[i]) for i in range(pieces)))
    model.setObjective(error, "minimize")
    model.optimize()
    if model.getNSols() == 0:
        raise NotSupported(
            f"SCIP found no density within its time (bound {model.getDualbound():.6g}); allow more seconds or fewer pieces"
        )
    best = model.getBestSol()

    def read(item: Any) -> float:
        return item if isinstance(item, float) else float(best[item])

    return PiecewiseSolution(
        heights=tuple(read(height) for height in heights),
        breaks=tuple(read(end) for end in breaks),
        error=float(model.getObjVal()),
        lower_bound=float(model.getDualbound()),
        status=str(model.getStatus()),
    )


def _integral(model: Any, end: Any, x: float, k: int, name: str) -> Any:
    if isinstance(end, float):
        return math.copysign(abs(end - x) ** (k + 1), end - x) / (k + 1)
    integral = model.addVar(lb=-(x ** (k + 1)) / (k + 1), ub=(1 - x) ** (k + 1) / (k + 1), name=name)
    away = end - x
    if k == 2:
        model.addCons(3 * integral == away * away * away)
    elif x in (0.0, 1.0):
        model.addCons(2 * integral == (1 if x == 0.0 else -1) * away * away)
    else:
        # |b - x|(b - x): the parts beyond and before x, of which only one may be there.
        beyond = model.addVar(lb=0.0, ub=1 - x, name=f"{name}+")
        before = model.addVar(lb=0.0, ub=x, name=f"{name}-")
        model.addCons(away == beyond - before)
        side = model.addVar(vtype="B", name=f"{name}?")
        model.addCons(beyond <= (1 - x) * side)
        model.addCons(before <= x * (1 - side))
        model.addCons(2 * integral == beyond * beyond - before * before)
    return integral
