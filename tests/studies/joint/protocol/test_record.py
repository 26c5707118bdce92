"""Everyone who reads the same record ends with the same bytes, whatever spoilers write into it."""

from __future__ import annotations

import json

import pytest

from deniable.errors import BadMessage
from deniable.studies import (
    JointRandomness,
    Participant,
    Phase,
    close_line,
    commit_line,
    open_line,
    points_line,
    replay,
    reveal_line,
)
from deniable.studies.joint.protocol.record import answer_line, complain_line

USERS = [Participant.new("monday", name, 3) for name in ("ada", "bob", "eve", "zoe")]


def honest(silent: int = 0) -> list[str]:
    """A record in which the last `silent` users do not reveal."""
    ada = USERS[0]
    lines = [commit_line(user) for user in USERS] + [close_line("commit")]
    lines += [points_line(user) for user in USERS] + [close_line("deal")]
    lines += [complain_line(2, "ada"), answer_line(ada, 2), close_line("complain")]
    lines += [reveal_line(user) for user in USERS[: len(USERS) - silent]] + [close_line("reveal")]
    lines += [open_line(user.name, {1: user.dealing.shares[1], 2: user.dealing.shares[2]}) for user in USERS[len(USERS) - silent :]]
    return [*lines, close_line("open")]


def test_the_record_tells_the_round() -> None:
    told = replay("monday", 3, honest())
    assert told.refused == []
    assert told.randomness.phase is Phase.DONE
    assert told.randomness.participants == ("ada", "bob", "eve", "zoe")
    assert replay("monday", 3, honest(silent=2)).randomness.result() == told.randomness.result()


GARBAGE = [
    "",
    "null",
    "[]",
    "7",
    "{}",
    '"commit"',
    '{"commit": "ada"}',
    '{"commit": 5, "digest": "00"}',
    '{"commit": "mallory", "digest": "xyz"}',
    '{"commit": "mallory", "digest": 5}',
    '{"commit": "mallory", "reveal": "mallory", "digest": ""}',
    '{"points": "ada", "with": 5}',
    '{"reveal": "ada", "contribution": "00"}',
    '{"reveal": "nobody", "contribution": "' + "00" * 32 + '"}',
    '{"complain": "ada", "member": true}',
    '{"complain": "ada", "member": 9}',
    '{"open": "ada", "shares": []}',
    '{"open": "ada", "shares": {"x": "00"}}',
    '{"close": "done"}',
    '{"close": ["open"]}',
    "x" * 20_000,
    "[" * 5000,
]


@pytest.mark.parametrize("junk", GARBAGE)
def test_garbage_anywhere_changes_nothing(junk: str) -> None:
    lines = honest(silent=1)
    expected = replay("monday", 3, lines).randomness.result()
    mixed = [part for line in lines for part in (junk, line)]
    told = replay("monday", 3, mixed)
    assert told.randomness.result() == expected
    assert len(told.refused) == len(lines)
    assert all(number % 2 == 1 for number, _ in told.refused)


def test_repeated_and_late_lines_change_nothing() -> None:
    lines = honest(silent=1)
    expected = replay("monday", 3, lines).randomness.result()
    repeated = [part for line in lines for part in ((line, line) if '"complain"' not in line else (line,))]
    assert replay("monday", 3, repeated).randomness.result() == expected
    assert replay("monday", 3, lines + lines).randomness.result() == expected


def test_a_false_reveal_in_the_record_is_named() -> None:
    lines = honest(silent=1)
    lie = json.dumps({"reveal": "zoe", "contribution": "01" + "00" * 31})
    at = lines.index(close_line("reveal"))
    told = replay("monday", 3, [*lines[:at], lie, *lines[at:]])
    assert told.randomness.false_reveals == {"zoe"}
    assert told.randomness.result() == replay("monday", 3, lines).randomness.result()


def test_an_unfinished_round_has_no_result() -> None:
    told = replay("monday", 3, honest()[:-1])
    with pytest.raises(BadMessage, match="phase done"):
        told.randomness.result()
    assert isinstance(told.randomness, JointRandomness)
