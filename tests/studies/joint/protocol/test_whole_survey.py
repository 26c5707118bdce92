"""From commitments to an estimate: five users, one of whom holds back his contribution, one of whom lies about it."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from deniable.studies import (
    Identity,
    JointAnswer,
    JointSurvey,
    Participant,
    Relay,
    Thresholds,
    answer_jointly,
    bounded_pair,
    close_line,
    commit_line,
    estimate_ones,
    open_line,
    points_line,
    replay,
    reveal_line,
    share_fits,
)
from deniable.surveys import Ledger

pytestmark = pytest.mark.slow  # waits by the clock, as the protocol does

NAMES = ("ada", "bob", "eve", "joe", "zoe")
MEMBERS = 3


def joint_bytes() -> bytes:
    """The public record of a round, and what it comes to."""
    people = [Participant.new("monday", name, MEMBERS) for name in NAMES]
    lines = [*map(commit_line, people), close_line("commit"), *map(points_line, people), close_line("deal")]
    for user in people:
        assert all(share_fits(user.dealing.points, member, share) for member, share in user.dealing.shares.items())
    lie = json.dumps({"reveal": "joe", "contribution": "05" + "00" * 31})
    lines += [close_line("complain"), *map(reveal_line, people[:3]), lie, close_line("reveal")]
    lines += [open_line(user.name, {2: user.dealing.shares[2], 3: user.dealing.shares[3]}) for user in people[3:]]
    told = replay("monday", MEMBERS, [*lines, close_line("open")])
    assert told.randomness.false_reveals == {"joe"}
    assert told.randomness.participants == NAMES
    return told.randomness.result()


async def collect(survey: JointSurvey, keys: dict[str, Identity], folder: Path) -> dict[str, JointAnswer]:
    relay = Relay(patience=10)
    async with await relay.start():
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(len(NAMES)) as pool:

            def one(name: str) -> JointAnswer:
                ledger = Ledger(folder / name)
                return answer_jointly(survey, name, 1, keys[name], ledger=ledger, host=relay.host, port=relay.port, seconds=10)

            found = await asyncio.gather(*(loop.run_in_executor(pool, one, name) for name in NAMES))
    return dict(zip(NAMES, found, strict=True))


def test_a_whole_survey(tmp_path: Path) -> None:
    table = bounded_pair(1, 2)
    keys = {name: Identity.new() for name in NAMES}
    public = {name: key.public for name, key in keys.items()}
    survey = JointSurvey("monday", Thresholds.of_table(table), public, joint_bytes())
    answers = asyncio.run(collect(JointSurvey.from_json(survey.to_json()), keys, tmp_path))
    alone = survey.pairing().alone
    assert {name for name, one in answers.items() if not one.together} == {alone}
    ones = sum(one.output for one in answers.values())
    estimate = estimate_ones(table, ones, len(NAMES), leftover=True)
    assert estimate.n == 5
    assert float(estimate.standard_error[1]) > 0
