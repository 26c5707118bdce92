"""What a device goes through: answers, lost connections, refusals, later deliveries."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from tests.guards.emissions import Left, Run, run
from tests.guards.wire_tap import WireTap

from deniable.core import Ball, Mechanism, Record, mechanism_class
from deniable.privacy import FixedCoins
from deniable.privacy.conformance.values import few_values
from deniable.surveys import Attribute, Ledger, Patience, Session, Survey

Answers = Mapping[str, Any]
SCRIPT: tuple[int | None, ...] = (None, 503, 200, None, 429, None, None, None, 503, 200, 400)
"""Day 1: lost, later, counted. Days 2 and 3: not delivered. Then both together: not delivered, counted. Day 4: refused for good."""


def least_private(name: str) -> Mechanism:
    """The example of a mechanism with the least epsilon."""
    return min(mechanism_class(name).examples(), key=lambda mechanism: float(mechanism.privacy))


def survey_of(mechanism: Mechanism, repeat: str = "each-window") -> Survey:
    """A daily survey by this mechanism, with enough budget for four days."""
    domain = mechanism.domain
    asked = list(domain.fields) if isinstance(domain, Record) and mechanism.name in ("product", "sample-one", "rs-fd") else ["it"]
    return Survey(
        title="A question",
        purpose="To know.",
        attributes=tuple(Attribute(name, "What is it?") for name in asked),
        mechanism=mechanism,
        budget=4 * mechanism.privacy.exact,
        repeat=repeat,
        window="day",
    )


def answers_of(survey: Survey, most: int = 4) -> list[Answers]:
    """A few answers that differ: both ends, an odd and an even one among them; all of them in small domains."""
    domain = survey.mechanism.domain
    last = domain.size - 1
    chosen = (
        range(last + 1) if last < most else sorted({0, 1, last, *(place * last // (most - 1) | 1 for place in range(1, most - 2))})
    )
    # Most indices of a ball lie outside it.
    values = few_values(domain)[:most] if isinstance(domain, Ball) else [domain.decode(index) for index in chosen]
    return [value if survey.strategy is not None else {survey.names[0]: value} for value in values]


def an_output(mechanism: Mechanism) -> int:
    """One that every input can give."""
    return mechanism.channel.draw(0, FixedCoins(1))


def life(survey: Survey, answers: Answers, first: date = date(2026, 3, 1)) -> Callable[[Run], None]:
    """Everything a session does in its life, all with one answer."""

    def scenario(seen: Run) -> None:
        assert seen.tap is not None
        seen.tap.begin(survey.to_json(), SCRIPT)
        ledger = Ledger(seen.folder / "ledger.db", limit=20)
        # Two attempts while nobody answers, three on the first day.
        accepts = None if survey.mechanism.protects_all else survey.mechanism.promise
        device = Session.open(seen.tap.address, survey.hash, ledger, patience=Patience(attempts=3), accepts=accepts)
        hasty = Session(device.survey, ledger, seen.tap.address, patience=Patience(attempts=2), accepts=accepts)
        days = [first.replace(day=first.day + after) for after in range(5)]
        seen.show(device, ledger, device.survey)
        seen.attempt(device.explain)
        seen.attempt(lambda: device.answer(answers, today=days[0]))
        seen.attempt(lambda: device.answer(answers, today=days[0]))
        for day in days[1:3]:
            seen.attempt(lambda day=day: hasty.answer(answers, today=day))  # type: ignore[misc]
        seen.show(ledger.pending())
        seen.attempt(hasty.deliver)
        seen.attempt(hasty.deliver)
        seen.attempt(lambda: device.answer(answers, today=days[3]))
        seen.attempt(lambda: device.answer(answers, today=days[4]))  # the budget is spent
        seen.attempt(lambda: device.answer({}, today=days[4]))
        seen.show(device, hasty, ledger, ledger.spent(), ledger.pending())

    return scenario


def lives(survey: Survey, answers: list[Answers], folder: Path, tap: WireTap) -> dict[int, Left]:
    """What each answer leaves, all draws having the same output."""
    output = an_output(survey.mechanism)
    run(life(survey, answers[0]), folder, tap=tap, output=output)  # what is imported or cached on first use
    return {place: run(life(survey, each), folder, tap=tap, output=output) for place, each in enumerate(answers)}


def bodies(wire: tuple[bytes, ...]) -> list[dict[str, Any]]:
    """The JSON bodies of all posts, in their order."""
    found = []
    for connection in wire:
        for piece in re.split(rb"(?=POST |GET )", connection):
            if piece.startswith(b"POST "):
                found.append(json.loads(piece.partition(b"\r\n\r\n")[2]))
    return found


def keys(wire: tuple[bytes, ...]) -> list[bytes]:
    """Every key that was sent, in the order of first sending."""
    sent = [item["key"] for body in bodies(wire) for item in body.get("submissions", [body])]
    return [bytes.fromhex(key) for key in dict.fromkeys(sent)]


def answer_once(survey: Survey, answers: Answers, day: date = date(2026, 3, 1)) -> Callable[[Run], None]:
    """One answer that is counted at once."""

    def scenario(seen: Run) -> None:
        assert seen.tap is not None
        seen.tap.begin(survey.to_json())
        ledger = Ledger(seen.folder / "ledger.db")
        device = Session(survey, ledger, seen.tap.address, patience=Patience(attempts=2))
        seen.attempt(lambda: device.answer(answers, today=day))
        seen.show(device, ledger)

    return scenario
