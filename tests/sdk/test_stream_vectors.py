"""The committed vectors of streams: devices reproduce them from the same coins, and the laws are those that are written down."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.stream_vectors import REPEATS, STREAMS, device_vectors, stream_texts, stream_vectors

from deniable.core import Stream
from deniable.privacy import ReplayCoins
from deniable.surveys import Survey

FILE = Path(__file__).parents[2] / "spec" / "vectors" / "streams.json"
KEPT: Any = json.loads(FILE.read_text())
REMAKE = "run: make generated"


def named(one: Any) -> str:
    return repr(one) if isinstance(one, Stream) else ""


@pytest.mark.slow
def test_the_file_is_what_this_release_makes() -> None:
    assert dict(stream_texts()) == {"streams.json": FILE.read_text()}, REMAKE


def test_every_stream_and_every_way_of_repeating_has_vectors() -> None:
    kinds = {type(stream).__name__ for stream in STREAMS}
    assert {one["stream"]["kind"] for one in KEPT["streams"]} == kinds
    assert kinds == {cls.__name__ for cls in Stream.__subclasses__() if cls.__module__.startswith("deniable.")}
    assert [one["survey"]["repeat"] for one in KEPT["devices"]] == list(REPEATS)


@pytest.mark.parametrize(("stream", "kept"), list(zip(STREAMS, KEPT["streams"], strict=True)), ids=named)
def test_replayed_coins_give_the_same_life(stream: Stream, kept: Any) -> None:
    assert str(stream.total) == kept["total"]
    for case in kept["cases"]:
        coins = ReplayCoins(bytes.fromhex(case["start"] + "".join(case["coins"])))
        memory = stream.start(coins)
        outputs = [stream.report(memory, period, value, coins) for period, value in enumerate(case["values"])]
        assert (outputs, coins.left) == (case["outputs"], 0)
        assert 0 < int(case["weight"]) == stream.weight(case["values"], outputs)
    loss = stream.window(2).ratio
    assert (None if loss is None else str(loss)) == kept["two_periods"]
    assert json.loads(json.dumps(stream_vectors(stream))) == kept, REMAKE


def test_devices_of_a_survey_show_silence_refusal_and_a_kept_answer() -> None:
    """Vectors that could not tell one way of repeating from another would be worth nothing."""
    seen = {one["survey"]["repeat"]: one["days"] for one in KEPT["devices"]}
    assert sum(day["refused"] for day in seen["each-window"]) == 3
    assert [day["report"] is None for day in seen["turns:3"]].count(True) in (4, 5)
    assert sum(day["report"] is not None for day in seen["random-window"]) == 1
    assert any(day["refused"] for day in seen["kept:2"])
    assert all(Fraction(day["spent"]) <= 4 for days in seen.values() for day in days)
    changes = [day for day in seen["changes:2"] if day["report"] is not None]
    assert 1 <= len(changes) < len(seen["changes:2"]) < 7
    assert {day["spent"] for day in seen["changes:2"]} == {"1"}
    permanent: dict[str, set[str]] = {}
    for day in seen["permanent"]:
        permanent.setdefault(day["answer"], set()).add(day["report"])
    assert all(len(reports) == 1 for reports in permanent.values())
    for one in KEPT["devices"]:
        text = json.dumps(one["survey"], sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()
        assert Survey.from_json(text, hash=one["hash"]).repeat == one["survey"]["repeat"]


@pytest.mark.slow
@pytest.mark.parametrize("repeat", REPEATS)
def test_a_client_reproduces_its_week(repeat: str) -> None:
    assert device_vectors(repeat) == KEPT["devices"][REPEATS.index(repeat)], REMAKE
