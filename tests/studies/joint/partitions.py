"""All groupings of a few users, to try each of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator


def partitions(users: list[int], size: int) -> Iterator[list[tuple[int, ...]]]:
    """Every way to put the users into groups of one size."""
    if not users:
        yield []
        return
    for chosen in itertools.combinations(users[1:], size - 1):
        rest = [user for user in users[1:] if user not in chosen]
        for others in partitions(rest, size):
            yield [(users[0], *chosen), *others]
