"""How much a person gives away at most, in all: the limit every client has, also when nobody sets one."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from deniable.core import LARGE, Mechanism, Number, as_fraction, output_bits, show_fraction
from deniable.errors import BudgetSpent, InvalidEpsilon, InvalidParameter

if TYPE_CHECKING:
    from deniable.core import Privacy
    from deniable.surveys.document import Survey

USUAL_LIMIT = 8
"""What all reports of one person may cost together, unless the user's own code says otherwise.

At 8 the surest guess between two answers is right 99.97 % of the time: beyond that there is nothing left worth keeping, and
usual surveys cost 1 to 4. sdk/js/src/ledger.js has the same number.
"""


MOST_REPORT_BITS = 1 << 18
"""A report of 32 kB takes a phone a second to draw; an honest question needs a thousandth of it."""


def check_work(mechanism: Mechanism) -> None:
    """Refuse a recipe from outside that would keep a device busy."""
    if output_bits(mechanism.channel) > MOST_REPORT_BITS:
        raise InvalidParameter(
            f"a report of this {mechanism.name} would have more than {MOST_REPORT_BITS} bits: ask for fewer values"
        )


def check_pairs(mechanism: Mechanism, accepts: Privacy | None) -> None:
    """Refuse a recipe that leaves some values without protection, unless the user's own promise is kept by its integers."""
    if accepts is None:
        if not mechanism.protects_all:
            raise InvalidParameter(
                f"the recipe of {mechanism.name} does not protect every value: some reports may show the answer. If you accept "
                "that, say in your own code which pairs must be protected: accepts=Privacy(…)"
            )
        return
    if mechanism.protects_all and all(level is None or level >= mechanism.privacy.exact for level in accepts.required()):
        return
    pair = accepts.nearest(mechanism.channel)
    if not pair.holds:
        raise InvalidParameter(
            f"the recipe of {mechanism.name} does not keep the promise that you ask for: epsilon={pair.level} for value "
            f"{pair.value} against {pair.other}"
        )


def checked_limit(name: str, value: Number) -> Fraction:
    """A limit as an exact, positive number."""
    exact = as_fraction(value)
    if exact is None or exact <= 0:
        raise InvalidEpsilon(f"{name} must be a positive number: the most that everything sent may cost together")
    return exact


def allows_large(limit: Fraction) -> bool:
    """Did the user's own limit rise above the level where a document's own word never counts?"""
    return limit > LARGE


def check_survey(survey: Survey, limit: Fraction) -> None:
    """Refuse a survey that could cost a person more, over its whole life, than the ledger's limit."""
    whole, layer = survey.lifetime, survey.mechanism.lifetime
    if max(whole, layer) <= limit:
        return
    what = "its budget" if whole >= layer else "the permanent layer of its mechanism"
    raise BudgetSpent(
        f"the survey can cost epsilon={show_fraction(max(whole, layer))} over its life ({what}), more than your limit "
        f"{show_fraction(limit)}. If you accept that, raise the limit in your own code: Ledger(path, limit=…)"
    )


def check_cost(cost: Fraction, *limits: tuple[str, Fraction, Fraction]) -> None:
    """Refuse a draw that would exceed one of the limits, each with its name, what was spent of it, and its size."""
    for name, before, most in limits:
        if before + cost > most:
            shown, whole, left = (show_fraction(level) for level in (cost, most, max(most - before, Fraction(0))))
            raise BudgetSpent(f"this answer costs epsilon={shown}, and of {name} {whole} only {left} is left")
