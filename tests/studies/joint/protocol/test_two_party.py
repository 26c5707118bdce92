"""Two users draw together: the right law, and nothing in one's messages about the other's indicator."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator

import pytest

from deniable.errors import BadMessage, PeerLost
from deniable.privacy import binomial_tail, goodness_of_fit
from deniable.studies import (
    Thresholds,
    Transcript,
    converse_together,
    draw_as_first,
    draw_as_second,
    draw_many_as_first,
    draw_many_as_second,
)
from deniable.studies.joint.protocol import two_party
from deniable.studies.joint.protocol.circuit import pair_circuit
from deniable.studies.joint.protocol.conversation import Conversation, Hear, Say
from deniable.studies.joint.protocol.garbling import Garbled, evaluate, garble
from deniable.studies.joint.protocol.ristretto import random_scalar, times_base

LAW = Thresholds.of("3/5", "-1/3")
CONTEXT = b"a pair"
RUNS = 500
CELLS = [(True, True), (True, False), (False, True), (False, False)]


@pytest.fixture(scope="module")
def many() -> tuple[list[bool], list[bool], Transcript]:
    record = Transcript()
    first, second = converse_together(draw_many_as_first(LAW, CONTEXT, RUNS), draw_many_as_second(LAW, CONTEXT, RUNS), record)
    return first, second, record


@pytest.mark.slow
def test_draws_follow_the_law(many: tuple[list[bool], list[bool], Transcript]) -> None:
    """False alarm: less than 1e-6."""
    seen = Counter(zip(many[0], many[1], strict=True))
    assert goodness_of_fit([seen[cell] for cell in CELLS], LAW.weights) > 1e-9


def test_single_draws_follow_the_law() -> None:
    """False alarm: less than 1e-6. With this law both indicators always differ."""
    law = Thresholds.of("1/2", -1)
    seen = Counter(converse_together(draw_as_first(law, CONTEXT), draw_as_second(law, CONTEXT)) for _ in range(60))
    assert goodness_of_fit([seen[cell] for cell in CELLS], law.weights) > 1e-9


@pytest.mark.slow
def test_lengths_say_nothing(many: tuple[list[bool], list[bool], Transcript]) -> None:
    _, _, record = many
    assert len({tuple(map(len, record.by_second[at : at + 2])) for at in range(1, 2 * RUNS, 2)}) == 1
    assert len({tuple(map(len, record.by_first[at : at + 2])) for at in range(1, 2 * RUNS, 2)}) == 1


def views(record: Transcript) -> Iterator[tuple[bytes, bytes, bytes, bytes]]:
    """For each draw: choices and answer, which user 1 sees; circuit and meaning, which user 2 sees."""
    for draw in range(RUNS):
        choices, answer = record.by_first[1 + 2 * draw : 3 + 2 * draw]
        circuit, meaning = record.by_second[1 + 2 * draw : 3 + 2 * draw]
        yield choices, answer, circuit, meaning


@pytest.mark.slow
def test_no_visible_bit_goes_with_the_others_indicator(many: tuple[list[bool], list[bool], Transcript]) -> None:
    """Every byte's lowest bit, against the other's indicator. False alarm: less than 1e-6 for all together."""
    first, second, record = many
    agreeing: Counter[tuple[str, int]] = Counter()
    for draw, (choices, answer, circuit, meaning) in enumerate(views(record)):
        for name, message, secret in (("circuit", circuit, first[draw]), ("choices", choices, second[draw])):
            for place, byte in enumerate(message[1:]):
                agreeing[name, place] += byte & 1 == secret
        # The colour that user 2 sends back is all he has of T1; user 1 alone can read it.
        agreeing["answer", 0] += answer[-1] & 1 == first[draw]
        agreeing["meaning", 0] += meaning[1] == second[draw]
    share_true = Counter(first)[True] / RUNS
    for (name, place), count in agreeing.items():
        assert binomial_tail(count, RUNS, 0.5) > 1e-6 / len(agreeing) / 100, (name, place)
    assert 0.3 < share_true < 0.9  # Both values occur, so the test could have failed.


@pytest.mark.slow
def test_what_user_2_sees_looks_uniform(many: tuple[list[bool], list[bool], Transcript]) -> None:
    """Bytes of circuits, apart for each value of T1. False alarm: less than 1e-6."""
    for value in (False, True):
        seen: Counter[int] = Counter()
        for truth, (_, _, circuit, _) in zip(many[0], views(many[2]), strict=True):
            if truth == value:
                seen.update(circuit[1:])
        assert goodness_of_fit([seen[byte] for byte in range(256)], [1] * 256) > 1e-9


def drive(side: Conversation[bool], said: list[tuple[int, int]], messages: Iterator[bytes]) -> bool:
    """Run one side against given messages; note what it says."""
    wish = next(side)
    while True:
        try:
            if isinstance(wish, Say):
                said.append((wish.kind, len(wish.payload)))
                wish = next(side)
            else:
                message = next(messages)
                assert len(message) == wish.size
                wish = side.send(message)
        except StopIteration as done:
            result: bool = done.value
            return result


@pytest.mark.parametrize("own", [False, True])
def test_user_2s_view_can_be_made_from_his_own_indicator(own: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulator knows T2 and nothing of r1, T1 or any garbling: all labels and rows are random."""
    labels: list[int] = []

    def watched(*arguments: object) -> tuple[int, ...]:
        found = evaluate(*arguments)  # type: ignore[arg-type]
        labels.append(found[1])
        return found

    monkeypatch.setattr(two_party, "evaluate", watched)

    def simulator() -> Iterator[bytes]:
        yield times_base(random_scalar())
        yield secrets.token_bytes(32 * pair_circuit(LAW).ands + 3 * 64 * 16)
        yield bytes([(labels[0] & 1) ^ own])

    said: list[tuple[int, int]] = []
    assert drive(draw_as_second(LAW, CONTEXT), said, simulator()) is own
    assert said == [(two_party.CHOICES, 2048), (two_party.ANSWER, 16)]


@pytest.mark.parametrize("own", [False, True])
def test_user_1s_view_can_be_made_from_his_own_indicator(own: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulator knows T1 and user 1's own garbling; the choices are random points."""
    made: list[Garbled] = []

    def watched(*arguments: object) -> Garbled:
        made.append(garble(*arguments))  # type: ignore[arg-type]
        return made[-1]

    monkeypatch.setattr(two_party, "garble", watched)

    def simulator() -> Iterator[bytes]:
        yield b"".join(times_base(random_scalar()) for _ in range(64))
        yield (made[0].outputs[0] ^ (made[0].difference * own)).to_bytes(16, "big")

    said: list[tuple[int, int]] = []
    assert drive(draw_as_first(LAW, CONTEXT), said, simulator()) is own
    assert [kind for kind, _ in said] == [two_party.OPENING, two_party.CIRCUIT, two_party.MEANING]


def test_a_forged_answer_voids_the_draw() -> None:
    messages = iter([b"".join(times_base(random_scalar()) for _ in range(64)), secrets.token_bytes(16)])
    said: list[tuple[int, int]] = []
    with pytest.raises(BadMessage, match="not a label"):
        drive(draw_as_first(LAW, CONTEXT), said, messages)
    assert two_party.MEANING not in [kind for kind, _ in said]


def test_another_law_or_context_gives_nothing() -> None:
    with pytest.raises(BadMessage):
        converse_together(draw_as_first(LAW, CONTEXT), draw_as_second(Thresholds.of("3/4", 0), CONTEXT))
    with pytest.raises(BadMessage):
        converse_together(draw_as_first(LAW, CONTEXT), draw_as_second(LAW, b"another pair"))


def garbage(kinds: list[tuple[int, bytes]]) -> Conversation[None]:
    for kind, payload in kinds:
        yield Say(kind, payload)
    yield Hear(99, 1)


@pytest.mark.parametrize(
    "messages",
    [
        [(two_party.OPENING, b"")],
        [(two_party.OPENING, bytes(32))],
        [(two_party.OPENING, b"\xff" * 32)],
        [(two_party.CIRCUIT, b"x" * 32)],
        [(two_party.OPENING, b"x" * 33)],
    ],
)
def test_garbage_is_refused(messages: list[tuple[int, bytes]]) -> None:
    with pytest.raises(BadMessage):
        converse_together(garbage(messages), draw_as_second(LAW, CONTEXT))


def test_sides_that_wait_for_each_other_stop() -> None:
    with pytest.raises(PeerLost):
        converse_together(draw_as_second(LAW, CONTEXT), draw_as_second(LAW, CONTEXT))


def test_a_draw_is_small() -> None:
    record = Transcript()
    converse_together(draw_as_first(LAW, CONTEXT), draw_as_second(LAW, CONTEXT), record)
    assert record.size < 2**14
