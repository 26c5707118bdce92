"""Nobody controls the joint bytes: not by silence, not by lies, not by being last."""

from __future__ import annotations

import pytest

from deniable.errors import BadMessage, BrokenCommitment, InvalidParameter, Replayed
from deniable.studies import JointRandomness, Participant, Phase, share_fits
from deniable.studies.joint.protocol.commitments import commitment
from deniable.studies.joint.protocol.ristretto import ORDER, times_base
from deniable.studies.joint.protocol.shares import deal, fitting, open_secret, threshold_for

NAMES = ("ada", "bob", "eve", "joe", "zoe")


def people(members: int = 3) -> dict[str, Participant]:
    return {name: Participant.new("monday", name, members) for name in NAMES}


def up_to(phase: Phase, users: dict[str, Participant], members: int = 3) -> JointRandomness:
    """A round in which everybody has behaved until a phase."""
    record = JointRandomness("monday", members)
    for user in users.values():
        record.commit(user.name, user.commitment)
    while record.phase < phase:
        if record.advance() is Phase.DEAL:
            for user in users.values():
                record.publish_points(user.name, user.dealing.points)
    return record


def finished(record: JointRandomness, users: dict[str, Participant], silent: tuple[str, ...] = ()) -> bytes:
    for name in record.participants:
        if name not in silent and name in record.missing:
            record.reveal(name, users[name].contribution)
    record.advance()
    for name in record.missing:
        record.open(name, {1: users[name].dealing.shares[1], 3: users[name].dealing.shares[3]})
    record.advance()
    return record.result()


def test_the_last_to_reveal_has_no_choice() -> None:
    users = people()
    honest = finished(up_to(Phase.REVEAL, users), users)
    silent = finished(up_to(Phase.REVEAL, users), users, silent=("zoe",))
    assert honest == silent


def test_a_false_reveal_is_named_and_changes_nothing() -> None:
    users = people()
    honest = finished(up_to(Phase.REVEAL, users), users)
    record = up_to(Phase.REVEAL, users)
    for lie in (users["bob"].contribution + 1, 0, users["bob"].contribution + ORDER):
        with pytest.raises(BrokenCommitment, match="bob"):
            record.reveal("bob", lie)
    assert record.false_reveals == {"bob"}
    assert finished(record, users, silent=("bob",)) == honest
    assert "bob" in record.participants


def test_everybody_matters() -> None:
    users = people()
    other = {**users, "eve": Participant.new("monday", "eve", 3)}
    assert finished(up_to(Phase.REVEAL, users), users) != finished(up_to(Phase.REVEAL, other), other)


def test_the_order_of_arrival_does_not_matter() -> None:
    users = people()
    backwards = dict(reversed(users.items()))
    assert finished(up_to(Phase.REVEAL, users), users) == finished(up_to(Phase.REVEAL, backwards), backwards)


def test_points_that_break_the_commitment_exclude_before_anyone_reveals() -> None:
    users = people()
    record = JointRandomness("monday", 3)
    for user in users.values():
        record.commit(user.name, user.commitment)
    record.advance()
    with pytest.raises(BrokenCommitment, match="ada"):
        record.publish_points("ada", users["bob"].dealing.points)
    with pytest.raises(Replayed):
        record.publish_points("ada", users["ada"].dealing.points)
    record.publish_points("bob", users["bob"].dealing.points)
    record.advance()
    assert set(record.excluded) == {"ada", "eve", "joe", "zoe"}
    assert record.participants == ("bob",)
    record.advance()
    record.reveal("bob", users["bob"].contribution)
    record.advance()
    record.advance()
    with pytest.raises(BrokenCommitment, match="fewer than two"):
        record.result()


def test_points_that_are_no_points_exclude() -> None:
    for points in ([bytes(32), bytes(32)], [b"\xff" * 32] * 2, [times_base(5)], [times_base(5)] * 3, [b"short", b"er"]):
        record = JointRandomness("monday", 3)
        record.commit("ada", commitment("monday", "ada", points))
        record.advance()
        with pytest.raises((BadMessage, BrokenCommitment)):
            record.publish_points("ada", points)
        assert "ada" in record.excluded


def test_a_commitment_of_another_round_or_user_is_worth_nothing() -> None:
    points = deal(7, 3).points
    ours = commitment("monday", "ada", points)
    assert ours != commitment("tuesday", "ada", points)
    assert ours != commitment("monday", "bob", points)
    assert ours != commitment("mondaya", "da", points)


def test_bad_shares_exclude_unless_the_dealer_shows_good_ones() -> None:
    users = people()
    record = up_to(Phase.COMPLAIN, users)
    record.complain(2, "ada")  # Ada answers and stays.
    record.answer("ada", 2, users["ada"].dealing.shares[2])
    record.complain(1, "bob")  # Bob is silent.
    record.complain(1, "eve")  # Eve answers with rubbish.
    with pytest.raises(BrokenCommitment, match="eve"):
        record.answer("eve", 1, 12345)
    for member in (1, 2):  # A majority complains about Joe, who answers.
        record.complain(member, "joe")
        record.answer("joe", member, users["joe"].dealing.shares[member])
    record.advance()
    assert set(record.excluded) == {"bob", "eve", "joe"}
    assert record.participants == ("ada", "zoe")
    assert record.shown_share("ada", 2) == users["ada"].dealing.shares[2]
    with pytest.raises(BrokenCommitment, match="excluded"):
        record.reveal("bob", users["bob"].contribution)


def test_a_lying_member_is_named_and_cannot_change_the_secret() -> None:
    users = people(5)
    record = up_to(Phase.OPEN, users, 5)
    for name in NAMES:
        shares = dict(users[name].dealing.shares)
        shares[1] = (shares[1] + 1) % ORDER
        shares[4] = 0
        record.open(name, shares)
    assert record.liars == {1, 4}
    record.advance()
    users_open = up_to(Phase.REVEAL, users, 5)
    assert finished(users_open, users) == record.result()


def test_too_few_shares_open_nothing() -> None:
    users = people()
    record = up_to(Phase.OPEN, users)
    with pytest.raises(BrokenCommitment, match="2 good shares"):
        record.open("ada", {1: users["ada"].dealing.shares[1], 9: 5})
    with pytest.raises(BrokenCommitment, match="neither revealed nor opened"):
        record.advance()


@pytest.mark.parametrize("members", [3, 4, 5, 7])
def test_any_threshold_of_shares_opens_and_fewer_fit_every_secret(members: int) -> None:
    secret = 2**200 + 12345
    dealing = deal(secret, members)
    threshold = threshold_for(members)
    assert all(share_fits(dealing.points, member, share) for member, share in dealing.shares.items())
    assert not share_fits(dealing.points, 1, dealing.shares[2])
    assert not share_fits(dealing.points, 1, dealing.shares[1] + ORDER)
    for first in range(1, members - threshold + 2):
        some = {member: dealing.shares[member] for member in range(first, first + threshold)}
        assert open_secret(threshold, fitting(dealing.points, some)) == secret
    assert len(dealing.points) == threshold
    assert 2 * (threshold - 1) < members


def test_only_what_is_missing_can_be_opened() -> None:
    users = people()
    record = up_to(Phase.REVEAL, users)
    record.reveal("ada", users["ada"].contribution)
    record.advance()
    assert record.missing == NAMES[1:]
    with pytest.raises(BadMessage, match="nothing to open"):
        record.open("ada", users["ada"].dealing.shares)
    with pytest.raises(BadMessage, match="not committed"):
        record.open("stranger", users["ada"].dealing.shares)


def test_phases_cannot_be_mixed_and_messages_count_once() -> None:
    users = people()
    record = up_to(Phase.COMMIT, users)
    with pytest.raises(Replayed, match="ada"):
        record.commit("ada", users["bob"].commitment)
    with pytest.raises(BadMessage, match="32 bytes"):
        record.commit("new", b"short")
    with pytest.raises(BadMessage, match="phase reveal"):
        record.reveal("ada", users["ada"].contribution)
    record = up_to(Phase.REVEAL, users)
    with pytest.raises(BadMessage, match="phase commit"):
        record.commit("late", bytes(32))
    with pytest.raises(BadMessage, match="has not committed"):
        record.reveal("late", 5)
    record.reveal("ada", users["ada"].contribution)
    with pytest.raises(Replayed, match="ada"):
        record.reveal("ada", users["ada"].contribution)
    with pytest.raises(InvalidParameter, match="at least 3"):
        JointRandomness("monday", 2)


def test_secrets_do_not_show() -> None:
    user = Participant.new("monday", "ada", 3)
    shown = repr(user)
    assert str(user.contribution) not in shown
    assert not any(str(share) in shown + repr(user.dealing) for share in user.dealing.shares.values())
