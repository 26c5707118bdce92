"""A device that draws again after a restart or a crash is caught."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.guards.crashes import at_a_line, check_one_draw, check_one_permanent_draw
from tests.guards.device import check_permanent
from tests.guards.test_restarts import switched_on

from deniable.core import encode_report
from deniable.surveys import Ledger, Memo, Receipt, Session, Submission, submission_to_json
from deniable.surveys.ledger import Pending


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["salted", "hashed", "by_path", "in_memory", "half_forgotten", "shared"])
def test_permanent_answers_that_do_not_survive_a_restart_are_caught(fault: str, tmp_path: Path) -> None:
    days = switched_on(tmp_path, f"tests.faults.restarts:{fault}")
    with pytest.raises(AssertionError, match=r"drawn afresh|is wrong|share their"):
        check_permanent(days)


def test_a_report_that_is_sent_before_it_is_written_down_is_caught(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Session.answer

    def answer(self: Session, answers: Any, **more: Any) -> Receipt:
        if not self.ledger.pending():
            report = self.survey.mechanism.randomize(self.survey.value(answers))
            body = submission_to_json(self.survey, Submission(os.urandom(16), report))
            self.transport.post("", body, "")
            monkeypatch.setattr("deniable.surveys.session.encode_report", lambda mechanism, _: encode_report(mechanism, report))
        return honest(self, answers, **more)

    monkeypatch.setattr(Session, "answer", answer)
    folder.mkdir()
    with pytest.raises(AssertionError, match="two different reports"):
        check_one_draw(at_a_line, folder, stride=7)


def test_a_draw_that_is_kept_in_two_steps_is_caught(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report is written down first, and in another transaction that it is permanent."""
    honest = Ledger.draw

    def draw(self: Ledger, survey: str, period: str, *, permanent: bytes | None = None, **more: Any) -> Pending:
        with self._file.reading() as connection:
            kept = self._kept(connection, survey, permanent)
        if kept is not None:
            return honest(self, survey, period, permanent=permanent, **more)
        found = honest(self, survey, period, **more)
        assert permanent is not None
        with self._file.writing() as connection:
            connection.execute("INSERT INTO kept VALUES (?, ?, ?)", (survey, self._tag(survey, permanent), found.report))
        return found

    monkeypatch.setattr(Ledger, "draw", draw)
    folder.mkdir()
    with pytest.raises(AssertionError, match="drawn afresh"):
        check_one_permanent_draw(at_a_line, folder, stride=11)


@pytest.mark.slow
def test_bits_that_are_used_before_they_are_kept_are_caught(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Memo.keep
    drawn: list[bytes] = []

    def keep(self: Memo, recipe: str, question: str, value: bytes, draw: Callable[[], bytes], **cost: Any) -> bytes:
        """Gives out the bits of the first call and writes them down at the next one."""
        if not drawn:
            drawn.append(draw())
            return drawn[0]
        return honest(self, recipe, question, value, lambda: drawn[0], **cost)

    monkeypatch.setattr(Memo, "keep", keep)
    folder.mkdir()
    with pytest.raises(AssertionError, match="drawn afresh"):
        check_one_permanent_draw(at_a_line, folder, stride=7)
