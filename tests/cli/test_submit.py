"""`deniable submit` asks before it spends much of somebody's privacy."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from deniable.cli.app import main
from deniable.core import Categories, Epsilon, KaryRandomizedResponse
from deniable.surveys import Attribute, HttpTransport, Survey


def test_a_survey_that_costs_too_much_is_not_submitted_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = KaryRandomizedResponse(domain=Categories(["red", "green"]), epsilon=Epsilon(100, allow_large=True))
    survey = Survey(title="T", purpose="P", attributes=(Attribute("colour", "Which?"),), mechanism=mechanism, budget=100)
    path, sent = tmp_path / "answers.csv", []
    path.write_text("colour\nred\n")

    def post(self: HttpTransport, url: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        sent.append(body)
        return 200, b'{"accepted":1,"known":0}'

    monkeypatch.setattr(HttpTransport, "get", lambda self, url: (200, survey.to_json()))
    monkeypatch.setattr(HttpTransport, "post", post)
    command = ["submit", str(path), "--survey", f"http://127.0.0.1:1/v1/surveys/{survey.hash}"]
    refused = CliRunner().invoke(main, command)
    assert refused.exit_code == 2
    assert "more than --max-epsilon 8" in refused.output
    assert "practically disclosed" in refused.output
    assert not sent
    assert CliRunner().invoke(main, [*command, "--max-epsilon", "100"]).exit_code == 0
    assert len(sent) == 1
