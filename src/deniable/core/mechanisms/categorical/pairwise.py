"""Any table of integers that promises a level of its own to every pair of categories: what a design for unequal privacy returns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

from deniable.core.channels.table import Table
from deniable.core.domains.categories import Categories
from deniable.core.exact.epsilon import Epsilon, EpsilonLike
from deniable.core.exact.numbers import as_index
from deniable.core.mechanisms.categorical_base import CategoricalMechanism
from deniable.core.mechanisms.privacy import Privacy
from deniable.errors import InvalidParameter

MOST_WEIGHTS = 1 << 20
MOST_SHOWN = 64


@dataclass(frozen=True, kw_only=True, repr=False)
class Pairwise(CategoricalMechanism):
    """Answer by a table of weights, with a privacy level of its own for every pair of categories.

    Law: category x gives answer y with weight `rows[x][y]`; all rows have one sum.
    Guarantee: P(y | x) <= e**levels[x][x'] P(y | x') for every pair with a level, decided in integers by the certificate. Where
    some pair has none (None), it is NOT epsilon-LDP for all pairs. epsilon is the largest level that is promised.
    Cost: one draw, log2(answers) bits on the wire. `deniable.planning.design_unequal` finds the best table.
    Source: this project; unequal levels: Murakami and Kawamoto 2019, Gu et al. 2020, Acharya et al. 2020.

    >>> line = Pairwise(domain=Categories(2), epsilon=1, levels=[[None, "1/2"], [1, None]], rows=[[3, 5], [2, 6]])
    >>> line.certificate().holds, line.certificate().pair.level
    (True, Epsilon(0.5))
    """

    levels: Sequence[Sequence[EpsilonLike | None]]
    rows: Sequence[Sequence[int]]
    name: ClassVar[str] = "pairwise"
    source: ClassVar[str] = "this project"

    def __post_init__(self) -> None:
        super().__post_init__()
        promise = Privacy(self.levels)
        if promise.size != self.domain.size:
            raise InvalidParameter(f"levels must be a square table for the {self.domain.size} categories")
        if self.privacy != promise.largest:
            raise InvalidParameter(f"epsilon must be the largest level that is promised: {promise.largest}")
        object.__setattr__(self, "levels", promise.levels)
        object.__setattr__(self, "rows", _whole(self.rows, self.domain.size))

    @classmethod
    def from_recipe(cls, recipe: dict[str, Any], *, allow_large: bool = False) -> Self:
        """Rebuild; every level is held to the same bound as epsilon."""
        parameters = dict(recipe["parameters"])
        parameters["levels"] = [
            [None if level is None else Epsilon(level, allow_large=allow_large) for level in row] for row in parameters["levels"]
        ]
        return super().from_recipe({**recipe, "parameters": parameters}, allow_large=allow_large)

    @cached_property
    def promise(self) -> Privacy:
        """The levels, with what follows from them."""
        return Privacy(self.levels)

    def build(self) -> Table:
        """The rows as they are."""
        return Table(self.rows)

    def decode(self, output: int) -> int | str:
        """The category for which the answer is likeliest."""
        self.channel.check(0, output)
        weights = [row[output] for row in self.rows]
        return self.domain.decode(weights.index(max(weights)))

    def __repr__(self) -> str:
        if self.domain.size * len(self.rows[0]) <= MOST_SHOWN:
            return super().__repr__()
        return f"Pairwise(domain={self.domain!r}, epsilon={self.privacy}, rows=<{self.domain.size} x {len(self.rows[0])}> …)"

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A coin whose sides differ, neighbours on a line, sensitive values beside another one, and two groups."""
        yield cls(domain=Categories(2), epsilon=1, levels=[[None, "1/2"], [1, None]], rows=[[3, 5], [2, 6]])
        line = Privacy.metric([0, 1, 2], 1)
        yield cls(
            domain=Categories(["low", "middle", "high"]), epsilon=2, levels=line.levels, rows=[[14, 4, 2], [6, 10, 4], [4, 6, 10]]
        )
        some = Privacy.sensitive(3, [0, 1], 1)
        yield cls(domain=Categories(3), epsilon=1, levels=some.levels, rows=[[5, 2, 0], [2, 5, 0], [2, 2, 3]])
        groups = Privacy.blocks([[0, 1], [2, 3]], "1/2")
        rows = [[8, 5, 0, 0], [5, 8, 0, 0], [0, 0, 8, 5], [0, 0, 5, 8]]
        yield cls(domain=Categories(4), epsilon="1/2", levels=groups.levels, rows=rows)


def _whole(rows: Any, size: int) -> tuple[tuple[int, ...], ...]:
    rule = f"rows must be a table of whole numbers, one row for each of the {size} categories"
    if isinstance(rows, str) or not isinstance(rows, Sequence) or len(rows) != size:
        raise InvalidParameter(rule)
    checked = []
    for row in rows:
        numbers = [] if isinstance(row, str) or not isinstance(row, Sequence) else [as_index(weight) for weight in row]
        if len(numbers) < 2 or size * len(numbers) > MOST_WEIGHTS or any(weight is None or weight < 0 for weight in numbers):
            raise InvalidParameter(f"{rule}, at least two of them in each and at most {MOST_WEIGHTS} in all")
        checked.append(tuple(weight for weight in numbers if weight is not None))
    return tuple(checked)
