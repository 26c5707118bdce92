"""The comparison asks everyone the same, takes turns, and says why somebody is missing."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

serving: Any = importlib.import_module("serving")
environments: Any = importlib.import_module("speed.environments")
conversation: Any = importlib.import_module("speed.conversation")
comparing: Any = importlib.import_module("speed.comparing")
tasks: Any = importlib.import_module("speed.tasks")
PEERS = Path(serving.__file__).parent

FAIR = """
import sys
sys.path.insert(0, {peers!r})
from serving import Offer, kept_share, serve
class Honest(Offer):
    def privatise(self, values):
        print("a package that talks")
        return list(values)
    def aggregate(self, reports):
        return [sum(report == value for report in reports) / len(reports) for value in range(self.k)]
class Broken(Offer):
    def privatise(self, values):
        raise ValueError("no luck")
class Deadly(Offer):
    def privatise(self, values):
        import os
        sys.stderr.write("the last word\\n")
        sys.stderr.flush()
        os._exit(3)
class Silent(Offer):
    aggregates = False
    def privatise(self, values):
        return list(values)
serve({{"k-rr": Honest, "oue": Broken, "sue": Deadly, "olh": Silent}}, [])
"""


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Any]:
    script = tmp_path / "fair.py"
    script.write_text(FAIR.format(peers=str(PEERS)))
    with conversation.conversations([environments.Peer("fair", str(script))]) as parties:
        yield parties[0]


def ask(talk: Any, do: str, mechanism: str, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = talk.ask(do=do, mechanism=mechanism, n=500, k=5, epsilon=1.0, **more)
    return found


def test_work_is_timed_and_chatter_does_not_get_in_the_way(talk: Any) -> None:
    for do in ("privatise", "aggregate", "both"):
        assert ask(talk, do, "k-rr")["seconds"] > 0


def test_what_a_package_lacks_is_not_offered(talk: Any) -> None:
    assert ask(talk, "privatise", "hadamard") == {"not_offered": True}
    assert ask(talk, "aggregate", "olh") == {"not_offered": True}
    assert "seconds" in ask(talk, "privatise", "olh")


def test_an_error_is_an_answer_and_the_next_question_works(talk: Any) -> None:
    assert "no luck" in ask(talk, "privatise", "oue")["failed"]
    assert "seconds" in ask(talk, "privatise", "k-rr")


def test_a_peer_that_dies_says_its_last_word_from_then_on(talk: Any) -> None:
    for _ in range(2):
        assert ask(talk, "privatise", "sue") == {"failed": "stopped: the last word"}


def test_estimates_are_compared_with_the_truth(talk: Any) -> None:
    found = ask(talk, "check", "k-rr", repeats=3)
    assert found["estimate"] == pytest.approx(found["truth"])
    assert found["package_says"] == pytest.approx(0.6)


@pytest.mark.slow
def test_memory_is_that_of_the_peer_and_not_ours(tmp_path: Path) -> None:
    # A child process begins as a copy of its parent, and some counters never forget that.
    ballast = b"x" * (400 << 20)
    script = tmp_path / "fair.py"
    script.write_text(FAIR.format(peers=str(PEERS)))
    with conversation.conversations([environments.Peer("fair", str(script))]) as parties:
        found = parties[0].ask(do="memory")
    assert 0 < found["before_mb"] <= found["peak_mb"] < 300 < len(ballast) >> 20


def test_a_peer_that_cannot_be_installed_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(command: list[str]) -> None:
        raise environments.NotInstalled("ERROR: No matching distribution found for nothing==1")

    monkeypatch.setattr(environments, "_run", refuse)
    monkeypatch.setattr(conversation, "python_of", lambda peer: environments.python_of(peer, tmp_path))
    absent = environments.Peer("absent", "absent.py", ("nothing==1",))
    with conversation.conversations([absent]) as parties:
        row = comparing.compare(tasks.Task("privatise", "k-rr", 5, 1000), parties, 2)
    assert row["packages"]["absent"] == {"failed": "not installed: ERROR: No matching distribution found for nothing==1"}


def test_ours_is_also_timed_with_as_many_users_as_the_peer_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "fair.py"
    script.write_text(FAIR.format(peers=str(PEERS)))
    ours, other = (environments.Peer(name, str(script)) for name in ("deniable", "other"))
    monkeypatch.setattr(comparing, "OURS", ours)
    with conversation.conversations([ours, other]) as parties:
        row = comparing.compare(tasks.Task("privatise", "k-rr", 5, 20_000), parties, 3, least=0.0)
    assert row["packages"]["deniable"]["users"] == 20_000
    assert row["packages"]["other"]["users"] == comparing.FEWEST
    assert row["packages"]["other"]["ours_with_as_many"] > 0


def test_a_failed_installation_is_reported_by_its_own_words(tmp_path: Path) -> None:
    with pytest.raises(environments.NotInstalled, match="ERROR: this is why"):
        environments._run(["python3", "-c", "import sys; sys.exit('noise\\nERROR: this is why\\nmore noise')"])


class Told:
    """A package whose answers are given in advance: seconds for a number of users, and how busy the machine was."""

    def __init__(self, name: str, seconds: Any, others: list[float] | None = None) -> None:
        self.peer = environments.Peer(name, "none.py")
        self.seconds, self.others, self.asked = seconds, list(others or []), 0

    def ask(self, n: int, **_question: Any) -> dict[str, Any]:
        self.asked += 1
        return {"seconds": self.seconds(n, self.asked), "others": self.others.pop(0) if self.others else 0.0}


def test_a_peer_gets_the_number_of_users_that_suits_it_best() -> None:
    # Best at 4,096 users: 20 microseconds each, and 40 with more or fewer.
    picky = Told("picky", lambda n, asked: n * (20e-6 if n == 4096 else 40e-6))
    task = tasks.Task("privatise", "k-rr", 100, 10**6)
    assert comparing.favourite(picky, task, 0.5)[0] == 4096


def test_a_peers_fastest_turn_counts_and_the_median_of_ours() -> None:
    slower = [0.0, 5.0, 4.0, 1.0, 3.0, 2.0]
    ours = Told(environments.OURS.name, lambda n, asked: 1.0 + slower[(asked - 1) % 6])
    ours.peer = environments.OURS
    peer = Told("peer", lambda n, asked: 1.0 + slower[asked % 6])
    row = comparing.compare(tasks.Task("privatise", "k-rr", 100, 256), [ours, peer], 5)
    assert row["packages"]["peer"]["seconds"] == 1.0
    assert row["packages"][environments.OURS.name]["seconds"] > 1.0


def test_a_turn_beside_other_work_is_taken_again() -> None:
    fast_when_quiet = Told("peer", lambda n, asked: 1.0 if asked > 7 else 0.5, [0.0, 0.0, *[1.0] * 5])
    entry = comparing.compare(tasks.Task("privatise", "k-rr", 100, 256), [fast_when_quiet], 5)["packages"]["peer"]
    assert entry["quiet"] == 5
    assert entry["turns"] == 10
    assert entry["seconds"] == 1.0  # the disturbed ones do not count, not even where they were faster
    never = Told("peer", lambda n, asked: 1.0, [1.0] * 1000)
    entry = comparing.compare(tasks.Task("privatise", "k-rr", 100, 256), [never], 5)["packages"]["peer"]
    assert (entry["quiet"], entry["turns"]) == (0, 5 * comparing.PATIENCE)
