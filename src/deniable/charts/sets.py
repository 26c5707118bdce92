"""Sets of items and keys with numbers: how likely a report names each of them, for a few private values."""

from __future__ import annotations

from typing import Any

from deniable.charts.heat import MOST_COLUMNS, MOST_ROWS, heat
from deniable.charts.theme import themed
from deniable.core import ItemSet, KeyValue, Mechanism

MOST_HELD, MOST_ITEMS, MOST_KEYS = 3, 8, 3


def set_chart(mechanism: Mechanism) -> Any:
    """Rows are private values: no item, one, two …; columns are what a report names."""
    domain, channel = mechanism.domain, mechanism.channel
    title = f"{mechanism.name} at ε = {mechanism.privacy}"
    if isinstance(domain, KeyValue):
        if channel.signs() is None:
            subtitle = f"how likely a report names a key with a number; people have at most {domain.at_most} keys"
            return themed(_pairs(mechanism, domain), title=title, subtitle=subtitle)
        return themed(
            _keys(mechanism, domain), title=title, subtitle="how likely a report shows a key with one end of its interval"
        )
    assert isinstance(domain, ItemSet)
    if channel.padded is not None:
        chart = _items(mechanism, domain)
        return themed(chart, title=title, subtitle=f"how likely a report names each item; people have at most {domain.at_most}")
    p, q = map(float, channel.support() or (0, 0))
    sets = [_named(domain.decode(index)) for index in range(min(domain.size, MOST_ROWS, MOST_COLUMNS))]
    table = [[p if mine == listed else q for listed in sets] for mine in sets]
    return themed(heat(sets, sets, table, "set that the report lists"), title=title, subtitle=f"a report lists {channel.ones} sets")


def _items(mechanism: Mechanism, domain: ItemSet) -> Any:
    held, other = (float(mechanism.channel.naming(own, 1) or 0) for own in (1, 0))
    labels = [str(label) for label in domain.labels[:MOST_ITEMS]]
    sizes = range(min(domain.at_most, MOST_HELD, len(labels)) + 1)
    rows = [_named(labels[:size]) for size in sizes]
    return heat(rows, labels, [[held if i < size else other for i in range(len(labels))] for size in sizes], "item in the report")


def _keys(mechanism: Mechanism, domain: KeyValue) -> Any:
    signs, most = mechanism.channel.signs(), domain.keys.at_most
    assert signs is not None
    agree, differ, other = map(float, signs)
    # One of the places is picked; the others look like those that nobody holds.
    same, opposite = ((one + other * (most - 1)) / most for one in (agree, differ))
    labels = [str(label) for label in domain.keys.labels[:MOST_KEYS]]
    columns = [f"{label} {end}" for label in labels for end in ("high", "low")]
    rest = [other] * (len(columns) - 2)
    rows = ["nothing", f"{labels[0]} at its highest", f"{labels[0]} at its lowest"]
    return heat(rows, columns, [[other, other, *rest], [same, opposite, *rest], [opposite, same, *rest]], "what a report shows")


def _pairs(mechanism: Mechanism, domain: KeyValue) -> Any:
    held, other = (float(mechanism.channel.naming(own, 1) or 0) for own in (1, 0))
    step = float(domain.values.width) / domain.values.cells
    numbers = [f"{float(domain.values.low) + step * place:g}" for place in range(domain.grid.size)]
    columns = [f"{label}: {number}" for label in domain.keys.labels[:MOST_KEYS] for number in numbers][:MOST_COLUMNS]
    rows = ["nothing", *columns[: min(len(numbers), MOST_ROWS - 1)]]
    return heat(rows, columns, [[held if mine == named else other for named in columns] for mine in rows], "pair in the report")


def _named(members: Any) -> str:
    return ", ".join(map(str, members)) or "nothing"
