"""One question, one answer: which mechanism is best, and how do we know?"""

from __future__ import annotations

from deniable.core import Circle, Domain, EpsilonLike, Interval, Rectangle
from deniable.errors import InvalidParameter, NotSupported
from deniable.planning.designs.answer import Answer
from deniable.planning.designs.average import design_average
from deniable.planning.designs.circle import design_circle
from deniable.planning.designs.interval import design_worst
from deniable.planning.designs.point import design_at
from deniable.planning.designs.problem import LossLike, PriorLike, design_epsilon, distance_loss, read_prior
from deniable.planning.designs.rectangle import design_rectangle
from deniable.planning.designs.unbiased import design_unbiased


def design(
    domain: Domain, loss: LossLike = "absolute", epsilon: EpsilonLike = 1, prior: PriorLike = "worst", unbiased: bool = False
) -> Answer:
    """The best mechanism for a loss on an interval, a circle or a rectangle, with a bound on all others.

    `prior` says whose error counts: the 'worst' value's, the average under a 'uniform' or weighted prior, or the one
    at a single value ('at', x). With `unbiased`, the mean of a report must be the value, and the worst variance counts.

    >>> answer = design(Interval(0, 1), "squared", 1)
    >>> answer.mechanism.name, round(answer.worst_case, 5), round(answer.gap, 5)
    ('one-bit-squared', 0.19661, 1.0)
    """
    level = design_epsilon(epsilon)
    if not isinstance(domain, Interval | Circle | Rectangle):
        raise InvalidParameter(f"domain must be an Interval, a Circle or a Rectangle, got {type(domain).__name__}")
    width = 1.0 if isinstance(domain, Rectangle) else float(domain.width)
    asked, whose = distance_loss(loss, width), read_prior(prior, domain)
    if unbiased:
        if not isinstance(domain, Interval) or whose.kind != "worst" or asked.exponent != 2:
            raise NotSupported("unbiased designs minimise the worst variance on an interval: use loss='squared' and prior='worst'")
        return design_unbiased(domain, level)
    if isinstance(domain, Rectangle):
        return design_rectangle(domain, asked, level, whose)
    if isinstance(domain, Circle):
        if whose.kind not in ("worst", "uniform"):
            raise NotSupported("on a circle the prior must be 'worst' or 'uniform'")
        return design_circle(domain, asked, level, "worst-case" if whose.kind == "worst" else "expected")
    if whose.kind == "worst":
        return design_worst(domain, asked, level)
    if whose.position is not None:
        return design_at(domain, asked, level, whose.position)
    return design_average(domain, asked, level, whose)
