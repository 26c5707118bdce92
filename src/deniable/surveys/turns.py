"""Questions that come again, in turns: which windows are a device's own, and what each way of repeating promises."""

from __future__ import annotations

import re
from datetime import date

from deniable.errors import InvalidParameter

REPEATS = ("once", "permanent", "each-window", "turns:N", "random-window", "kept:P", "changes:C")
"""How often a survey may ask; N and C are whole numbers, P is the level of a kept answer."""
MOST_TURNS = 1000
_TURNS = re.compile(r"turns:([1-9][0-9]{0,3})", re.ASCII)
PER_DEVICE = "This holds for each device: a person with two of them spends twice."


def window_number(day: date, window: str) -> int:
    """The windows of a kind, counted without a gap: days, weeks from Monday to Sunday, or months.

    >>> [window_number(date(2026, 11, day), "week") for day in (15, 16)]
    [105704, 105705]
    """
    if window == "month":
        return 12 * day.year + day.month - 1
    return day.toordinal() if window == "day" else (day.toordinal() - 1) // 7


def windows_between(repeat: str, window: str, opens: str | None, closes: str | None) -> int:
    """How many windows a survey has, for ways of repeating that need an end.

    >>> windows_between("changes:3", "week", "2026-11-15", "2026-11-16")
    2
    """
    if opens is None or closes is None:
        raise InvalidParameter(f"a survey with repeat = {repeat!r} needs opens and closes: all its windows lie between them")
    windows = window_number(date.fromisoformat(closes), window) - window_number(date.fromisoformat(opens), window) + 1
    if not 2 <= windows <= MOST_TURNS:
        raise InvalidParameter(f"there must be 2 to {MOST_TURNS} windows between opens and closes for repeat = {repeat!r}")
    return windows


def turns_of(repeat: object, window: str, opens: str | None, closes: str | None) -> int | None:
    """How many turns there are, of which every device has one; None where all devices report in every window.

    >>> turns_of("turns:4", "week", None, None), turns_of("random-window", "day", "2026-11-01", "2026-11-30")
    (4, 30)
    """
    if repeat == "random-window":
        return windows_between(repeat, window, opens, closes)
    found = _TURNS.fullmatch(repeat) if isinstance(repeat, str) else None
    if found is None:
        if repeat not in ("once", "permanent", "each-window") and not str(repeat).startswith(("kept:", "changes:")):
            raise InvalidParameter(f"repeat must be one of {', '.join(REPEATS)}")
        return None
    if not 2 <= int(found[1]) <= MOST_TURNS:
        raise InvalidParameter(f"repeat must name 2 to {MOST_TURNS} turns, as in 'turns:7'")
    return int(found[1])


def repeat_words(repeat: str, window: str) -> str:
    """What a device does and promises, in words."""
    if repeat.startswith("turns:"):
        many = f"{repeat.removeprefix('turns:')} {window}s"
        own = f"A fresh report every {many}, in a turn that the device draws once"
        return f"{own}: any {many} in a row cost epsilon once. {PER_DEVICE}"
    if repeat.startswith("kept:"):
        level = repeat.removeprefix("kept:")
        around = f"A report every {window}, drawn around an answer that the device draws once for every value and keeps"
        cost = f"all reports of one value cost {level} together, every further value {level} again"
        return f"{around}: {cost}. When it changes is not hidden. {PER_DEVICE}"
    if repeat.startswith("changes:"):
        most = repeat.removeprefix("changes:")
        which = "its first change" if most == "1" else f"one of its first {most} changes"
        asked = f"Asked every {window}, a device reports the sign of {which}, or a coin where there is none"
        length = "at the ends of stretches whose length it draws once; the length is public and says nothing about an answer"
        return f"{asked}, {length}. All its reports together cost epsilon once, and changes are hidden, too. {PER_DEVICE}"
    alone = f"One report in all, in a {window} that the device draws at random: everything costs epsilon once. {PER_DEVICE}"
    return {
        "once": "Everyone answers once.",
        "permanent": f"One report per {window}, the same one as long as the answer is the same.",
        "each-window": f"A fresh report every {window}, each of which costs epsilon again.",
        "random-window": alone,
    }[repeat]
