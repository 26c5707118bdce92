"""Test vectors every implementation must reproduce: coins, value, index, output, report bytes, sums.

One file for each mechanism of this package, one of coins and one of domains, in spec/vectors; spec/README.md says what is in them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from deniable.batch import accumulator_for
from deniable.core import (
    Ball,
    Binary,
    Bins,
    Categories,
    Circle,
    Disc,
    Domain,
    Interval,
    ItemSet,
    KeyValue,
    Mechanism,
    Parallelogram,
    Points,
    Polygon,
    Rectangle,
    Sphere,
    Text,
    Whole,
    below_from_bytes,
    built_in_names,
    encode_report,
    encode_reports,
    mechanism_class,
)
from deniable.errors import NotSupported
from deniable.privacy.conformance.values import awkward_values, few_values

FORMAT, VERSION = "deniable-vectors", 1
MOST_TEXT = 5_000
"""Characters of a compiled channel, and bytes of its sums: vectors are small enough to read."""
EXAMPLES = 2
AWKWARD = 4
DRAWS = 2


class RecordingCoins:
    """Repeatable coins that remember the bytes they used: SHA-256 of a name and a counter.

    >>> coins = RecordingCoins("a"); drawn = coins.below(6)
    >>> len(coins.used) >= 1 and drawn < 6
    True
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._stream = b""
        self._block = 0
        self.used = b""

    def _take(self, count: int) -> bytes:
        while len(self._stream) < count:
            self._stream += hashlib.sha256(f"{self._name} {self._block}".encode()).digest()
            self._block += 1
        taken, self._stream = self._stream[:count], self._stream[count:]
        self.used += taken
        return taken

    def below(self, n: int) -> int:
        """The integer in [0, n) that the next bytes give."""
        return below_from_bytes(n, self._take)


def tried_values(mechanism: Mechanism) -> list[Any]:
    """Ordinary values, and a few where rounding could go wrong."""
    awkward = awkward_values(mechanism.domain)
    return few_values(mechanism.domain) + [awkward[place * (len(awkward) - 1) // (AWKWARD - 1)] for place in range(AWKWARD)]


def example_vectors(mechanism: Mechanism) -> dict[str, Any]:
    """One recipe, a few draws with the bytes of their coins, and the sums after all of them."""
    ratio = mechanism.channel.max_ratio()
    cases, reports = [], []
    for place, value in enumerate(value for value in tried_values(mechanism) for _ in range(DRAWS)):
        coins = RecordingCoins(f"{mechanism.fingerprint} {place}")
        report = mechanism.randomize(value, coins)
        reports.append(report)
        cases.append(
            {
                "value": value,
                "coins": coins.used.hex(),
                "index": mechanism.encode(value),
                "output": report.output,
                "report": encode_report(mechanism, report).hex(),
            }
        )
    try:
        sums = accumulator_for(mechanism).add(reports).to_bytes().hex()
    except NotSupported:
        sums = None
    return {
        "mechanism": mechanism.recipe(),
        "channel": mechanism.channel.compiled(),
        "fingerprint": mechanism.fingerprint,
        "ratio": None if ratio is None else str(ratio),
        "cases": cases,
        "batch": encode_reports(mechanism, reports).hex(),
        "sums": sums,
    }


def small_examples(cls: type[Mechanism]) -> Iterator[Mechanism]:
    """The first examples whose integers are few enough to read; always at least one."""
    given = 0
    for mechanism in cls.examples():
        size = max(len(json.dumps(mechanism.channel.compiled())), _sum_bytes(mechanism))
        if size <= MOST_TEXT or not given:
            given += 1
            yield mechanism
        if given == EXAMPLES:
            return


def _sum_bytes(mechanism: Mechanism) -> int:
    try:
        return len(accumulator_for(mechanism).to_bytes())
    except NotSupported:
        return 0


def mechanism_vectors(cls: type[Mechanism]) -> dict[str, Any]:
    """The whole file of one registered mechanism."""
    examples = [example_vectors(mechanism) for mechanism in small_examples(cls)]
    return {"format": FORMAT, "version": VERSION, "name": cls.name, "examples": examples}


def vectors_text(cls: type[Mechanism]) -> str:
    """That file's text: one line per case, so that a change is easy to see."""
    document = mechanism_vectors(cls)
    lines = [f'{{"format": "{FORMAT}", "version": {VERSION}, "name": {json.dumps(document["name"])}, "examples": [']
    for number, example in enumerate(document["examples"]):
        lines.append("{")
        lines += [f'  "{name}": {_written(example[name])},' for name in ("mechanism", "channel", "fingerprint", "ratio")]
        lines.append('  "cases": [')
        lines.append(",\n".join(f"    {_written(case)}" for case in example["cases"]))
        lines += ["  ],", f'  "batch": {_written(example["batch"])},', f'  "sums": {_written(example["sums"])}']
        lines.append("}" if number + 1 == len(document["examples"]) else "},")
    return "\n".join([*lines, "]}", ""])


COIN_BOUNDS = [1, 2, 3, 5, 6, 10, 255, 256, 257, 1000, 2**16, 2**31 + 1, 2**32 + 1, 2**52 + 1, 2**53 - 1, 2**53, 2**53 + 1]
COIN_BOUNDS += [2**64 - 1, 2**64 + 1, 3**50, 2**127 - 1, 10**60]
DOMAINS: list[Domain] = [
    Binary(),
    Categories(7),
    Categories(["café", "thé", "\U0001f6b2"]),
    Bins([-1, 0, "1/3", 2.5, 40]),
    Interval(0, 1, cells=10),
    Interval("1/3", "22/7", cells=1000),
    Interval(-5, 1e6),
    Circle(cells=360),
    Circle(24, cells=48),
    Rectangle(Interval(0, 3, cells=6), Interval(-1, 1, cells=5)),
    Disc((0.5, -2), "3/2", cells=16),
    Polygon([(0, 0), (4, 1), (3, 5), (2, 2), ("-1/3", 4)], cells=17),
    Parallelogram((1, 1), (4, "1/3"), (-1, 2), cells=(7, 5)),
    Sphere(Interval(-60, 75, cells=9), cells=24),
    Points([("1/10", "1/5"), (0, 0), (3, 4.5)]),
    Ball(4, radius="3/2"),
    Ball(3, norm="max"),
    Text(5),
    Whole(64),
    ItemSet(["café", "thé", "\U0001f6b2", "x"], at_most=2),
    ItemSet([f"item {number}" for number in range(40)], at_most=5),
    KeyValue(["mail", "maps", "chat"], Interval(-1, "1/3", cells=5), at_most=2),
]
WORDS = ["", "a", "abcde", "é", "日a", "\U0001f6b2"]


def coin_vectors() -> dict[str, Any]:
    """What below(n) gives for a row of bounds, one after the other, and the bytes that were read."""
    coins = RecordingCoins("coins")
    answers = [coins.below(n) for n in COIN_BOUNDS * 8]
    return {
        "format": "deniable-coins",
        "version": VERSION,
        "bounds": COIN_BOUNDS * 8,
        "bytes": coins.used.hex(),
        "answers": answers,
    }


def domain_vectors() -> dict[str, Any]:
    """Values and their indices, on every kind of domain that is not made of others."""
    listed = []
    for domain in DOMAINS:
        values = WORDS if isinstance(domain, Text) else few_values(domain) + awkward_values(domain)
        listed.append(
            {"domain": domain.recipe(), "size": domain.size, "cases": [[value, domain.encode(value)] for value in values]}
        )
    return {"format": "deniable-domains", "version": VERSION, "domains": listed}


def all_texts() -> Iterator[tuple[str, str]]:
    """Every file's name and text."""
    yield "coins.json", json.dumps(coin_vectors(), indent=None) + "\n"
    domains = domain_vectors()
    lines = ",\n".join(_written(item) for item in domains.pop("domains"))
    yield "domains.json", f'{_written(domains)[:-1]}, "domains": [\n{lines}\n]}}\n'
    for name in built_in_names():
        yield f"{name}.json", vectors_text(mechanism_class(name))


def _written(value: Any) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False)
