"""When the number for shuffled reports holds, in words."""

from __future__ import annotations


def shuffling_conditions(people: int) -> list[str]:
    """What must be true of a deployment before it may claim the epsilon of `people` shuffled reports.

    >>> len(shuffling_conditions(1000))
    4
    """
    crowd = f"{people:,}"
    return [
        f"All {crowd} reports are shuffled before anyone sees one: not with their senders, and not in the order they came.",
        f"They are released only as a whole, all {crowd} together: whoever may look after each one has no crowd to hide in.",
        "Every person sends one report, drawn independently; reports that an attacker sent hide nobody and do not count as people.",
        "To whoever sees the reports before they are shuffled, the collector too, each one has its own epsilon and no smaller one.",
    ]
