"""Which numbers of a result a claim looks at: a claim that looks at none of them was not compared with anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

MOST = 8
"""So many numbers are shown as they are; of more, this many are shown as examples beside their count."""
NAMES = ("series", "mechanism", "method", "name")
LEVELS = ("epsilon", "x")
CONTAINERS = ("numbers", "rows", "panels", "values", "y")


class Reads:
    """Collects what is read of one result, each number under a name that says where it stands."""

    def __init__(self) -> None:
        self.numbers: dict[str, float] = {}

    def of(self, value: Any, place: tuple[str, ...] = ()) -> Any:
        """The same value, watched; a number is noted as read."""
        if isinstance(value, dict):
            return _Mapping(value, place, self)
        if isinstance(value, list):
            return _Sequence(value, place, self)
        with suppress(TypeError, ValueError):  # infinities are kept as texts
            self.numbers[", ".join(_spelled(part) for part in place if part and part not in CONTAINERS)] = float(value)
        return value

    def shown(self) -> Mapping[str, float]:
        """All of them, or how many there are and a few."""
        if len(self.numbers) <= MOST:
            return dict(self.numbers)
        labels = list(self.numbers)
        chosen = [labels[i * (len(labels) - 1) // (MOST - 1)] for i in range(MOST)]
        return {"numbers compared": float(len(labels))} | {label: self.numbers[label] for label in chosen}


class _Mapping(dict[str, Any]):
    """A dictionary that notes which of its values are read; a row is named by its method and its ε or x."""

    def __init__(self, values: dict[str, Any], place: tuple[str, ...], reads: Reads) -> None:
        super().__init__(values)
        self._place, self._reads = place, reads
        names = [str(values[key]) for key in NAMES if isinstance(values.get(key), str)]
        levels = [f"{'ε' if key == 'epsilon' else key} = {values[key]:.4g}" for key in LEVELS if _is_number(values.get(key))]
        self._row = (*place[:-1], *names, *levels) if names or levels else ()
        if isinstance(values.get("title"), str):
            self._place = (*place[:-1], values["title"])

    def __getitem__(self, key: str) -> Any:
        value = super().__getitem__(key)
        if self._row:
            return value if key in LEVELS else self._reads.of(value, (*self._row, str(key)))
        return self._reads.of(value, (*self._place, str(key)))

    def get(self, key: str, default: Any = None) -> Any:
        try:
            return self[key]
        except KeyError:
            return default

    def values(self) -> Any:
        return [self[key] for key in self]

    def items(self) -> Any:
        return [(key, self[key]) for key in self]


class _Sequence(list[Any]):
    """A list that notes which of its values are read."""

    def __init__(self, values: list[Any], place: tuple[str, ...], reads: Reads) -> None:
        super().__init__(values)
        self._place, self._reads = place, reads

    def __getitem__(self, index: Any) -> Any:
        value = super().__getitem__(index)
        return self._reads.of(value, self._place if isinstance(index, slice) else (*self._place, str(index)))

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))


def _spelled(part: str) -> str:
    """A field's name as words; other labels stay as they are."""
    return part.replace("_", " ") if part.isascii() and part.islower() else part


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
