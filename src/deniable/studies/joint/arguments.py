"""Arguments that many joint questions share: how many users, colluders and ones."""

from __future__ import annotations

from deniable.core import as_index
from deniable.errors import InvalidParameter

MOST_USERS = 10**9


def check_users(n: object, leftover: bool = False) -> int:
    """The number of seats: n, or n + 1 with one empty when n is odd and `leftover` says that this is meant.

    The leftover user of an odd n is chosen at random and answers by plain randomized response; for every
    formula that is the same as a partner who never answers.
    """
    users = as_index(n)
    if users is None or not 2 <= users <= MOST_USERS:
        raise InvalidParameter(f"n must be a whole number of users, 2 to {MOST_USERS}")
    if users % 2 and not leftover:
        raise InvalidParameter(
            "n must be even, because users answer in pairs; with leftover=True (--leftover) "
            "the last user, chosen at random, answers alone by plain randomized response"
        )
    return users + users % 2


def check_colluders(m: object, n: int) -> int:
    """0 to n - 1 colluders: at least one user has to be honest."""
    colluders = as_index(m)
    if colluders is None or not 0 <= colluders < n:
        raise InvalidParameter(f"m, the number of colluders, must be a whole number from 0 to n - 1 = {n - 1}")
    return colluders


def check_ones(ones: object, n: int, name: str = "ones") -> int:
    """0 to n users hold the value."""
    count = as_index(ones)
    if count is None or not 0 <= count <= n:
        raise InvalidParameter(f"{name} must be a whole number from 0 to n = {n}")
    return count
