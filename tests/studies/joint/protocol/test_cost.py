"""A joint answer is paid for by the person's ledger: three levels are shown, and no survey takes more than the limit."""

from __future__ import annotations

import json
import math
import socket
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from deniable.cli.app import main
from deniable.core import Epsilon
from deniable.errors import AlreadyAnswered, BudgetSpent
from deniable.studies import (
    Identity,
    JointAnswer,
    JointSurvey,
    Thresholds,
    answer_cost,
    answer_jointly,
    bounded_pair,
    joint_privacy,
    published_pair,
)
from deniable.surveys import Ledger

KEYS = {name: Identity.new() for name in ("ada", "bob")}
USERS = {name: key.public for name, key in KEYS.items()}
MILD = JointSurvey("monday", Thresholds.of_table(bounded_pair(1, 2)), USERS)
CERTAIN = JointSurvey("monday", Thresholds(2**64 - 3, 2**64 - 2, 2**64 - 1), USERS)
"""Each tells the truth but in two of 2**64 cases; both lie in one of them, so that there is a bound."""
CLEAR = JointSurvey("monday", Thresholds(2**64 - 2, 2**64 - 1, 2**64), USERS)
"""p = 1 - 2**-64, and never do both lie."""
PUBLISHED = JointSurvey("monday", Thresholds.of_table(published_pair(1)), USERS)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.db")


@pytest.fixture
def nobody() -> int:
    """A port where nobody listens: users answer alone."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def answer(survey: JointSurvey, ledger: Ledger, port: int, *, name: str = "ada", trust_partner: bool = False) -> JointAnswer:
    return answer_jointly(
        survey, name, 1, KEYS[name], ledger=ledger, host="127.0.0.1", port=port, seconds=2, trust_partner=trust_partner
    )


def test_a_survey_that_takes_answers_in_clear_is_refused(ledger: Ledger, nobody: int) -> None:
    for survey in (CERTAIN, CLEAR):
        for trust_partner in (False, True):
            with pytest.raises(BudgetSpent):
                answer(survey, ledger, nobody, trust_partner=trust_partner)
    with pytest.raises(BudgetSpent, match=r"epsilon=43\.\d+, more than your limit 8\. The report leaves your answer practically"):
        answer(CERTAIN, ledger, nobody, trust_partner=True)
    assert ledger.spent() == 0


def test_a_round_is_answered_once(ledger: Ledger, nobody: int) -> None:
    assert answer(MILD, ledger, nobody).output in (0, 1)
    for name in ("ada", "bob", "ada", "bob", "ada", "bob"):
        with pytest.raises(AlreadyAnswered):
            answer(MILD, ledger, nobody, name=name)
    assert ledger.spent() == 2


def test_rounds_under_other_names_share_the_limit(ledger: Ledger, nobody: int) -> None:
    for number in range(4):
        answer(replace(MILD, round_name=f"round-{number}"), ledger, nobody)
    with pytest.raises(BudgetSpent, match="of your own limit 8 only 0 is left"):
        answer(replace(MILD, round_name="another"), ledger, nobody)


def test_a_partner_without_a_bound_must_be_trusted_explicitly(ledger: Ledger, nobody: int) -> None:
    with pytest.raises(BudgetSpent, match="no bound against the partner"):
        answer(PUBLISHED, ledger, nobody)
    answer(PUBLISHED, ledger, nobody, trust_partner=True)
    assert ledger.spent() == 1


def test_a_user_without_a_partner_pays_what_strangers_learn(ledger: Ledger, nobody: int) -> None:
    alone = replace(MILD, users={"ada": USERS["ada"]})
    answer(alone, ledger, nobody)
    assert ledger.spent() == 1


@pytest.mark.parametrize("law", [Thresholds.of("3/4", "-1/6"), Thresholds.of("3/5", "1/3"), MILD.thresholds, CERTAIN.thresholds])
def test_costs_are_rounded_up(law: Thresholds) -> None:
    survey = replace(MILD, thresholds=law)
    for trust in (False, True):
        cost = answer_cost(survey, trust_partner=trust)
        ratio = law.marginal_ratio if trust else law.known_pairing_ratio
        assert cost is not None
        assert ratio is not None
        assert Epsilon(cost, allow_large=True).allows(ratio)
        assert not Epsilon(cost - Fraction(2, 1000), allow_large=True).allows(ratio)


def test_three_levels_are_told() -> None:
    found = joint_privacy(MILD, users=1000, colluders=50)
    assert found.marginal == pytest.approx(1)
    assert found.known_pairing == pytest.approx(2)
    assert found.marginal < found.secret_pairing < found.known_pairing
    words = found.words()
    assert [line.split(" against")[0] for line in words[:3]] == [
        "epsilon 1.0000",
        f"epsilon {found.secret_pairing:.4f}",
        "epsilon 2.0000",
    ]
    assert words[3] == "Against such a partner your answer is fairly hidden."
    assert words[4].startswith("Experimental: the two-party protocol trusts both sides")
    assert math.isinf(joint_privacy(CLEAR).known_pairing)
    assert "practically disclosed; the partner can learn it outright" in joint_privacy(CLEAR).words()[3]


def run(folder: Path, *arguments: str, private: str = "") -> Result:
    files = {"--survey": "survey.json", "--reports": "reports.jsonl", "--key": "ada.key", "--ledger": "ada.ledger"}
    command = [*arguments]
    for option in {"survey": ("--survey",), "answer": tuple(files)}[arguments[0]]:
        command += [option, str(folder / files[option])]
    return CliRunner().invoke(main, ["joint", *command], input=private)


def test_the_commands_show_the_levels_and_keep_the_limit(tmp_path: Path, nobody: int) -> None:
    (tmp_path / "other").mkdir()
    made = run(tmp_path, "survey", "--round", "monday", "--p", "999999/1000000", "--rho", "0", "--users", "10")
    assert made.exit_code == 0, made.output
    assert "against 1 of 10 users" in made.output
    assert "practically disclosed" in made.output
    shown = run(tmp_path / "other", "survey", "--round", "monday", "--p", "3/4", "--rho=-1/3", "--json")
    assert {name: level is None for name, level in json.loads(shown.output).items() if name.startswith("epsilon")} == {
        "epsilon_marginal": False,
        "epsilon_secret_pairing": True,
        "epsilon_known_pairing": True,
    }
    survey = replace(JointSurvey.load(tmp_path / "survey.json"), users=USERS)
    (tmp_path / "survey.json").write_text(survey.to_json())
    (tmp_path / "ada.key").write_text(KEYS["ada"].to_bytes().hex())
    relay = ("--name", "ada", "--relay", f"127.0.0.1:{nobody}")
    refused = run(tmp_path, "answer", *relay, private="1\n")
    assert refused.exit_code == 2
    assert "more than your limit 8" in refused.output
    assert refused.output.count("epsilon 13.8155 against") == 3
    assert "trusts both sides to follow it" in refused.output
    assert not (tmp_path / "reports.jsonl").exists()
    accepted = run(tmp_path, "answer", *relay, "--limit", "14", private="1\n")
    assert accepted.exit_code == 0, accepted.output
    assert "answered alone" in accepted.output
    again = run(tmp_path, "answer", *relay, "--limit", "1000", private="1\n")
    assert again.exit_code == 2
    assert "already answered" in again.output
    assert [json.loads(line)["round"] for line in (tmp_path / "reports.jsonl").read_text().splitlines()] == ["monday"]


def test_every_command_says_that_it_is_experimental() -> None:
    for arguments in ([], ["survey"], ["answer"]):
        assert "Experimental" in CliRunner().invoke(main, ["joint", *arguments, "--help"]).output
    assert "Experimental: correlated answers in pairs." in CliRunner().invoke(main, ["--help"]).output
