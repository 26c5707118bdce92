"""A yes or no in every window, of which a device reports changes: `repeat = "changes:C"`, by a tree of changes."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from deniable.core import Coins, Epsilon, TaggedResponse, TreeOfChanges
from deniable.errors import AlreadyAnswered, InvalidParameter
from deniable.surveys.turns import windows_between

if TYPE_CHECKING:
    from deniable.surveys.document import Survey

_CHANGES = re.compile(r"changes:([1-9][0-9]{0,3})", re.ASCII)
LATER = "a later window was already answered; a clock that goes back draws nothing"


def changes_of(repeat: object, window: str, opens: str | None, closes: str | None, epsilon: Epsilon) -> TreeOfChanges | None:
    """The stream of a survey that asks for changes; None for other ways of repeating.

    >>> changes_of("changes:3", "day", "2026-11-01", "2026-11-30", Epsilon(1))
    TreeOfChanges(periods=30, changes=3, epsilon=Epsilon(1))
    """
    if not isinstance(repeat, str) or not repeat.startswith("changes:"):
        return None
    return _stream(repeat, window, opens, closes, epsilon)


@lru_cache(maxsize=256)
def _stream(repeat: str, window: str, opens: str | None, closes: str | None, epsilon: Epsilon) -> TreeOfChanges:
    found = _CHANGES.fullmatch(repeat)
    if found is None:
        raise InvalidParameter("repeat must name how many times an answer changes at most, as in 'changes:3'")
    windows, changes = windows_between(repeat, window, opens, closes), int(found[1])
    if changes > windows:
        raise InvalidParameter(
            f"an answer cannot change {changes} times in {windows} windows: repeat = 'changes:{windows}' at most"
        )
    return TreeOfChanges(windows, changes=changes, epsilon=epsilon)


def mechanism_for(stream: TreeOfChanges) -> TaggedResponse:
    """What the reports of a stream are, one by one: a sign beside the length that the device drew."""
    return TaggedResponse(epsilon=stream.level, tags=stream.lengths)


def check_changes(survey: Survey) -> None:
    """Refuse a survey of changes that cannot keep its promise."""
    stream = survey.changes
    if stream is None:
        return
    if survey.mechanism != mechanism_for(stream):
        raise InvalidParameter(
            "repeat = 'changes:…' needs one attribute that is a yes or no: domain = 'binary', with mechanism 'auto' or left out"
        )
    if survey.lifetime != stream.level.exact:
        raise InvalidParameter(
            "with repeat = 'changes:…' the whole life costs epsilon once: leave out budget, or set it to epsilon"
        )
    if survey.keep_reports:
        raise InvalidParameter("with repeat = 'changes:…' only sums can be kept, by window: leave out keep_reports")
    if survey.admission is not None or survey.shuffle is not None:
        raise InvalidParameter("the length that a device keeps can be followed: it does not go with admission or shuffle")


def next_report(stream: TreeOfChanges, memory: dict[str, Any], period: int, value: int, coins: Coins) -> int | None:
    """The output of a device in a window, or None where it is silent; what it must remember is put into `memory`.

    A device that was away did not see its value, so it acts as if the value had stayed, and drops what it could not tell at the end
    of a stretch. It also says nothing at the end of a stretch whose beginning it missed: what changed in between may have changed
    before, and would be counted twice. So what is sent is a part of the stream's own reports, and which part depends on
    when the device was asked, and on no value.
    """
    if memory["asked"] > period:
        raise AlreadyAnswered(LATER)
    if memory["asked"] == period:
        return None
    stretch = period // memory["length"]
    if memory["asked"] // memory["length"] != stretch:
        memory["sign"] = 0
    memory["asked"] = period
    bit = stream.report(memory, period, value, coins)
    if bit is None:
        return None
    known, memory["known"] = memory["known"], stretch + 1
    return 2 * (memory["length"].bit_length() - 1) + bit if known == stretch else None


def new_memory(stream: TreeOfChanges, coins: Coins) -> dict[str, Any]:
    """What a device draws once and keeps: `known` is the stretch at whose beginning it knows the value, `asked` the last window."""
    return {**stream.start(coins), "asked": -1, "known": 0}
