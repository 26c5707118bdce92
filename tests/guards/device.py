"""A device that is switched on, answers once, and is switched off; run as a program of its own.

    python -m tests.guards.device LEDGER MEMO VALUE DAY

It prints the report it sent, the permanent bits it used and what it has spent. The function that the environment names
(module:function) is called first: it plants a fault.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Mapping
from datetime import date
from typing import Any

from deniable.core import SYSTEM, Categories, OptimizedUnaryEncoding, Rappor
from deniable.surveys import Attribute, Ledger, Memo, MockTransport, Repeated, Session, Survey

FAULT = "DENIABLE_TEST_FAULT"
SIZE = 64
"""Two reports of so many bits are equal by chance with probability below 10**-12."""
WEEKLY = Rappor(domain=Categories(SIZE), epsilon=1, permanent=2)
PERMANENT = Survey(
    title="T",
    purpose="P",
    attributes=(Attribute("it", "What?"),),
    mechanism=OptimizedUnaryEncoding(domain=Categories(SIZE), epsilon=1),
    budget=8,
    repeat="permanent",
    window="day",
)


def answered(ledger: str, memo: str, value: int, day: str) -> dict[str, Any]:
    """What the device sends for this value on this day."""
    transport = MockTransport()
    device = Session(PERMANENT, Ledger(ledger), "http://localhost:1", transport=transport)
    device.answer({"it": value}, today=date.fromisoformat(day))
    repeated = Repeated(WEEKLY, Memo(memo), question="q")
    bodies = [json.loads(body) for _, body, _ in transport.posted]
    return {
        "reports": [body["report"] for body in bodies],
        "keys": [body["key"] for body in bodies],
        "bits": repeated._kept(value, SYSTEM),
        "spent": str(device.ledger.spent()),
        "level": repeated.lifetime_level(),
    }


def check_permanent(days: Mapping[str, tuple[int, dict[str, Any]]]) -> None:
    """Equal values have equal reports and bits on all days, different ones their own; each costs once; keys are new."""
    first: dict[int, tuple[Any, Any]] = {}
    keys: set[str] = set()
    for day, (value, left) in sorted(days.items()):
        assert len(left["reports"]) == 1, f"{len(left['reports'])} reports on {day}"
        known = first.setdefault(value, (left["reports"], left["bits"]))
        assert known == (left["reports"], left["bits"]), f"a permanent answer was drawn afresh on {day}"
        assert (left["spent"], left["level"]) == (str(len(first)), 2.0 * len(first)), f"what was spent by {day} is wrong"
        assert not keys & set(left["keys"]), "a key was used twice"
        keys |= set(left["keys"])
    assert len({str(pair) for pair in first.values()}) == len(first), "different answers share their permanent draw"


if __name__ == "__main__":
    if os.environ.get(FAULT):
        module, _, function = os.environ[FAULT].partition(":")
        getattr(importlib.import_module(module), function)()
    own, kept, given, today = sys.argv[1:]
    print(json.dumps(answered(own, kept, int(given), today)))
