"""When the number for shuffled reports holds, in words."""

from __future__ import annotations


def shuffling_conditions(people: int) -> list[str]:
    """What must be true of a deployment before it may claim the epsilon of `people` shuffled reports.

    >>> len(shuffling_conditions(1000))
    4
    """
    crowd = f"{people:,}"
    if people == 1:
        return ["There is no crowd: one report, shuffled or not, has its own epsilon."]
    return [
        f"All {crowd} reports are shuffled before anyone sees one: without their senders and not in the order in which they came.",
        f"They are released only as a whole, all {crowd} together: where numbers are seen after every report, there is no crowd to "
        "hide in.",
        "Every person sends one report, drawn independently; reports that an attacker sent hide nobody and do not count as people.",
        "Against anyone who sees the reports before they are shuffled, including the collector, each one has only its own epsilon.",
    ]
