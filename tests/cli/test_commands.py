"""The command line: what it prints, what it refuses, and with which exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from deniable.cli.app import main
from deniable.core import Categories, Interval, KaryRandomizedResponse, Window, decode_reports, names, report_from_json


def run(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(main, list(arguments), input=text)


def test_mechanisms_lists_everything() -> None:
    document = json.loads(run("mechanisms", "--json").stdout)
    assert [row["name"] for row in document] == names()
    assert all(row["summary"] and row["source"] and row["family"] for row in document)
    circular = json.loads(run("mechanisms", "--family", "circular", "--json").stdout)
    assert {row["family"] for row in circular} == {"circular"}
    table = run("mechanisms", "-f", "circular").stdout
    assert "circular-window" in table
    assert "\x1b" not in table


def test_show_knows_the_corrected_and_the_published_window() -> None:
    facts = json.loads(run("show", "window", "--epsilon", "8", "--json").stdout)
    assert facts["name"] == "window"
    assert facts["holds"] is True
    assert facts["epsilon"] == 8
    assert 0 <= 8 - facts["epsilon_exact"] < 1e-9
    assert facts["worst_case"]["squared"] == pytest.approx(0.003024, abs=5e-7)
    assert facts["published"]["squared"] == pytest.approx(0.006211, abs=5e-7)
    assert facts["fingerprint"] == facts["certificate"]["fingerprint"] == Window(epsilon=8).fingerprint
    assert facts["recipe"] == Window(epsilon=8).recipe()


def test_show_takes_domains_and_parameters() -> None:
    facts = json.loads(run("show", "window", "-e", "1/3", "-d", "interval:-5,5,1000", "-p", "loss_exponent=1.5", "--json").stdout)
    assert facts["recipe"] == Window(epsilon="1/3", domain=Interval(-5, 5, cells=1000), loss_exponent="1.5").recipe()


def test_show_gives_p_and_q_of_categories() -> None:
    facts = json.loads(run("show", "k-rr", "-e", "1", "-d", "categories:2", "--json").stdout)
    assert facts["worst_case"]["absolute"] is None
    assert facts["frequency"]["p"] == pytest.approx(0.7310585786, abs=1e-9)
    assert facts["frequency"]["variance"] == pytest.approx(0.920674, abs=1e-6)


@pytest.mark.parametrize("name", ["randomized-response", "oue", "ogpm", "hm", "circular-window", "product", "nearest-cells"])
def test_show_prints_every_family(name: str) -> None:
    result = run("show", name, "-e", "1")
    assert result.exit_code == 0, result.output
    assert "holds" in result.stdout
    assert "\x1b" not in result.stdout


@pytest.mark.parametrize("ending", ["png", "svg", "html"])
def test_show_draws(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"chart.{ending}"
    assert run("show", "ogpm", "-e", "2", "--chart", str(path), "--json").exit_code == 0
    start = {"png": b"\x89PNG", "svg": b"<svg", "html": b"<!DOCTYPE html>"}[ending]
    assert path.read_bytes().lstrip().startswith(start)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["shwo", "window"], "did you mean show?"),
        (["show", "windwo", "-e", "1"], "did you mean window?"),
        (["show", "window", "-e", "1", "-p", "los_exponent=1"], "did you mean loss_exponent?"),
        (["show", "window", "-e", "1", "--jsn"], "--json"),
        (["show", "window", "-e", "1", "-d", "intervall:0,1"], "interval:0,1"),
        (["show", "window", "-e", "1", "-d", "binary"], "Interval"),
        (["show", "window", "-e", "-1"], "epsilon must be"),
        (["show", "window"], "--epsilon"),
        (["show", "pieces", "-e", "1"], "--param widths"),
        (["show", "k-rr", "-e", "1", "--chart", "x.gif"], ".png"),
        (["mechanisms", "-f", "numric"], "did you mean numeric?"),
        (["randomize", "k-rr", "-e", "1"], "--input"),
        (["randomize", "k-rr", "-e", "1", "3", "--epsilno", "2"], "--epsilon"),
        (["randomize", "k-rr", "-e", "1", "3", "--column", "x"], "--input"),
    ],
    ids=str,
)
def test_wrong_questions_get_one_helpful_line(arguments: list[str], hint: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert hint in result.stderr


def test_randomize_values() -> None:
    result = run("randomize", "k-rr", "-e", "1", "-d", "categories:a,b,c", "a", "b", "c")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "output,value"
    assert all(line in ("0,a", "1,b", "2,c") for line in lines[1:])
    assert len(lines) == 4


def test_negative_numbers_are_values() -> None:
    result = run("randomize", "window", "-e", "1", "-d", "interval:-10,10", "-5", "3", "-.5", "--json")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert document["count"] == 3
    assert all(-10 <= report["value"] <= 10 for report in document["reports"])


def test_json_and_binary_reports_are_wire_reports(tmp_path: Path) -> None:
    mechanism = KaryRandomizedResponse(domain=Categories(5), epsilon=1)
    result = run("randomize", "k-rr", "-e", "1", "-d", "categories:5", "0", "4", "--format", "json")
    assert all(report_from_json(mechanism, line).output < 5 for line in result.stdout.splitlines())
    path = tmp_path / "reports.bin"
    assert run("randomize", "k-rr", "-e", "1", "-d", "categories:5", "0", "4", "--format", "binary", "-o", str(path)).exit_code == 0
    assert len(decode_reports(mechanism, path.read_bytes())) == 2


@pytest.mark.parametrize(
    ("mechanism", "domain", "lines"),
    [
        ("k-rr", "categories:often,never", ["often", "never"]),
        ("window", "interval:0,120", ["31.25", "45"]),
        ("window", "interval:0,20", ["31.25", "45"]),
        ("randomized-response", "binary", ["no", "yes"]),
        ("tracs-d", "rectangle:0,5,0,5", ["1.25,2", "2,3.5"]),
        ("pem", "text:4", ["1250", "word"]),
    ],
)
@pytest.mark.parametrize("column", [(), ("-c", "elsewhere")])
def test_a_first_row_of_values_is_neither_lost_nor_shown(
    mechanism: str, domain: str, lines: list[str], column: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "people.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    result = run("randomize", mechanism, "-e", "1", "-d", domain, "-i", str(path), *column)
    assert result.exit_code == 1
    assert "first line must name its columns" in result.stderr
    assert not any(cell in result.output for cell in ("31", "1.25", "1250", "often"))


def test_words_and_numbers_may_name_columns(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("2025,2026\n3,4\n")
    assert run("randomize", "window", "-e", "1", "-d", "interval:0,120", "-i", str(path), "-c", "2026").exit_code == 0
    path.write_text("word\nabc\n")
    assert run("randomize", "pem", "-e", "1", "-d", "text:4", "-i", str(path)).exit_code == 0


def test_bad_rows_are_named_by_number_and_never_shown(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("name,age\nA,31\nB,987654\nC,secret-text\nD,45\nE,nan\nF\n", encoding="utf-8")
    result = run("randomize", "window", "-e", "1", "-d", "interval:0,120", "-i", str(path), "-c", "age")
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == 3
    assert "4 of 6" in result.stderr
    assert "rows 3, 4, 6, 7" in result.stderr
    assert "987654" not in result.output
    assert "secret" not in result.output


@pytest.mark.parametrize("bad", [None, "200"])
def test_large_inputs_take_the_batch_path(bad: str | None) -> None:
    rows = [str(i % 100) for i in range(30_000)]
    if bad is not None:
        rows[12_345] = bad
    result = run("randomize", "k-rr", "-e", "1", "-d", "categories:100", "-i", "-", "--json", text="\n".join(["value", *rows]))
    document = json.loads(result.stdout)
    assert result.exit_code == (0 if bad is None else 1)
    assert document["count"] == 30_000 - (bad is not None)
    assert document["refused_rows"] == ([] if bad is None else [12_347])


def test_places_come_from_two_columns(tmp_path: Path) -> None:
    path = tmp_path / "places.csv"
    path.write_text("lon,lat\n0.5,0.5\n0.1,0.9\n2,0\n", encoding="utf-8")
    result = run(
        "randomize", "nearest-cells", "-e", "4", "-d", "rectangle:0,1,0,1,16", "-i", str(path), "-c", "lon", "-c", "lat", "--json"
    )
    assert json.loads(result.stdout)["refused_rows"] == [4]


def test_records_come_from_the_columns_of_their_fields() -> None:
    domain = '{"smokes": "binary", "age": "interval:0,100,1000"}'
    people = "age,smokes\n31,yes\n140,no\n55,1\n"
    document = json.loads(run("randomize", "product", "-e", "2", "-d", domain, "-i", "-", "--json", text=people).stdout)
    assert document["refused_rows"] == [3]
    assert all(set(report["value"]) == {"smokes", "age"} for report in document["reports"])


@pytest.mark.parametrize(
    ("text", "code"),
    [("", 1), ("a,b\n1,2\n", 2), ("x\n" + "1" * 200_000 + "\n", 1)],
    ids=["empty", "which column", "a huge cell"],
)
def test_unusable_files_are_refused_without_a_traceback(text: str, code: int) -> None:
    result = run("randomize", "k-rr", "-e", "1", "-i", "-", text=text)
    assert result.exit_code == code
    assert result.stderr.count("\n") == 1


def test_a_missing_file_is_bad_data() -> None:
    result = run("randomize", "k-rr", "-e", "1", "-i", "no-such-file.csv")
    assert result.exit_code == 1
    assert "no-such-file.csv" in result.stderr
