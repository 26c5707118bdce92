"""The exact law of a sampler, by trying every answer its coins could give."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import TypeVar

from deniable.core import Coins

Output = TypeVar("Output", bound=Hashable)


class _Odometer:
    """Coins that run through all sequences of answers, in order."""

    def __init__(self, prefix: list[int]) -> None:
        self.answers = prefix
        self.asked: list[int] = []

    def below(self, n: int) -> int:
        place = len(self.asked)
        if place == len(self.answers):
            self.answers.append(0)
        self.asked.append(n)
        return self.answers[place]


def exact_law(draw: Callable[[Coins], Output], *, most: int = 1_000_000) -> dict[Output, Fraction]:
    """Every output of `draw(coins)` with its exact probability; gives up after `most` runs.

    Stronger than any statistic: there is no false alarm and no missed fault. Only for samplers that
    ask for small numbers.

    >>> exact_law(lambda coins: coins.below(2) + coins.below(2))
    {0: Fraction(1, 4), 1: Fraction(1, 2), 2: Fraction(1, 4)}
    """
    law: dict[Output, Fraction] = {}
    prefix: list[int] = []
    for _ in range(most):
        coins = _Odometer(prefix)
        output = draw(coins)
        chance = Fraction(1)
        for n in coins.asked:
            chance /= n
        law[output] = law.get(output, Fraction(0)) + chance
        prefix = coins.answers[: len(coins.asked)]
        while prefix and prefix[-1] + 1 == coins.asked[len(prefix) - 1]:
            prefix.pop()
        if not prefix:
            return law
        prefix[-1] += 1
    raise ValueError(f"the sampler has more than {most} sequences of coins; choose smaller weights")
