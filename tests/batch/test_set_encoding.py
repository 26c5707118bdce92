"""Sets and keyed numbers in arrays get exactly the indices that their domains give one by one."""

from __future__ import annotations

from decimal import Decimal
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from deniable.batch.digits import WIDE
from deniable.batch.encoding import as_array, encode_many
from deniable.core import Interval, ItemSet, KeyValue, make_mechanism
from deniable.errors import OutOfDomain

DOMAINS = [ItemSet(5, at_most=3), ItemSet(["a", "b", "c", "d"], at_most=2), ItemSet(7, at_most=7)]
KEYED = [
    KeyValue(3, Interval(0, 1, cells=4), at_most=2),
    KeyValue(["x", "y", "z"], Interval(-2, 5, cells=7), at_most=3),
    KeyValue(4, Interval("1/4", 2, cells=3), at_most=1),
]


def _encoded(domain: Any, values: Any) -> list[int]:
    mechanism: Any = make_mechanism("padding-sampling" if isinstance(domain, ItemSet) else "pckv-grr", domain=domain, epsilon=1)
    return [int(index) for index in encode_many(mechanism, values)]


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_every_set_in_any_order_has_its_own_index(domain: ItemSet) -> None:
    sets = [list(one) for size in range(domain.at_most + 1) for one in combinations(domain.labels, size)]
    sets += [one[::-1] for one in sets]
    assert _encoded(domain, sets) == [domain.encode(one) for one in sets]
    assert sorted(_encoded(domain, sets[: len(sets) // 2])) == list(range(domain.size))
    assert _encoded(domain, [set(one) for one in sets]) == [domain.encode(one) for one in sets]


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_a_table_of_yes_and_no_says_the_same(domain: ItemSet) -> None:
    rows = np.array([[item in domain.decode(index) for item in domain.labels] for index in range(domain.size)])
    assert _encoded(domain, rows) == list(range(domain.size))


@pytest.mark.parametrize("domain", KEYED, ids=repr)
def test_every_map_has_its_own_index_from_mappings_and_from_a_table(domain: KeyValue) -> None:
    maps = [domain.decode(index) for index in range(domain.size)]
    turned = [dict(reversed(one.items())) for one in maps]
    assert _encoded(domain, maps) == _encoded(domain, turned) == list(range(domain.size))
    table = np.array([[one.get(key, np.nan) for key in domain.labels] for one in maps])
    assert _encoded(domain, table) == list(range(domain.size))


@pytest.mark.parametrize("domain", KEYED, ids=repr)
def test_numbers_between_points_go_where_the_exact_path_puts_them(domain: KeyValue) -> None:
    draws = np.random.default_rng(7)
    low, high = float(domain.values.low) + 1e-9, float(domain.values.high)
    step = (high - low) / domain.values.cells
    near = [low + step * (i + 0.5) + off for i in range(domain.values.cells) for off in (-1e-16, 0.0, 1e-16, 1e-9)]
    numbers = [*draws.uniform(low, high, 50).tolist(), *[n for n in near if n <= high], high, round(high)]
    key = domain.labels[0]
    maps = [{key: number} for number in numbers]
    assert _encoded(domain, maps) == [domain.encode(one) for one in maps]
    assert _encoded(domain, [{key: Decimal("1.5") / 2}]) == [domain.encode({key: Decimal("0.75")})]  # not a float: one by one


def test_indices_beyond_machine_words_are_the_same_too() -> None:
    many, keyed = ItemSet(60, at_most=30), KeyValue(40, Interval(0, 1, cells=1 << 20), at_most=6)
    assert many.size < WIDE < keyed.size
    sets = [list(range(0, 60, 2)), [59], [], list(range(30, 60))]
    assert _encoded(many, sets) == [many.encode(one) for one in sets]
    wide = ItemSet(200, at_most=40)
    assert _encoded(wide, sets) == [wide.encode(one) for one in sets]
    maps: list[dict[Any, float]] = [{39: 0.25, 3: 1.0, 7: 0.125}, {}, {0: 0.5}]
    assert _encoded(keyed, maps) == [keyed.encode(one) for one in maps]
    table = np.full((3, 40), np.nan)
    for row, one in zip(table, maps, strict=True):
        row[list(one)] = list(one.values())
    assert _encoded(keyed, table) == [keyed.encode(one) for one in maps]


@pytest.mark.parametrize(
    "sets",
    [[[0, 0]], [[0, 5]], [[-1]], [[0, 1, 2, 3]], [[True]], [["0"]], ["01"], [{0: 1}], [[1 << 70]], [[0.0]], [None], [[0], 3]],
    ids=repr,
)
def test_what_is_not_a_set_of_items_is_refused(sets: list[Any]) -> None:
    with pytest.raises(OutOfDomain) as refused:
        _encoded(ItemSet(5, at_most=3), sets)
    assert refused.value.__cause__ is None
    assert refused.value.__context__ is None


@pytest.mark.parametrize(
    "maps",
    [
        [{0: 1.5}],
        [{0: float("nan")}],
        [{0: -0.001}],
        [{3: 0.5}],
        [{0: 0.5, 1: 0.5, 2: 0.5}],
        [{0: True}],
        [{0: "0.5"}],
        [{True: 0.5}],
        [{0: 10**400}],
        [[0, 1]],
        [None],
    ],
    ids=repr,
)
def test_what_is_not_a_map_of_keys_is_refused(maps: list[Any]) -> None:
    with pytest.raises(OutOfDomain) as refused:
        _encoded(KEYED[0], maps)
    assert refused.value.__cause__ is None
    assert refused.value.__context__ is None


@pytest.mark.parametrize(
    ("domain", "table", "words"),
    [
        (KEYED[0], np.zeros((2, 4)), "a column of numbers for every key"),
        (KEYED[0], np.zeros((2, 3), np.int64), "a column of numbers for every key"),
        (KEYED[0], np.zeros((2, 3)), "more than 2 keys"),
        (KEYED[0], np.array([[np.nan, 4711.25, np.nan]]), "outside"),
        (KEYED[0], np.array([[np.nan, np.inf, np.nan]]), "outside"),
        (DOMAINS[0], np.zeros((2, 5)), "a column of yes and no for every item"),
        (DOMAINS[0], np.ones((2, 5), np.bool_), "more than 3 items"),
    ],
)
def test_tables_that_do_not_fit_are_refused(domain: Any, table: Any, words: str) -> None:
    with pytest.raises(OutOfDomain, match=words) as refused:
        _encoded(domain, table)
    assert "4711" not in str(refused.value)
    assert refused.value.__context__ is None


def test_lists_of_maps_are_kept_as_they_came() -> None:
    mechanism: Any = make_mechanism("pckv-ue", domain=KEYED[0], epsilon=1)
    assert as_array(mechanism, [{0: 0.5}, {}]).dtype == object
    assert len(encode_many(mechanism, [])) == 0
