"""Kept bits: drawn once, on disk before anything is sent, the same for every process and after every crash."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.core import LAYER, Categories, KaryRandomizedResponse, Rappor, decode_report, report_from_json
from deniable.errors import InvalidParameter, NotSupported, OutOfDomain
from deniable.privacy import FixedCoins
from deniable.surveys import Client, Memo, Repeated
from deniable.surveys.database import PrivateDatabase

WEEKLY = Rappor(domain=Categories(40), epsilon=1, permanent=3)
NOISY = Rappor(domain=Categories(40), epsilon=1, permanent=1.5)
"""Kept bits that lie often: reports of them average 0.84 or 0.16, those of bits drawn anew 0.62 or 0.38."""
SETUP = """
import os, signal, sys
from deniable.surveys import Memo, Repeated
from deniable.core import Categories
from deniable.core.mechanisms.categorical.rappor import Rappor
weekly = Rappor(domain=Categories(40), epsilon=1, permanent=3)
answers = Repeated(weekly, Memo(sys.argv[1], limit=60), question="q")
"""


def kept(path: Path) -> list[tuple[bytes, bytes]]:
    """What the file holds, read by a connection of its own."""
    connection = sqlite3.connect(path)
    try:
        return connection.execute("SELECT tag, bits FROM kept ORDER BY tag").fetchall()
    finally:
        connection.close()


def python(code: str, path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", SETUP + code, str(path)], stdout=subprocess.PIPE, text=True)


def test_the_same_value_keeps_its_bits_and_another_gets_its_own(tmp_path: Path) -> None:
    answers = Repeated(WEEKLY, Memo(tmp_path / "memo"), question="q")
    first = answers._kept(7, FixedCoins(1))
    assert answers._kept(7, FixedCoins(2)) == first
    # 40 bits at a flip rate of 18 %: equal by chance with probability below 1e-6.
    assert answers._kept(8, FixedCoins(3)) != first
    assert answers._kept(7, FixedCoins(4)) == first
    assert len(kept(tmp_path / "memo")) == 2
    assert answers.lifetime_level() == 6


def test_a_restart_finds_the_same_bits(tmp_path: Path) -> None:
    print_bits = "from deniable.core import SYSTEM; print(answers._kept(7, SYSTEM))"
    seen = {python(print_bits, tmp_path / "memo").communicate(timeout=60)[0] for _ in range(3)}
    assert len(seen) == 1
    assert seen != {""}


def test_questions_and_recipes_are_kept_apart(tmp_path: Path) -> None:
    memo = Memo(tmp_path / "memo", limit=10)
    one, two = Repeated(WEEKLY, memo, question="one"), Repeated(WEEKLY, memo, question="two")
    other = Repeated(Rappor(domain=Categories(40), epsilon=1, permanent=4), memo, question="one")
    bits = {answers._kept(7, FixedCoins(number)) for number, answers in enumerate((one, two, other))}
    assert len(bits) == 3
    assert (one.lifetime_level(), two.lifetime_level(), other.lifetime_level()) == (3, 3, 4)


def averages(report: Callable[[], int], reports: int = 1500) -> NDArray[np.float64]:
    """How often each bit is 1 over many reports."""
    outputs = [report() for _ in range(reports)]
    return np.array([sum(output >> bit & 1 for output in outputs) / reports for bit in range(40)])


def looks_kept(seen: NDArray[np.float64]) -> bool:
    """Do the averages lie at the second layer's two levels, as kept bits make them, rather than in between?

    Off by 0.08 with 1500 reports has probability below 2 exp(-2 * 1500 * 0.08**2) = 1e-8 a bit.
    """
    levels = np.array([NOISY.ones, NOISY.zeros]) / LAYER
    return bool((np.abs(seen[:, None] - levels).min(axis=1) < 0.08).all())


def test_many_reports_converge_to_the_kept_bits_and_not_to_the_truth(tmp_path: Path) -> None:
    answers = Repeated(NOISY, Memo(tmp_path / "memo"))
    coins = FixedCoins(11)
    seen = averages(lambda: answers.report(7, coins).output)
    assert looks_kept(seen)
    bits = answers._kept(7, coins)
    assert [bool(average > 0.5) for average in seen] == [bool(bits >> bit & 1) for bit in range(40)]
    assert bits != 1 << 7  # some kept bit is a lie, and stays one


class Forgetful(Memo):
    """The fault: permanent bits that are not permanent."""

    def keep(self, recipe: str, question: str, value: bytes, draw: Callable[[], bytes], **costs: Fraction | None) -> bytes:
        return draw()


def test_a_memo_that_forgets_is_caught(tmp_path: Path) -> None:
    answers = Repeated(NOISY, Forgetful(tmp_path / "memo"))
    coins = FixedCoins(11)
    seen = averages(lambda: answers.report(7, coins).output)
    assert not looks_kept(seen)
    # What the collector would then learn: the truth itself.
    assert int(seen.argmax()) == 7
    assert (seen < 0.5).sum() == 39


def test_two_processes_agree_on_the_bits_whoever_is_first(tmp_path: Path) -> None:
    race = "from deniable.core import SYSTEM\nprint([answers._kept(value, SYSTEM) for value in range(20)])"
    Memo(tmp_path / "memo")
    runners = [python(race, tmp_path / "memo") for _ in range(2)]
    said = [runner.communicate(timeout=60)[0] for runner in runners]
    assert all(runner.returncode == 0 for runner in runners)
    assert said[0] == said[1] != ""
    assert len(kept(tmp_path / "memo")) == 20


def test_the_first_draw_stands_when_another_process_is_faster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow, fast = Memo(tmp_path / "memo"), Memo(tmp_path / "memo")
    honest = PrivateDatabase.writing

    def overtaken(self: PrivateDatabase) -> object:
        # Between the slow one's look and its lock, the fast one keeps its bits.
        if self is slow._file:
            fast.keep("recipe", "question", b"value", lambda: b"fast", epsilon=Fraction(3))
        return honest(self)

    monkeypatch.setattr(PrivateDatabase, "writing", overtaken)
    assert slow.keep("recipe", "question", b"value", lambda: b"slow", epsilon=Fraction(3)) == b"fast"
    assert [bits for _, bits in kept(tmp_path / "memo")] == [b"fast"]


def test_two_processes_may_make_one_memo(tmp_path: Path) -> None:
    runners = [python("print(answers.memo._key.hex())", tmp_path / "memo") for _ in range(3)]
    said = {runner.communicate(timeout=60)[0] for runner in runners}
    assert len(said) == 1
    assert all(runner.returncode == 0 for runner in runners)


def test_threads_agree_too(tmp_path: Path) -> None:
    answers = Repeated(WEEKLY, Memo(tmp_path / "memo", limit=15))
    found: list[list[int]] = [[] for _ in range(4)]

    def work(place: int) -> None:
        found[place] = [answers._kept(value, FixedCoins(place)) for value in range(5)]

    threads = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0]
    assert all(bits == found[0] for bits in found)


def test_bits_are_committed_before_a_report_exists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = Repeated(WEEKLY, Memo(tmp_path / "memo"))
    on_disk: list[list[bytes]] = []
    honest = Rappor.report_kept

    def watched(self: Rappor, bits: int, coins: object) -> object:
        on_disk.append([row[1] for row in kept(tmp_path / "memo")])
        assert on_disk[-1] == [bits.to_bytes(5, "little")]
        return honest(self, bits, coins)  # type: ignore[arg-type]

    monkeypatch.setattr(Rappor, "report_kept", watched)
    answers.report(7)
    assert len(on_disk) == 1


def test_a_kill_after_the_commit_loses_nothing(tmp_path: Path) -> None:
    # Killed when the bits are kept and the report not yet sent.
    crash = "Rappor.report_kept = lambda *a: os.kill(os.getpid(), signal.SIGKILL)\nanswers.report(7)\nprint('not reached')"
    runner = python(crash, tmp_path / "memo")
    assert runner.communicate(timeout=60)[0] == ""
    assert runner.returncode == -signal.SIGKILL
    before = kept(tmp_path / "memo")
    assert len(before) == 1
    Repeated(WEEKLY, Memo(tmp_path / "memo"), question="q").report(7)
    assert kept(tmp_path / "memo") == before


def test_a_kill_before_the_commit_leaves_nothing_behind_and_nothing_was_sent(tmp_path: Path) -> None:
    crash = "class Dying:\n    def below(self, n): os.kill(os.getpid(), signal.SIGKILL)\nprint(answers.report(7, Dying()).output)"
    runner = python(crash, tmp_path / "memo")
    assert runner.communicate(timeout=60)[0] == ""
    assert runner.returncode == -signal.SIGKILL
    assert kept(tmp_path / "memo") == []
    answers = Repeated(WEEKLY, Memo(tmp_path / "memo"), question="q")
    answers.report(7)
    assert len(kept(tmp_path / "memo")) == 1


def test_a_draw_that_fails_is_undone(tmp_path: Path) -> None:
    answers = Repeated(WEEKLY, Memo(tmp_path / "memo"))

    class Broken:
        def below(self, n: int) -> int:
            raise OSError("no randomness")

    with pytest.raises(OSError, match="no randomness"):
        answers.report(7, Broken())
    assert kept(tmp_path / "memo") == []
    answers.report(7)


@pytest.mark.skipif(os.name != "posix", reason="file modes are those of POSIX")
def test_only_the_owner_can_read_the_file(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        Memo(tmp_path / "memo")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "memo").stat().st_mode) == 0o600
    (tmp_path / "memo").chmod(0o644)
    with pytest.raises(InvalidParameter, match="0600"):
        Memo(tmp_path / "memo")


def test_the_value_is_not_in_the_file(tmp_path: Path) -> None:
    names = Rappor(domain=Categories(["common-cold", "rare-disease", "healthy"]), epsilon=1, permanent=3)
    Repeated(names, Memo(tmp_path / "memo")).report("rare-disease")
    data = (tmp_path / "memo").read_bytes()
    assert b"rare-disease" not in data
    assert (1).to_bytes(8, "big") not in [tag for tag, _ in kept(tmp_path / "memo")]
    # Another device files the same value under another tag.
    Repeated(names, Memo(tmp_path / "other")).report("rare-disease")
    assert kept(tmp_path / "other")[0][0] != kept(tmp_path / "memo")[0][0]


def test_a_key_kept_elsewhere_is_not_in_the_file(tmp_path: Path) -> None:
    key = bytes(range(32))
    bits = Repeated(WEEKLY, Memo(tmp_path / "memo", key=key))._kept(7, FixedCoins(1))
    assert key not in (tmp_path / "memo").read_bytes()
    assert Repeated(WEEKLY, Memo(tmp_path / "memo", key=key))._kept(7, FixedCoins(2)) == bits
    # A wrong key would find nothing and draw again: it is refused instead.
    for wrong in (bytes(32), None):
        with pytest.raises(InvalidParameter, match="key"):
            Memo(tmp_path / "memo", key=wrong)
    Memo(tmp_path / "open")
    with pytest.raises(InvalidParameter, match="key"):
        Memo(tmp_path / "open", key=key)
    with pytest.raises(InvalidParameter, match="32 random bytes"):
        Memo(tmp_path / "new", key=b"short")


def test_other_files_are_refused_and_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "notes"
    other.write_bytes(b"these are not the bits you are looking for" * 40)
    other.chmod(0o600)
    with pytest.raises(InvalidParameter, match="something else"):
        Memo(other)
    assert other.read_bytes().startswith(b"these are not")
    foreign = tmp_path / "foreign"
    connection = sqlite3.connect(foreign)
    connection.execute("CREATE TABLE kept (tag, bits)")
    connection.commit()
    connection.close()
    foreign.chmod(0o600)
    with pytest.raises(InvalidParameter, match="another program"):
        Memo(foreign)


def test_bits_of_another_length_are_refused(tmp_path: Path) -> None:
    answers = Repeated(WEEKLY, Memo(tmp_path / "memo"))
    answers.report(7)
    connection = sqlite3.connect(tmp_path / "memo")
    connection.execute("UPDATE kept SET bits = x'00'")
    connection.commit()
    connection.close()
    with pytest.raises(InvalidParameter, match="damaged"):
        answers.report(7)


def test_reports_are_those_of_the_recipe(tmp_path: Path) -> None:
    client = Client(WEEKLY.recipe(), max_epsilon=6)
    answers = Repeated(client, Memo(tmp_path / "memo"))
    assert decode_report(WEEKLY, answers.randomize(7)).recipe == WEEKLY.fingerprint
    assert report_from_json(WEEKLY, answers.randomize_json(7)).recipe == WEEKLY.fingerprint


def test_what_cannot_be_repeated_is_refused(tmp_path: Path) -> None:
    memo = Memo(tmp_path / "memo")
    with pytest.raises(NotSupported, match="rappor"):
        Repeated(KaryRandomizedResponse(epsilon=1), memo)
    with pytest.raises(InvalidParameter, match="memo"):
        Repeated(WEEKLY, "memo")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="question"):
        Repeated(WEEKLY, memo, question=3)  # type: ignore[arg-type]
    with pytest.raises(OutOfDomain):
        Repeated(WEEKLY, memo).report(40)
    assert kept(tmp_path / "memo") == []
