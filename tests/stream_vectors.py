"""Test vectors of streams: what a device sends, period after period, from which coins; and what is kept and spent on the way.

`streams` are the classes of deniable.core, `devices` are clients of a survey that repeats. spec/README.md says what is in them.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

from tests.vectors import RecordingCoins

from deniable.core import (
    Categories,
    FreshReports,
    KeptAnswer,
    KeptBits,
    Mechanism,
    RandomizedResponse,
    RandomPeriod,
    Stream,
    TakingTurns,
    TreeOfChanges,
    WhenAsked,
    make_mechanism,
)
from deniable.errors import BudgetSpent
from deniable.surveys import Ledger, MockTransport, Session, Survey, survey_from_toml
from deniable.surveys import ledger as ledger_module
from deniable.surveys import session as session_module

FORMAT, VERSION = "deniable-streams", 1
COIN = RandomizedResponse(epsilon=1)
FOUR: Mechanism = make_mechanism("k-rr", domain=Categories(4), epsilon=1)
STREAMS: list[Stream] = [
    FreshReports(4, COIN),
    FreshReports(3, FOUR),
    TakingTurns(6, FOUR, turns=3),
    RandomPeriod(5, COIN),
    WhenAsked(5, COIN, window=3, parts=6, asked=(1, 1, 4, 2)),
    KeptAnswer(2, 3, epsilon=1, permanent=2),
    KeptBits(4, 4, bits=2, epsilon=2),
    KeptBits(3, 3, bits=1, epsilon=2, flips="1/5"),
    TreeOfChanges(8, changes=2, epsilon=1),
    TreeOfChanges(6, changes=3, epsilon=1),
]
ROWS = 3
"""Rows of values for every stream."""
SURVEY = """
title = "How people travel"
purpose = "To plan bus lines."
epsilon = 1
budget = 4
window = "day"
repeat = "each-window"
opens = "2026-11-02"
closes = "2026-11-08"
[attributes.travel]
question = "How did you travel today?"
domain = "categories:bike,bus,car"
"""
REPEATS = ("each-window", "turns:3", "random-window", "kept:2", "permanent", "changes:2")
ANSWERS = ("bus", "bus", "bike", "bus", "car", "bike", "bus")
YES_OR_NO = (False, True, True, None, True, False, False)
"""What a survey of changes is answered; on one day the device is away."""
FIRST = date(2026, 11, 2)


def values_of(stream: Stream, row: int) -> list[int]:
    """One that stays, one that changes, and one that takes turns."""
    return [[0, period * 2 // stream.periods, period % 2][row] % stream.values for period in range(stream.periods)]


def described(stream: Stream) -> dict[str, Any]:
    """The class and its numbers; a mechanism by its recipe."""
    named: dict[str, Any] = {"kind": type(stream).__name__}
    for name in stream.__dataclass_fields__:
        given = getattr(stream, name)
        named[name] = given.recipe() if isinstance(given, Mechanism) else list(given) if isinstance(given, tuple) else _plain(given)
    return named


def _plain(given: Any) -> Any:
    return given if isinstance(given, int) else str(getattr(given, "exact", given))


def stream_vectors(stream: Stream) -> dict[str, Any]:
    """One stream: rows of values, the coins of every period and what was sent, with the exact weight of the whole row."""
    cases = []
    for row in range(ROWS):
        values, coins = values_of(stream, row), RecordingCoins(f"{stream!r} {row}")
        memory = stream.start(coins)
        read = [coins.used]
        outputs = []
        for period, value in enumerate(values):
            outputs.append(stream.report(memory, period, value, coins))
            read.append(coins.used)
        spans = [after[len(before) :].hex() for before, after in zip([b"", *read], read, strict=False)]
        weight = str(stream.weight(values, outputs))
        cases.append({"values": values, "start": spans[0], "coins": spans[1:], "outputs": outputs, "weight": weight})
    loss = stream.window(min(2, stream.periods)).ratio
    return {
        "stream": described(stream),
        "total": str(stream.total),
        "two_periods": None if loss is None else str(loss),
        "cases": cases,
    }


def repeating(repeat: str) -> Survey:
    """The survey, with another way of repeating; one of changes asks for a yes or no."""
    if repeat.startswith("changes:"):
        asked = SURVEY.replace("categories:bike,bus,car", "binary").replace("budget = 4\n", "").replace("each-window", repeat)
        return survey_from_toml(asked)
    return replace(survey_from_toml(SURVEY), repeat=repeat)


def device_vectors(repeat: str) -> dict[str, Any]:
    """One client of a survey over a week: the coins of every day, the report or silence, and what it spent."""
    survey, days = repeating(repeat), []
    with tempfile.TemporaryDirectory() as folder:
        ledger, transport = Ledger(Path(folder) / "ledger.db"), MockTransport()
        device = Session(survey, ledger, "http://127.0.0.1", transport=transport)
        for number, answer in enumerate(ANSWERS if survey.changes is None else YES_OR_NO):
            if answer is None:
                continue
            coins, today = RecordingCoins(f"{repeat} {number}"), FIRST + timedelta(days=number)
            before = len(transport.posted)
            refused = False
            with mock.patch.object(session_module, "SYSTEM", coins), mock.patch.object(ledger_module, "SYSTEM", coins):
                try:
                    device.answer({"travel": answer}, today=today)
                except BudgetSpent:
                    refused = True
            sent = transport.posted[before:]
            days.append(
                {
                    "day": today.isoformat(),
                    "answer": answer,
                    "coins": coins.used.hex(),
                    "report": json.loads(sent[0][1])["report"] if sent else None,
                    "refused": refused,
                    "spent": str(ledger.spent(survey.hash)),
                }
            )
    return {"survey": json.loads(survey.to_json()), "hash": survey.hash, "days": days}


def stream_texts() -> Iterator[tuple[str, str]]:
    """The file's name and text: one line per case, so that a change is easy to see."""
    streams = ",\n".join(_written(stream_vectors(stream)) for stream in STREAMS)
    devices = ",\n".join(_written(device_vectors(repeat)) for repeat in REPEATS)
    head = f'{{"format": "{FORMAT}", "version": {VERSION}, "streams": ['
    yield "streams.json", f'{head}\n{streams}\n], "devices": [\n{devices}\n]}}\n'


def _written(value: Any) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False)
