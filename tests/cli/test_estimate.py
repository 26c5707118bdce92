"""`deniable estimate`: from files that `deniable randomize` wrote to estimates, and what is wrong with a file."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from deniable.batch import randomize_many
from deniable.cli.app import main
from deniable.cli.recipes import write_recipe
from deniable.core import (
    Binary,
    Categories,
    Circle,
    Interval,
    Mechanism,
    Record,
    Report,
    Text,
    Whole,
    make_mechanism,
    report_to_json,
)
from deniable.estimators import distribution, heavy_hitters, mean, quantiles, shares
from deniable.privacy import FixedKeystream

K_RR = make_mechanism("k-rr", domain=Categories(["never", "sometimes", "often"]), epsilon=1)
SW = make_mechanism("sw", domain=Interval(0, 100, cells=1000), epsilon=2)
SURE = 5.33
"""Standard errors that a normal estimate exceeds with probability below 1e-7; the tests below make fewer than ten such claims."""


def run(*arguments: str, text: str | bytes | None = None) -> Result:
    return CliRunner().invoke(main, list(arguments), input=text)


def stored(path: Path, mechanism: Mechanism, values: Any) -> Any:
    """Reports on fixed coins in a file, with their recipe beside it."""
    reports = randomize_many(mechanism, values, FixedKeystream(11))
    path.write_bytes(reports.to_bytes())
    write_recipe(mechanism, f"{path}.recipe.json")
    return reports


def answers(count: int = 2000) -> list[str]:
    return ["never"] * (count // 2) + ["sometimes"] * (count * 3 // 10) + ["often"] * (count // 5)


@pytest.mark.parametrize(("kind", "ending"), [("csv", "csv"), ("json", "jsonl"), ("binary", "dn"), ("binary", "bin")])
def test_what_randomize_writes_estimate_reads(tmp_path: Path, kind: str, ending: str) -> None:
    people, out = tmp_path / "people.csv", tmp_path / f"reports.{ending}"
    people.write_text("answer\n" + "\n".join(answers()) + "\n", encoding="utf-8")
    domain = "categories:never,sometimes,often"
    done = run("randomize", "k-rr", "-e", "3", "-d", domain, "-i", str(people), "-o", str(out), "--format", kind)
    assert done.exit_code == 0, done.output
    document = json.loads(run("estimate", str(out), "--json", "--strict").stdout)
    assert (document["mechanism"], document["n"], document["what"]) == ("k-rr", 2000, "frequency")
    assert (document["refused"], document["refused_by_reason"], document["notes"]) == (0, {}, [])
    assert [row["label"] for row in document["estimates"]] == ["never", "sometimes", "often"]
    for row, truth in zip(document["estimates"], (0.5, 0.3, 0.2), strict=True):
        # These coins are the system's: a false alarm in fewer than one of 10**9 runs.
        assert abs(row["value"] - truth) < 7 * row["standard_error"]
        assert row["low"] < row["value"] < row["high"]


def test_the_numbers_are_those_of_the_library(tmp_path: Path) -> None:
    reports = stored(tmp_path / "a.dn", K_RR, answers())
    document = json.loads(run("estimate", str(tmp_path / "a.dn"), "--json", "--level", "0.9", "--target", "population").stdout)
    direct = shares(reports, target="population")
    low, high = direct.interval(0.9)
    assert [row["value"] for row in document["estimates"]] == pytest.approx(direct.value.tolist())
    assert [row["low"] for row in document["estimates"]] == pytest.approx(low.tolist())
    assert [row["high"] for row in document["estimates"]] == pytest.approx(high.tolist())
    assert (document["target"], document["level"], document["method"]) == ("population", 0.9, direct.method)


def test_numbers_have_means_quantiles_and_distributions(tmp_path: Path) -> None:
    path = tmp_path / "ages.dn"
    reports = stored(path, SW, 20 + 60 * (np.arange(5000) / 5000) ** 2)
    average = json.loads(run("estimate", str(path), "--what", "mean", "--json").stdout)["estimates"]
    assert average[0]["value"] == pytest.approx(float(mean(reports).value))
    assert abs(average[0]["value"] - 40) < SURE * average[0]["standard_error"]
    middle = json.loads(run("estimate", str(path), "-w", "quantiles", "--levels", ".1,.5", "--method", "em", "--json").stdout)
    assert [row["label"] for row in middle["estimates"]] == ["10 %", "50 %"]
    assert [row["value"] for row in middle["estimates"]] == pytest.approx(
        quantiles(reports, (0.1, 0.5), method="em").value.tolist()
    )
    shape = json.loads(run("estimate", str(path), "-w", "distribution", "--bins", "10", "--json").stdout)["estimates"]
    assert [(row["from"], row["to"]) for row in shape] == [(10 * i, 10 * i + 10) for i in range(10)]
    assert [row["value"] for row in shape] == pytest.approx(distribution(reports, bins=10).value.tolist())
    assert run("estimate", str(path), "-w", "variance", "--json").exit_code == 0
    bars = json.loads(run("estimate", str(path), "-w", "histogram", "--bins", "4", "--project", "simplex", "--json").stdout)
    assert sum(row["value"] for row in bars["estimates"]) == pytest.approx(1)


def test_directions_wrap(tmp_path: Path) -> None:
    mechanism = make_mechanism("circular-window", domain=Circle(24), epsilon=2)
    stored(tmp_path / "hours.dn", mechanism, np.array([23.0, 1.0] * 2000))
    rows = json.loads(run("estimate", str(tmp_path / "hours.dn"), "--json").stdout)["estimates"]
    assert [row["label"] for row in rows] == ["direction", "concentration"]
    away = min(rows[0]["value"] % 24, -rows[0]["value"] % 24)
    assert away < SURE * rows[0]["standard_error"] < 2
    assert abs(rows[1]["value"] - math.cos(math.pi / 12)) < SURE * rows[1]["standard_error"]


def test_records_are_asked_field_by_field(tmp_path: Path) -> None:
    record = Record({"smokes": Binary(), "age": Interval(0, 100, cells=100)})
    mechanism = make_mechanism("product", domain=record, epsilon=2)
    path = tmp_path / "people.dn"
    stored(path, mechanism, {"smokes": np.arange(2000) % 2, "age": np.full(2000, 30.0)})
    document = json.loads(run("estimate", str(path), "--field", "smokes", "--json").stdout)
    assert (document["field"], document["what"], [row["label"] for row in document["estimates"]]) == (
        "smokes",
        "frequency",
        ["0", "1"],
    )
    missing = run("estimate", str(path))
    assert missing.exit_code == 2
    assert "--field" in missing.stderr
    assert "smokes, age" in run("estimate", str(path), "--field", "name", "-w", "mean").stderr


@pytest.mark.parametrize("name", ["pem", "tree-hist"])
def test_frequent_words_are_found(tmp_path: Path, name: str) -> None:
    mechanism = make_mechanism(name, domain=Text(2), epsilon=5)
    words = np.array(["ab"] * 12_000 + ["zx"] * 8000 + [f"{i:02d}" for i in range(100)] * 40)
    path = tmp_path / "words.dn"
    reports = stored(path, mechanism, words)
    direct = heavy_hitters(reports, share=0.1)
    assert set(direct.words) == {"ab", "zx"}
    chart = tmp_path / "words.svg"
    document = json.loads(run("estimate", str(path), "--share", "0.1", "--chart", str(chart), "--json").stdout)
    assert (document["what"], document["n"]) == ("heavy-hitters", 24_000)
    assert [row["label"] for row in document["estimates"]] == list(direct.words)
    assert [row["value"] for row in document["estimates"]] == pytest.approx(direct.shares.value.tolist())
    assert chart.exists()


@pytest.mark.parametrize(("domain", "values"), [("text:3", ["ab", "xyz"]), ("whole:20", ["7", "1000000"])])
def test_words_go_through_the_command_line(tmp_path: Path, domain: str, values: list[str]) -> None:
    path = tmp_path / "words.csv"
    assert run("randomize", "pem", "-e", "3", "-d", domain, *values, "-o", str(path)).exit_code == 0
    document = json.loads(run("estimate", str(path), "--json", "--strict").stdout)
    assert (document["what"], document["n"], document["refused"]) == ("heavy-hitters", 2, 0)
    assert run("randomize", "pem", "-e", "3", "-d", domain, "too long a word").exit_code == 1
    assert "whole number" in run("randomize", "pem", "-e", "3", "-d", domain.split(":")[0] + ":x", "a").stderr


def damaged(tmp_path: Path) -> Path:
    other = make_mechanism("k-rr", domain=Categories(4), epsilon=1)
    good = [report_to_json(K_RR, Report(K_RR.fingerprint, i % 3)) for i in range(997)]
    bad = [good[0].replace('"output":"0"', '"output":"9"')] * 2 + [report_to_json(other, Report(other.fingerprint, 0))]
    path = tmp_path / "reports.jsonl"
    path.write_text("\n".join(good[:500] + bad + good[500:]) + "\n", encoding="utf-8")
    write_recipe(K_RR, tmp_path / "recipe.json")
    return path


def test_bad_records_are_counted_by_reason_and_reported(tmp_path: Path) -> None:
    result = run("estimate", str(damaged(tmp_path)), "--recipe", str(tmp_path / "recipe.json"), "--json")
    assert result.exit_code == 0
    assert "3 of 1000 records were refused: 2 out of range, 1 of another recipe" in result.stderr
    document = json.loads(result.stdout)
    assert (document["n"], document["refused"]) == (997, 3)
    assert document["refused_by_reason"] == {"out of range": 2, "of another recipe": 1}


def test_strict_stops_at_the_first_bad_record_with_its_place(tmp_path: Path) -> None:
    result = run("estimate", str(damaged(tmp_path)), "--recipe", str(tmp_path / "recipe.json"), "--strict")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "reports.jsonl, line 501: the record is out of range" in result.stderr


def test_a_file_that_was_cut_off_is_used_and_named(tmp_path: Path) -> None:
    path = tmp_path / "a.dn"
    stored(path, K_RR, answers())
    path.write_bytes(path.read_bytes()[:-100])
    result = run("estimate", str(path), "--json")
    assert result.exit_code == 0
    assert "a.dn ends early" in result.stderr
    assert json.loads(result.stdout)["n"] == 1600
    assert run("estimate", str(path), "--strict").exit_code == 1


def test_the_wrong_recipe_gives_no_estimate(tmp_path: Path) -> None:
    path = tmp_path / "a.dn"
    stored(path, K_RR, answers())
    write_recipe(make_mechanism("k-rr", domain=Categories(3), epsilon=1), tmp_path / "other.json")
    result = run("estimate", str(path), "-r", str(tmp_path / "other.json"))
    assert result.exit_code == 1
    assert "2000 of 2000 records were refused: 2000 of another recipe" in result.stderr


def test_several_files_and_standard_input_add_up(tmp_path: Path) -> None:
    for name in ("a.dn", "b.dn"):
        stored(tmp_path / name, K_RR, answers())
    both = run("estimate", str(tmp_path / "a.dn"), str(tmp_path / "b.dn"), "--json")
    assert json.loads(both.stdout)["n"] == 4000
    data = (tmp_path / "a.dn").read_bytes()
    piped = run("estimate", "-", "-r", str(tmp_path / "a.dn.recipe.json"), "--json", text=data)
    assert json.loads(piped.stdout)["n"] == 2000
    twice = run("estimate", str(tmp_path / "a.dn"), str(tmp_path / "a.dn"))
    assert twice.exit_code == 2
    assert "twice" in twice.stderr


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["png", "svg", "html"])
def test_charts_of_every_question(tmp_path: Path, ending: str) -> None:
    circle = make_mechanism("circular-window", domain=Circle(360), epsilon=2)
    stored(tmp_path / "n.dn", SW, np.linspace(0, 100, 3000))
    stored(tmp_path / "c.dn", circle, np.linspace(0, 180, 3000))
    stored(tmp_path / "f.dn", K_RR, answers())
    questions = [
        ("n", "mean"),
        ("n", "quantiles"),
        ("n", "distribution"),
        ("c", "direction"),
        ("c", "distribution"),
        ("f", "frequency"),
    ]
    for name, what in questions if ending == "svg" else questions[:1]:
        chart = tmp_path / f"{name}-{what}.{ending}"
        result = run("estimate", str(tmp_path / f"{name}.dn"), "-w", what, "--chart", str(chart))
        assert result.exit_code == 0, result.output
        start = {"png": b"\x89PNG", "svg": b"<svg", "html": b"<!DOCTYPE html>"}[ending]
        assert chart.read_bytes().lstrip().startswith(start)


def test_tables_are_plain_and_say_what_they_are(tmp_path: Path) -> None:
    stored(tmp_path / "a.dn", K_RR, answers())
    result = run("estimate", str(tmp_path / "a.dn"), "--project", "simplex")
    assert result.exit_code == 0
    for word in ("sometimes", "2,000 reports by k-rr at epsilon 1", "95 % intervals for these users", "projected: simplex"):
        assert word in result.stdout
    assert "\x1b" not in result.output
    stored(tmp_path / "n.dn", SW, np.linspace(0, 100, 3000))
    shown = run("estimate", str(tmp_path / "n.dn"), "-w", "distribution").stdout
    assert "32 bins" in shown
    assert "In 95 of 100 such surveys each interval on its own holds the true value." in shown


def test_an_option_without_effect_is_refused(tmp_path: Path) -> None:
    stored(tmp_path / "n.dn", SW, np.linspace(0, 100, 300))
    for options, name in ((["--bins", "24"], "--bins"), (["--levels", ".5"], "--levels"), (["--share", ".1"], "--share")):
        result = run("estimate", str(tmp_path / "n.dn"), *options)
        assert result.exit_code == 2
        assert f"{name} has no effect on --what mean" in " ".join(result.output.split())


ASKED: dict[str, tuple[str, Any]] = {
    "frequency": ("k-rr", lambda: {"domain": Categories(3)}),
    "mean": ("sw", dict),
    "variance": ("sw", dict),
    "distribution": ("sw", dict),
    "histogram": ("sw", dict),
    "quantiles": ("sw", dict),
    "direction": ("circular-window", dict),
    "heavy-hitters": ("pem", lambda: {"domain": Whole(8)}),
}
OTHERS = {
    "--bins": "5",
    "--method": "em",
    "--levels": ".4,.6",
    "--level": ".8",
    "--intervals": "wald",
    "--together": None,
    "--multiples-of": "0.25",
    "--target": "population",
    "--project": "norm-cut",
    "--share": "0.9",
    "--column": "reports",
    "--base": "10",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", ASKED)
def test_every_option_changes_the_answer_or_is_refused(what: str, tmp_path: Path) -> None:
    name, extra = ASKED[what]
    mechanism = make_mechanism(name, epsilon=4, **extra())
    values = {"frequency": np.arange(400) % 3 // 2, "heavy-hitters": np.repeat([7, 200], 200)}.get(
        what, np.linspace(0.1, 0.7, 400) ** 2
    )
    stored(tmp_path / "n.dn", mechanism, values)
    asked = ("estimate", str(tmp_path / "n.dn"), "--what", what, "--json")
    plain = json.loads(run(*asked).stdout)
    for option, value in OTHERS.items():
        result = run(*asked, option, *([] if value is None else [value]))
        if result.exit_code:
            assert result.exit_code in (1, 2), option
            assert not isinstance(result.exception, AssertionError)
            continue
        changed = json.loads(result.stdout)
        same = all(changed[key] == plain[key] for key in ("estimates", "assumes"))
        assert not same, f"{option} has no effect on {what}, and is not refused"


def test_too_few_reports_are_told_with_the_number_that_would_do(tmp_path: Path) -> None:
    mechanism = make_mechanism("k-rr", domain=Categories(3), epsilon=1)
    stored(tmp_path / "few.dn", mechanism, [0, 2])
    few = run("estimate", str(tmp_path / "few.dn"))
    assert "2 reports are too few" in " ".join(few.output.split())
    told = json.loads(run("estimate", str(tmp_path / "few.dn"), "--json").stdout)
    assert told["too_few"]
    needed = told["reports_needed"]
    stored(tmp_path / "many.dn", mechanism, np.arange(needed) % 3)
    enough = json.loads(run("estimate", str(tmp_path / "many.dn"), "--json").stdout)
    assert not enough["too_few"]
    assert max(row["high"] - row["low"] for row in enough["estimates"]) / 2 < 0.13


def test_what_is_assumed_stands_beside_the_answer(tmp_path: Path) -> None:
    stored(tmp_path / "n.dn", SW, np.full(500, 50.0))
    asked = ("estimate", str(tmp_path / "n.dn"), "-w", "distribution", "--bins", "4", "--multiples-of", "10")
    assert json.loads(run(*asked, "--json").stdout)["assumes"] == "values are multiples of 10"
    assert "if values are multiples of 10" in run(*asked, "--together").stdout


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["a.dn", "--level", "2"], "level must lie between 0 and 1"),
        (["a.dn", "-w", "quantiles", "--levels", "0.5,x"], "levels must be numbers"),
        (["a.dn", "-w", "mean"], "k-rr"),
        (["a.dn", "-w", "maen"], "mean"),
        (["a.dn", "--chart", "x.gif"], ".png"),
        (["a.dn", "--field", "age"], "--field is for records"),
        (["n.dn", "-w", "mean", "--project", "simplex"], "project"),
        (["bare.dn"], "--recipe"),
        ([], "REPORTS"),
    ],
    ids=str,
)
def test_wrong_questions_get_one_helpful_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], hint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    stored(Path("a.dn"), K_RR, answers(100))
    stored(Path("n.dn"), SW, np.linspace(0, 100, 100))
    Path("bare.dn").write_bytes(Path("a.dn").read_bytes())
    result = run("estimate", *arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert hint in result.stderr


def test_recipes_are_checked(tmp_path: Path) -> None:
    stored(tmp_path / "a.dn", K_RR, answers(100))
    recipe = tmp_path / "a.dn.recipe.json"
    changed = json.loads(recipe.read_text(encoding="utf-8"))
    changed["recipe"]["epsilon"] = "2"
    recipe.write_text(json.dumps(changed), encoding="utf-8")
    result = run("estimate", str(tmp_path / "a.dn"))
    assert result.exit_code == 2
    assert "fingerprint" in result.stderr
    recipe.write_text("[1]", encoding="utf-8")
    assert run("estimate", str(tmp_path / "a.dn")).exit_code == 2
    recipe.write_text("{", encoding="utf-8")
    assert run("estimate", str(tmp_path / "a.dn")).exit_code == 1


def test_the_recipe_may_go_elsewhere(tmp_path: Path) -> None:
    recipe = tmp_path / "public.json"
    result = run("randomize", "k-rr", "-e", "1", "-d", "categories:3", "1", "2", "--recipe-out", str(recipe), "--format", "json")
    assert result.exit_code == 0
    document = json.loads(run("estimate", "-", "-r", str(recipe), "--json", text=result.stdout).stdout)
    assert document["n"] == 2


def test_one_report_gives_a_wide_interval(tmp_path: Path) -> None:
    stored(tmp_path / "a.dn", K_RR, ["often"])
    row = json.loads(run("estimate", str(tmp_path / "a.dn"), "--json").stdout)["estimates"][0]
    assert row["high"] - row["low"] == pytest.approx(1)
