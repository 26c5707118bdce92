"""What the commands and the small clients print, write and send is the same for every value that gives the same output."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.guards.emissions import Left, Run, assert_nothing_told, run
from tests.guards.wire_tap import WireTap

from deniable.cli.app import main
from deniable.core import Categories, Interval, Rappor, make_mechanism
from deniable.surveys import Client, Ledger, Memo, MockTransport, Repeated, Session, Survey, survey_from_toml

RECORD = """
title = "T"
purpose = "P"
epsilon = 1
[attributes.bread]
question = "?"
domain = "categories:rye,oat,malt"
[attributes.smokes]
question = "?"
domain = "binary"
"""


def told(
    scenario: Callable[[Any], Callable[[Run], None]], values: list[Any], folder: Path, tap: WireTap | None = None
) -> dict[int, Left]:
    """The runs of all values, after one that warms up."""
    runs = {place: run(scenario(value), folder, tap=tap) for place, value in enumerate([values[0], *values])}
    del runs[0]
    assert_nothing_told(runs)
    return runs


def command(*arguments: str) -> Callable[[Run], None]:
    def scenario(seen: Run) -> None:
        result = CliRunner().invoke(main, list(arguments))
        seen.show(result.stdout_bytes, result.stderr_bytes, result.exit_code, str(result.exception))

    return scenario


@pytest.mark.parametrize("kind", ["csv", "json", "binary"])
@pytest.mark.parametrize("way", ["argument", "file", "json"])
def test_randomize_prints_the_same(kind: str, way: str, folder: Path) -> None:
    source = folder.parent / "input.csv"
    ask = ["randomize", "k-rr", "--epsilon", "1", "--domain", "categories:rye,oat,malt", "--format", kind]

    def scenario(value: str) -> Callable[[Run], None]:
        source.write_text(f"bread\nrye\n{value}\nmalt\nnot bread\n")
        if way == "argument":
            return command(*ask, value, "malt")
        if way == "file":
            return command(*ask, "--input", str(source), "--output", "reports")
        return command(*ask, "--input", str(source), "--json")

    runs = told(scenario, ["rye", "oat", "malt"], folder)
    assert runs[1].draws == (2 if way == "argument" else 3)


@pytest.mark.parametrize("several", [False, True])
def test_submit_sends_and_prints_the_same(several: bool, folder: Path, tap: WireTap) -> None:
    survey = survey_from_toml(RECORD if several else RECORD.partition("[attributes.smokes]")[0])
    rows = ["rye,1", "oat,0", "malt,1"] if several else ["rye", "oat", "malt"]
    source = folder.parent / "input.csv"

    def scenario(row: str) -> Callable[[Run], None]:
        source.write_text("\n".join(["bread,smokes" if several else "bread", rows[0], row, rows[2]]) + "\n")

        def sent(seen: Run) -> None:
            tap.begin(survey.to_json(), [None, 503, 200])
            command("submit", str(source), "--survey", f"{tap.address}/v1/surveys/{survey.hash}", "--again", "--json")(seen)

        return sent

    runs = told(scenario, rows, folder, tap)
    assert len(runs[1].waits) == 2
    assert len(runs[1].wire) == 4  # the survey, and the same batch three times
    keys = {connection.partition(b"\r\n\r\n")[2][35:51] for connection in runs[1].wire[1:]}
    assert keys == {piece for piece in runs[1].given if len(piece) == 16}


def test_a_client_gives_the_same_bytes(folder: Path) -> None:
    recipe = make_mechanism("window", domain=Interval(0, 8, cells=9), epsilon=1).recipe()

    def scenario(value: float) -> Callable[[Run], None]:
        def asked(seen: Run) -> None:
            client = Client(recipe, max_epsilon=2)
            seen.show(client.randomize(value), client.randomize_json(value), client, client.mechanism, client.certificate)
            seen.attempt(lambda: client.randomize(value + 1000))

        return asked

    assert told(scenario, [0.5, 1.5, 4.5, 7.5], folder)[1].draws == 2


def test_repeated_reports_are_the_same_but_for_the_tag_in_the_memo(folder: Path) -> None:
    mechanism = Rappor(domain=Categories(5), epsilon=1, permanent=3)

    def scenario(value: int) -> Callable[[Run], None]:
        def asked(seen: Run) -> None:
            answers = Repeated(mechanism, Memo(seen.folder / "memo.db"), question="q")
            seen.show(*(answers.randomize(value) for _ in range(3)), answers.randomize_json(value), answers, answers.memo)
            seen.show(answers.lifetime_level())

        return asked

    runs = {value: run(scenario(value), folder) for value in (0, 0, 1, 2, 4)}
    data = {left.files["here/memo.db"][1] for left in runs.values()}
    assert len(data) == 4
    same = [bytes(one) for one in zip(*data, strict=True) if len(set(one)) == 1]
    assert len(next(iter(data))) - len(same) <= 32  # the tag
    for left in runs.values():
        left.files.pop("here/memo.db")
    assert_nothing_told(runs)


class Marked(str):
    """An answer that can be found again in memory."""


def test_nothing_keeps_a_reference_to_an_answer(tmp_path: Path) -> None:
    survey: Survey = survey_from_toml(RECORD.partition("[attributes.smokes]")[0])
    for repeat, document in (("once", survey), ("permanent", _permanent())):
        device = Session(document, Ledger(tmp_path / repeat), "http://localhost:1", transport=MockTransport())
        device.answer({"bread": Marked("oat")})
        gc.collect()
        assert not [item for item in gc.get_objects() if isinstance(item, Marked)], repeat
        assert device.transport.posted  # type: ignore[attr-defined]


def _permanent() -> Survey:
    text = RECORD.partition("[attributes.smokes]")[0]
    return survey_from_toml(text.replace("epsilon = 1\n", 'epsilon = 1\nrepeat = "permanent"\nwindow = "day"\n'))
