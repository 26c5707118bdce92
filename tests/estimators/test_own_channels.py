"""Categories reported by a channel that is neither two-level nor a table: its weights are inverted like a table's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import pytest

from deniable.batch import accumulator_for, randomize_many
from deniable.core import Categories, Channel, Mechanism, Profile, Report, Table, make_mechanism
from deniable.errors import NotSupported
from deniable.estimators import answers, likely_shares, shares
from deniable.estimators.table_decoder import TableDecoder
from deniable.privacy import FixedKeystream

SEEN = [0] * 5 + [1] * 9 + [2] * 21 + [3] * 19 + [4] * 26


@dataclass(frozen=True, kw_only=True, repr=False)
class Graded(Mechanism):
    """Grades, of which near ones are confused more easily than far ones."""

    domain: Categories = Categories(5)
    name: ClassVar[str] = "graded"

    def build(self) -> Channel:
        return Profile([1, 2, 4, 8, 16, 8, 4, 2, 1], first=-4, inputs=self.domain.size)

    def decode(self, output: int) -> int | str:
        return self.domain.decode(output)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(epsilon=4)


class Written(Graded):
    """The same law as a table."""

    def build(self) -> Channel:
        channel = super().build()
        return Table([list(channel.row(index)) for index in range(channel.inputs)])


@pytest.mark.parametrize("kind", [Graded, Written])
def test_shares_of_a_known_population_come_out(kind: type[Graded]) -> None:
    mechanism = kind(epsilon=4)
    people = np.repeat(np.arange(5), [4000, 1000, 0, 3000, 2000])
    estimate = shares(randomize_many(mechanism, people, FixedKeystream("grades")))
    # Five standard errors each way: a false alarm in fewer than one of 10**6 runs; the coins are fixed.
    assert (np.abs(estimate.value - np.bincount(people, minlength=5) / people.size) < 5 * estimate.standard_error).all()


def test_a_channel_and_its_table_give_the_same_numbers() -> None:
    first, second = (
        accumulator_for(mechanism).add([Report(mechanism.fingerprint, output) for output in SEEN])
        for mechanism in (Graded(epsilon=4), Written(epsilon=4))
    )
    questions = np.tril(np.ones((5, 5)))
    for estimator in (shares, likely_shares, lambda sums: answers(sums, questions)):
        mine, theirs = estimator(first), estimator(second)
        assert mine.value == pytest.approx(theirs.value)
        assert np.allclose(mine.interval(0.95), theirs.interval(0.95))


def test_sums_that_are_not_of_outputs_cannot_be_inverted() -> None:
    with pytest.raises(NotSupported, match="not how often each output"):
        TableDecoder(make_mechanism("oue", domain=Categories(5), epsilon=1))


def test_tables_too_large_to_invert_are_refused() -> None:
    with pytest.raises(NotSupported, match="too large"):
        TableDecoder(make_mechanism("k-rr", domain=Categories(1 << 12), epsilon=1))
