"""The board and those who use it, in one process: who may post what, and what misbehaviour comes to."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from deniable.errors import BadMessage, BrokenCommitment, InvalidParameter, PeerLost, ProtocolError
from deniable.studies import (
    Board,
    Identity,
    JointSurvey,
    Participant,
    Phase,
    RoundTold,
    Thresholds,
    bounded_pair,
    commit_line,
    keep_shares,
    replay,
    reveal_line,
    take_part,
)
from deniable.studies.joint.protocol import member as member_room
from deniable.studies.joint.protocol.board_link import BoardLink
from deniable.studies.joint.protocol.taking_part import answer_complaints, send_dealing

pytestmark = pytest.mark.slow  # waits by the clock, as the protocol does

USERS = ("ada", "bob", "eve", "joe", "zoe")
KEYS = {name: Identity.new() for name in (*USERS, "board", "m1", "m2", "m3", "stranger")}
MEMBERS = ("m1", "m2", "m3")
SURVEY = JointSurvey(
    "monday",
    Thresholds.of_table(bounded_pair(1, 2)),
    {name: KEYS[name].public for name in USERS},
    committee=tuple(KEYS[name].public for name in MEMBERS),
    board=KEYS["board"].public,
)


NONSENSE: tuple[dict[str, Any], ...] = (
    {"post": 5},
    {},
    {"read": -1},
    {"read": "0"},
    {"box": 9, "sealed": ""},
    {"boxes": 0},
    {"checked": True},
)


@dataclass
class Round:
    """A board that runs, and everybody as a thread."""

    board: Board
    pool: ThreadPoolExecutor
    over: Future[None]

    def start(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        return self.pool.submit(work, *arguments)

    def user(self, name: str) -> Future[RoundTold]:
        where: dict[str, Any] = {"host": self.board.host, "port": self.board.port, "seconds": 20}
        return self.pool.submit(take_part, SURVEY, name, KEYS[name], **where)

    def users(self, *absent: str) -> dict[str, Future[RoundTold]]:
        return {name: self.user(name) for name in USERS if name not in absent}

    def members(self, *absent: str) -> list[Future[Any]]:
        where: dict[str, Any] = {"host": self.board.host, "port": self.board.port, "seconds": 20}
        return [self.pool.submit(keep_shares, SURVEY, KEYS[name], **where) for name in MEMBERS if name not in absent]

    def link(self, name: str) -> BoardLink:
        return BoardLink(SURVEY, KEYS[name], self.board.host, self.board.port, 20)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Callable[..., Round]]:
    pool, stops = ThreadPoolExecutor(16), []

    def begin(kind: type[Board] = Board, patience: float = 4.0) -> Round:
        board, ready = kind(SURVEY, KEYS["board"], tmp_path / "record", patience=patience), threading.Event()
        over: Future[None] = Future()
        stop: list[Callable[[], object]] = []

        async def serve() -> None:
            loop, ended = asyncio.get_running_loop(), asyncio.Event()
            stop.append(lambda: loop.call_soon_threadsafe(ended.set))
            async with await board.start():
                ready.set()
                leading = asyncio.create_task(board.conduct())
                leading.add_done_callback(lambda _: over.set_result(None))
                await ended.wait()
                leading.cancel()

        thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
        thread.start()
        assert ready.wait(60)
        stops.append((stop, thread))
        return Round(board, pool, over)

    yield begin
    for stop, thread in stops:
        stop[0]()
        thread.join(10)
    pool.shutdown(wait=False, cancel_futures=True)


Running = Callable[..., Round]


def test_everybody_ends_with_the_same_pairing(running: Running) -> None:
    round_ = running(patience=15)
    members, users = round_.members(), round_.users()
    told = [future.result(120) for future in (*users.values(), *members)]
    assert len({one.fingerprint for one in told}) == 1
    assert len({SURVEY.paired(one.round).to_json() for one in told}) == 1
    pairing = SURVEY.paired(told[0].round).pairing()
    assert sorted([name for pair in pairing.pairs for name in pair] + [str(pairing.alone)]) == sorted(USERS)
    lines = round_.board.path.read_text().splitlines()
    again = replay(SURVEY.pairing_round, 3, lines)
    assert not again.refused
    assert again.randomness.result() == told[0].round.result()


def test_shares_on_the_board_are_sealed(running: Running) -> None:
    round_ = running(patience=15)
    users = [Participant.new(SURVEY.pairing_round, name, 3) for name in USERS]
    members = round_.members()

    def follow(user: Participant) -> None:
        with round_.link(user.name) as link:
            link.post(commit_line(user))
            link.follow_to(Phase.DEAL)
            send_dealing(link, SURVEY, KEYS[user.name], user)
            answer_complaints(link, user)
            link.post(reveal_line(user))
            link.follow_to(Phase.DONE)

    for future in [*(round_.start(follow, user) for user in users), *members]:
        future.result(120)
    kept = [box for boxes in round_.board._boxes.values() for box in boxes.values()]
    assert len(kept) == 15
    for user in users:
        assert not any(share.to_bytes(32, "little") in box for share in user.dealing.shares.values() for box in kept)


def test_who_never_comes_or_never_deals_is_left_out(running: Running) -> None:
    round_ = running(patience=4)
    members, users = round_.members(), round_.users("zoe", "joe")
    with round_.link("joe") as joe:
        joe.post(commit_line(Participant.new(SURVEY.pairing_round, "joe", 3)))
    told = users["ada"].result(120).round
    assert told.participants == ("ada", "bob", "eve")
    assert told.excluded == {"joe": "'joe' published no points"}
    assert set(SURVEY.paired(told).users) == {"ada", "bob", "eve"}
    for future in (*members, *users.values()):
        future.result(120)


def test_a_late_user_is_told(running: Running) -> None:
    round_ = running(patience=3)
    members, users = round_.members(), round_.users("zoe")
    users["ada"].result(120)
    with pytest.raises(BadMessage, match="belongs to the phase commit"):
        round_.user("zoe").result(120)
    assert all(future.result(120).round.participants == ("ada", "bob", "eve", "joe") for future in members)


def test_a_share_that_never_came_is_shown_and_one_that_is_not_shown_excludes(running: Running) -> None:
    round_ = running(patience=4)

    def forgetful(name: str, *, answering: bool) -> None:
        user = Participant.new(SURVEY.pairing_round, name, 3)
        with round_.link(name) as link:
            link.post(commit_line(user))
            link.follow_to(Phase.DEAL)
            wrong = replace(user, dealing=replace(user.dealing, shares={**user.dealing.shares, 2: 12345}))
            send_dealing(link, SURVEY, KEYS[name], wrong)
            if answering:
                answer_complaints(link, user)
                link.post(reveal_line(user))

    members, users = round_.members(), round_.users("joe", "zoe")
    shown, silent = round_.start(lambda: forgetful("joe", answering=True)), round_.start(lambda: forgetful("zoe", answering=False))
    for future in (shown, silent):
        future.result(120)
    told = users["ada"].result(120).round
    assert told.excluded == {"zoe": "'zoe' left a complaint unanswered"}
    assert told.participants == ("ada", "bob", "eve", "joe")
    assert [set(future.result(120).complaints) for future in members] == [set(), {"joe", "zoe"}, set()]


def test_without_a_majority_of_members_what_is_kept_back_stays_closed_and_the_round_is_void(running: Running) -> None:
    round_ = running(patience=3)
    members = round_.members("m2", "m3")
    user = Participant.new(SURVEY.pairing_round, "zoe", 3)
    users = round_.users("zoe")
    with round_.link("zoe") as zoe:
        zoe.post(commit_line(user))
        zoe.follow_to(Phase.DEAL)
        send_dealing(zoe, SURVEY, KEYS["zoe"], user)
    for future in (*users.values(), *members):
        with pytest.raises(BrokenCommitment, match="void"):
            future.result(120)
    assert "neither revealed nor opened" in round_.board.void


def test_a_lying_member_is_named_and_the_others_open(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    round_ = running(patience=4)
    real = member_room._open
    lock = threading.Lock()
    first: list[str] = []

    def lie_once(board: BoardLink, name: str, share: int) -> None:
        with lock:
            liar = not first
            first.append(name)
        if liar:
            board.ask(opening=name, share="07" + "00" * 31)
        else:
            while len(round_.board._openings.get(name, {})) < 1:
                threading.Event().wait(0.01)
            real(board, name, share)

    monkeypatch.setattr(member_room, "_open", lie_once)
    members, users = round_.members(), round_.users("zoe")
    user = Participant.new(SURVEY.pairing_round, "zoe", 3)
    with round_.link("zoe") as zoe:
        zoe.post(commit_line(user))
        zoe.follow_to(Phase.DEAL)
        send_dealing(zoe, SURVEY, KEYS["zoe"], user)
    told = users["ada"].result(120).round
    assert told.contribution("zoe") == user.contribution
    assert told.opened == {"zoe"}
    assert len(told.liars) == 1
    for future in members:
        future.result(120)


def test_nobody_posts_for_another_and_nonsense_is_refused(running: Running) -> None:
    round_ = running(patience=3)
    ada, bob = (Participant.new(SURVEY.pairing_round, name, 3) for name in ("ada", "bob"))
    with round_.link("ada") as link, round_.link("m1") as member:
        for wrong in (
            commit_line(bob),
            '{"close":"commit"}',
            '{"complain":"bob","member":1}',
            "[]",
            "x",
            "",
            json.dumps({"open": "bob"}),
        ):
            with pytest.raises(BadMessage, match="refused"):
                link.post(wrong)
        for request in NONSENSE:
            with pytest.raises(BadMessage, match="refused"):
                link.ask(**request)
        for bad in ('{"complain":"ada","member":2}', commit_line(ada)):
            with pytest.raises(BadMessage, match="refused"):
                member.post(bad)
        with pytest.raises(BadMessage, match="nothing to open"):
            member.ask(opening="ada", share="01" + "00" * 31)
        link.post(commit_line(ada))
        with pytest.raises(BadMessage, match="committed already"):
            link.post(commit_line(ada))
    assert round_.board.path.read_text().splitlines() == [commit_line(ada)]


def test_a_silent_connection_is_closed_after_the_boards_patience(running: Running) -> None:
    round_ = running(patience=0.5)
    link = BoardLink(SURVEY, KEYS["ada"], round_.board.host, round_.board.port, 60)
    # Nothing is asked. A board without a deadline would hold the connection until the user's own minute is over.
    with link, pytest.raises(PeerLost, match="hung up"):
        link._link.receive()


def test_a_request_that_never_ends_is_not_awaited(running: Running) -> None:
    round_ = running(patience=0.5)
    with BoardLink(SURVEY, KEYS["ada"], round_.board.host, round_.board.port, 60) as link:
        link._link._socket.sendall((1000).to_bytes(4, "big") + b"slow")
        with pytest.raises(PeerLost, match="hung up"):
            link._link.receive()


def test_strangers_and_other_surveys_are_not_let_in(running: Running) -> None:
    round_ = running(patience=4)
    with pytest.raises(PeerLost):
        round_.link("stranger")
    # A key from the survey, but another law: the handshake binds the whole document.
    other = replace(SURVEY, thresholds=Thresholds.of_table(bounded_pair(1, 3)))
    with pytest.raises(ProtocolError):
        BoardLink(other, KEYS["ada"], round_.board.host, round_.board.port, 5).ask(read=0)


class Forger(Board):
    """Writes another commitment under Ada's name than the one she sent."""

    async def _record(self, line: str) -> None:
        if line.startswith('{"commit":"ada"'):
            line = commit_line(Participant.new(SURVEY.pairing_round, "ada", 3))
        await super()._record(line)


def test_a_board_that_changes_a_commitment_is_found_out(running: Running) -> None:
    round_ = running(Forger, patience=3)
    users = round_.users()
    with pytest.raises(BrokenCommitment, match="own commitment"):
        users["ada"].result(120)
    round_.over.result(120)


def test_surveys_without_a_board_or_committee_are_refused(tmp_path: Path) -> None:
    alone = replace(SURVEY, board=None)
    with pytest.raises(InvalidParameter, match="no board"):
        BoardLink(alone, KEYS["ada"], "127.0.0.1", 1, 1)
    with pytest.raises(InvalidParameter, match="another public key"):
        Board(SURVEY, KEYS["ada"], tmp_path / "record")
    with pytest.raises(InvalidParameter, match="at least 3 members"):
        Board(replace(SURVEY, committee=()), KEYS["board"], tmp_path / "record")
    with pytest.raises(InvalidParameter, match="not of a committee member"):
        keep_shares(SURVEY, KEYS["ada"], host="127.0.0.1", port=1)
    with pytest.raises(InvalidParameter, match="keys must differ"):
        replace(SURVEY, board=KEYS["ada"].public)
