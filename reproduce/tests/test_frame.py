"""Results are judged by their stated tolerance, kept while nothing has changed, and shown on one page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from deniable.charts import inline, themed
from deniable_reproduce import run as frame
from deniable_reproduce.artifact import (
    Artifact,
    Claim,
    MissingData,
    Published,
    Result,
    Run,
    named,
    other_roundings,
    readings,
)
from deniable_reproduce.report_page import build, pair, shown
from deniable_reproduce.run import Done, Skipped, identity, make, make_all, plain
from deniable_reproduce.verdict import Verdict

calls: list[Run] = []


def count_calls(run: Run) -> Result:
    calls.append(run)
    numbers = {"answer": 42.0, "words": float(len(run.randomness))}
    return {"numbers": numbers, "variants": {"words": {"<none>": -1.05, "one": 1.0, "two": 2.0}}, "infinite": float("inf")}


def picture(result: Result) -> dict[str, object]:
    import altair as alt

    chart = alt.Chart(inline([{"x": 1, "y": 2}])).mark_line(clip=True).encode(x="x:Q", y="y:Q")
    return {"one": themed(chart, title="One"), "two": themed(chart, title="Two")}


ARTIFACT = Artifact(
    name="figure-0.0",
    title="A test",
    source="nowhere",
    compute=count_calls,
    draw=picture,
    table=lambda result: [{"what": "answer", "ours": result["numbers"]["answer"]}],
    published=(
        Published("answer", 42.4, 0.5, "here"),
        Published(
            "words",
            -1.0,
            0.1,
            "here",
            "because <this> is a test",
            variants=readings("words"),
            evidence=named("answer"),
        ),
    ),
    claims=(Claim("the sky is green", "there", lambda result: result["numbers"]["answer"] < 0, "it is blue", named("answer")),),
)


@pytest.fixture(autouse=True)
def only_this_artifact(monkeypatch: pytest.MonkeyPatch) -> None:
    calls.clear()
    monkeypatch.setattr(frame, "find", lambda name: ARTIFACT)


def test_a_number_within_its_tolerance_is_reproduced_and_others_need_a_reason() -> None:
    near, explained, claim = ARTIFACT.verdicts(count_calls(Run()))
    assert (near.verdict, near.why) == ("reproduced", "")
    assert (explained.verdict, explained.explained) == ("differs", True)
    assert (claim.verdict, claim.explained, claim.ours) == ("differs", True, False)
    silent = replace(ARTIFACT, published=(Published("answer", 42.6, 0.5, "here"),), claims=())
    assert not silent.verdicts(count_calls(Run()))[0].explained


def test_a_reason_without_a_number_of_the_same_run_explains_nothing() -> None:
    result = count_calls(Run())
    words = Published("words", -1.0, 0.1, "here", "because")
    claim = Claim("the sky is green", "there", lambda result: result["numbers"]["answer"] < 0, "it is blue")
    only_words = replace(ARTIFACT, published=(words,), claims=(claim,))
    assert [verdict.explained for verdict in only_words.verdicts(result)] == [False, False]
    shown = replace(
        only_words, published=(replace(words, evidence=named("answer")),), claims=(replace(claim, evidence=named("answer")),)
    )
    assert [verdict.explained for verdict in shown.verdicts(result)] == [True, True]
    infinite = replace(only_words, published=(replace(words, evidence=lambda result: {"endless": float("inf")}),), claims=())
    assert not infinite.verdicts(result)[0].explained


def test_the_finding_says_which_readings_give_the_printed_number() -> None:
    def finding(variants: dict[str, float]) -> str:
        return Verdict("x", "here", 1.0, 3.0, 0.1, "differs", "because", variants).finding

    assert finding({}) == ""
    assert finding({"other unit": 1.05}) == "The printed number comes with: other unit (1.05)."
    assert finding({"other unit": 2.0}) == "other unit gives 2, not the printed number."
    assert finding({"a": 1.05, "b": 2.0}).startswith(
        "The printed number comes with 1 of 2 other readings: a (1.05); all lie between 1.05 and 2. A number drawn uniformly"
    )
    assert finding({"a": 0.5, "b": 2.0}).startswith(
        "None of 2 other readings gives the printed number: all lie between 0.5 and 2; the nearest is a (0.5). A number drawn"
    )
    assert "and others" in finding({str(i): 1.0 for i in range(5)})


def test_numbers_that_are_cut_or_rounded_up_are_told() -> None:
    found = other_roundings("x")({"numbers": {"x": 0.4512}})
    assert list(found.values()) == [0.45, 0.46]


def test_a_stopped_artifact_goes_on_after_its_finished_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[str] = []
    noted: list[str] = []

    def part(name: str) -> list[float]:
        counted.append(name)
        if name == "second" and len(noted) < 3:
            raise OSError("pulled plug")
        return [0.1, 1 / 3]

    def parts(run: Run) -> Result:
        return {
            "numbers": {"answer": 42.0, "words": 0.0},
            "parts": [run.once(name, partial(part, name)) for name in ("first", "second")],
        }

    artifact = replace(ARTIFACT, compute=parts, published=(), claims=())
    monkeypatch.setattr(frame, "find", lambda name: artifact)
    run = Run(full=True, note=noted.append)
    with pytest.raises(OSError, match="pulled plug"):
        make("figure-0.0", run, tmp_path, pictures=False)
    counted.clear()
    again = make("figure-0.0", run, tmp_path, pictures=False)
    assert counted == ["second"], "the first part was kept"
    assert again.result == frame.compute(artifact, Run()), "and is the same bit by bit"
    assert noted == ["first", "second", "second"]
    assert not (tmp_path / "results" / "steps" / "figure-0.0").exists(), "parts are gone when the whole is kept"


def test_a_number_that_is_not_finite_is_never_reproduced() -> None:
    odd = replace(ARTIFACT, published=(Published("answer", 1.0, 1e300, "here"),), claims=())
    assert odd.verdicts({"numbers": {"answer": float("nan")}})[0].verdict == "differs"


def test_a_kept_result_is_used_again(tmp_path: Path) -> None:
    first = make("figure-0.0", Run(), tmp_path)
    second = make("figure-0.0", Run(), tmp_path)
    assert (first.kept, second.kept, len(calls)) == (False, True, 1)
    assert first.result == second.result
    assert second.result["infinite"] == "inf"


@pytest.mark.parametrize("changed", [Run(full=True), Run(randomness="other words")])
def test_another_size_or_randomness_computes_again(tmp_path: Path, changed: Run) -> None:
    make("figure-0.0", Run(), tmp_path)
    assert not make("figure-0.0", changed, tmp_path).kept
    assert len(calls) == 2


def test_another_program_or_file_computes_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make("figure-0.0", Run(), tmp_path)
    monkeypatch.setattr(frame, "code_version", lambda: "changed")
    assert not make("figure-0.0", Run(), tmp_path).kept
    with_data = replace(ARTIFACT, data=("data.csv",))
    before = identity(with_data, Run(data=tmp_path))
    (tmp_path / "data.csv").write_text("1\n", encoding="utf-8")
    assert identity(with_data, Run(data=tmp_path)) != before


def test_again_computes_again(tmp_path: Path) -> None:
    make("figure-0.0", Run(), tmp_path)
    make("figure-0.0", Run(), tmp_path, again=True)
    assert len(calls) == 2


@pytest.mark.parametrize("content", ["", "{", "[]", '{"identity": {}}'])
def test_a_broken_file_is_no_result(tmp_path: Path, content: str) -> None:
    make("figure-0.0", Run(), tmp_path)
    (tmp_path / "results" / "figure-0.0.json").write_text(content, encoding="utf-8")
    assert not make("figure-0.0", Run(), tmp_path).kept


def test_the_code_version_does_not_depend_on_the_command_line_room() -> None:
    assert re.fullmatch(r"[0-9a-f]{16}", frame.code_version())
    assert "cli" in frame.OUTSIDE
    assert "experiments" not in frame.OUTSIDE


def test_results_become_plain_json() -> None:
    found = plain({"a": np.float64(1.5), 2: np.arange(3), "n": (np.int64(1), float("nan"), -float("inf"), True)})
    assert found == {"a": 1.5, "2": [0, 1, 2], "n": [1, "nan", "-inf", True]}
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_the_same_words_give_the_same_randomness() -> None:
    def words(run: Run, purpose: str) -> list[int]:
        found = np.zeros(4, np.uint64)
        run.keystream(purpose).fill(found)
        return [int(word) for word in found]

    assert words(Run(), "a") == words(Run(), "a")
    assert words(Run(), "a") != words(Run(), "b")
    assert words(Run(randomness="x"), "a") != words(Run(), "a")


def test_missing_data_names_the_file_and_where_it_comes_from(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match=r"clicks\.csv \(a museum\).*--data"):
        Run().file("clicks.csv", "a museum")
    with pytest.raises(MissingData, match="not in the --data directory"):
        Run(data=tmp_path).file("clicks.csv", "a museum")


def failing(error: Exception) -> Callable[[Run], Result]:
    def compute(run: Run) -> Result:
        raise error

    return compute


def test_what_cannot_be_computed_is_skipped_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    artifacts = {
        "good": ARTIFACT,
        "no-data": replace(ARTIFACT, compute=failing(MissingData("needs clicks.csv"))),
        "broken": replace(ARTIFACT, compute=failing(ZeroDivisionError("oops")), name="figure-0.1"),
    }
    monkeypatch.setattr(frame, "find", artifacts.__getitem__)
    good, missing, broken = make_all(list(artifacts), Run(), tmp_path, again=True)
    assert isinstance(good, Done)
    assert isinstance(missing, Skipped)
    assert missing.expected
    assert isinstance(broken, Skipped)
    assert not broken.expected
    assert "ZeroDivisionError" in broken.why


def test_the_page_is_one_file_with_every_picture_and_verdict(tmp_path: Path) -> None:
    done = make("figure-0.0", Run(), tmp_path)
    page = build([done, Skipped("figure-9.9", "needs <clicks>", True)], Run(), tmp_path / "index.html", "deniable reproduce all")
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 2
    assert "because &lt;this&gt; is a test" in text
    assert "&lt;none&gt; (-1.05)" in text, "the finding"
    assert "all 3 readings" in text
    assert "Computed here: answer <b>42</b>" in text
    assert "needs &lt;clicks&gt;" in text
    assert "deniable reproduce 1" in text, "the recorded randomness"
    assert "prefers-color-scheme: dark" in text
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", text), "nothing is fetched"


def test_pictures_on_one_page_do_not_share_names(tmp_path: Path) -> None:
    picture = tmp_path / "same.svg"
    picture.write_text(
        '<svg><defs><clipPath id="clip0"><rect/></clipPath></defs><g clip-path="url(#clip0)"><use href="#clip0"/></g></svg>',
        encoding="utf-8",
    )
    done = replace(make("figure-0.0", Run(), tmp_path, pictures=False), pictures={"one": picture, "two": picture})
    text = build([done], Run(), tmp_path / "index.html", "").read_text(encoding="utf-8")
    found = re.findall(r'\bid="([^"]+)"', text)
    assert len(found) == len(set(found)) == 2
    assert re.findall(r"url\(#([^)]+)\)", text) == found
    assert re.findall(r'href="#([^"]+)"', text) == found


def test_numbers_are_shown_as_exactly_as_their_tolerance() -> None:
    near, _, claim = ARTIFACT.verdicts(count_calls(Run()))
    assert pair(near) == ("42.4", "42.00", "0.5")
    assert pair(claim) == ("", "does not hold", "")
    assert shown(float("inf")) == "∞"
