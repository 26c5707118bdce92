"""An indicator of 1 means the truth, of 0 the other answer: together and alone, for both bits."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Iterator

import pytest

from deniable.privacy import binomial_tail
from deniable.studies import Identity, JointAnswer, JointSurvey, Thresholds, answer_jointly
from deniable.studies.joint.protocol import answering
from deniable.surveys import Ledger

KEYS = {name: Identity.new() for name in ("ada", "bob")}
LAW = Thresholds.of("3/4", "-1/6")
SURVEY = JointSurvey("monday", LAW, {name: key.public for name, key in KEYS.items()})


@pytest.fixture(autouse=True)
def free_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many answers of one person, for the test's sake; test_cost.py has the ledger's rules."""
    monkeypatch.setattr(answering, "spend", lambda *arguments, **options: None)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    return Ledger(tmp_path_factory.mktemp("ledger") / "ledger.db")


def answer(name: str, value: int, port: int, ledger: Ledger, seconds: float = 30) -> JointAnswer:
    return answer_jointly(SURVEY, name, value, KEYS[name], ledger=ledger, host="127.0.0.1", port=port, seconds=seconds)


@pytest.fixture
def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.fixture
def listening(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A port where somebody listens; the room is entered without a word."""
    monkeypatch.setattr(answering, "enter_room", lambda link, room: None)
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


@pytest.mark.parametrize("value", [0, 1])
@pytest.mark.parametrize("truth", [False, True])
def test_the_indicator_decides_together(
    value: int, truth: bool, listening: int, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "draw_over", lambda *arguments: truth)
    found = answer("ada", value, listening, ledger)
    assert found.together
    assert found.output == (value if truth else 1 - value)


@pytest.mark.parametrize("value", [0, 1])
@pytest.mark.parametrize("truth", [False, True])
def test_the_indicator_decides_alone(
    value: int, truth: bool, closed_port: int, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Thresholds, "alone", lambda self: truth)
    found = answer("ada", value, closed_port, ledger)
    assert not found.together
    assert found.output == (value if truth else 1 - value)


def test_answers_given_alone_follow_the_marginal_law(closed_port: int, ledger: Ledger) -> None:
    """False alarm: less than 1e-6."""
    for value in (0, 1):
        seen = Counter(answer("bob", value, closed_port, ledger).output for _ in range(400))
        assert binomial_tail(seen[value], 400, LAW.second / 2**64) > 1e-7


def test_a_broken_draw_is_not_used(listening: int, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was known when the partner left, fresh coins decide."""
    asked = []

    def alone(self: Thresholds) -> bool:
        asked.append(self)
        return True

    monkeypatch.setattr(Thresholds, "alone", alone)
    found = answer("ada", 1, listening, ledger, seconds=0.3)
    assert asked == [LAW]
    assert not found.together
    assert "silent" in found.reason
