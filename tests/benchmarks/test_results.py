"""The page says what was measured, and whether it is enough."""

from __future__ import annotations

import copy
import importlib
import json
from pathlib import Path
from typing import Any

import pytest

bars: Any = importlib.import_module("speed.bars")
page: Any = importlib.import_module("speed.page")
quotes: Any = importlib.import_module("speed.quotes")
runs: Any = importlib.import_module("speed.runs")
growth: Any = importlib.import_module("speed.growth")
picture: Any = importlib.import_module("speed.picture")
HERE = Path(bars.__file__).parents[1]


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    results: dict[str, Any] = json.loads((HERE / "results.json").read_text(encoding="utf-8"))
    return results


def verdict(found: dict[str, Any], start: str) -> Any:
    return next(row for row in bars.judged(found) if row["bar"].startswith(start))["met"]


def test_the_page_in_the_repository_is_made_from_its_results(found: dict[str, Any]) -> None:
    assert (HERE / "RESULTS.md").read_text(encoding="utf-8") == page.page(found)
    assert bars.judged(found) == found["bars"]


def test_the_table_in_the_documents_is_that_of_the_results(found: dict[str, Any]) -> None:
    document = (HERE.parent / "docs" / "speed.md").read_text(encoding="utf-8")
    assert page.with_bars(document, found) == document
    with pytest.raises(ValueError, match="no place for the bars"):
        page.with_bars("an empty page", found)


def test_every_promise_has_a_row(found: dict[str, Any]) -> None:
    rows = " ".join(row["bar"] for row in found["bars"])
    for text, *_ in bars.TIMES:
        assert text in rows
    for words in (
        "cold start",
        "fraction of PCG64",
        "fraction of bincount",
        "grows with users",
        "hadamard decode",
        "projective decode",
    ):
        assert words in rows


def test_the_nearest_peer_decides(found: dict[str, Any]) -> None:
    changed = copy.deepcopy(found)
    row = changed["privatise_runs"]["privatise k-RR, k=100"][0]
    mine = row["packages"]["deniable"]["per_user"]
    for name in bars.PEERS:
        row["packages"][name] = {"per_user": 200 * mine}
    changed["privatise_runs"]["privatise k-RR, k=100"] = [row]
    assert verdict(changed, "privatise k-RR, k=100, against") is True
    row["packages"][bars.PEERS[-1]] = {"per_user": 99 * mine}
    assert verdict(changed, "privatise k-RR, k=100, against") is False
    row["packages"] = {"deniable": {"per_user": mine}}
    assert verdict(changed, "privatise k-RR, k=100, against") is None


def one_run(ours: float, peer: float) -> dict[str, Any]:
    return {"task": "t", "packages": {"deniable": {"per_user": ours}, "pure-ldp": {"per_user": peer}}}


def test_the_worst_of_several_runs_decides(found: dict[str, Any]) -> None:
    changed = copy.deepcopy(found)
    rows = [one_run(1.0, 300.0), one_run(1.0, 99.0), one_run(2.0, 400.0)]
    changed["privatise_runs"]["privatise k-RR, k=100"] = rows
    row = next(row for row in bars.judged(changed) if row["bar"].startswith("privatise k-RR, k=100, against"))
    assert row["met"] is False
    assert row["reached"] == "99–300×"
    assert "3 runs" in row["note"]


def test_tables_show_peers_at_their_best_and_ours_in_the_middle() -> None:
    shown = runs.merged([one_run(1.0, 300.0), one_run(3.0, 99.0), one_run(2.0, 400.0)])["packages"]
    assert shown["deniable"]["per_user"] == 2.0
    assert shown["pure-ldp"]["per_user"] == 99.0
    starts = [
        [{"package": "deniable", "first_report": a}, {"package": "opendp", "first_report": b}] for a, b in ((1, 9), (2, 8), (3, 7))
    ]
    assert [row["first_report"] for row in runs.merged_starts(starts)] == [2, 7]
    assert runs.start_ratios(starts, "opendp") == (7 / 3, 9)


def test_the_readme_quotes_the_results_and_the_lower_ends(found: dict[str, Any]) -> None:
    readme = (HERE.parent / "README.md").read_text(encoding="utf-8")
    assert quotes.with_quotes(readme, found) == readme
    changed = copy.deepcopy(found)
    rows = [one_run(1e-9, 300e-9), one_run(1e-9, 99e-9)]
    changed["privatise_runs"][quotes.REPORT] = rows
    changed["privatise"] = [{**runs.merged(rows), "task": quotes.REPORT}]
    assert quotes.quoted("one k-RR report of 100 values", changed).split(" | ")[1:3] == ["1.0 ns", "99 ns, 99×"]
    with pytest.raises(ValueError, match="no row"):
        quotes.with_quotes("an empty page", found)


def test_a_growth_that_is_not_linear_misses_its_bar(found: dict[str, Any]) -> None:
    changed = copy.deepcopy(found)
    for row in changed["growth"]["users"]:
        row["exponent"] = 1.04
    assert verdict(changed, "k-RR, k=100: time grows") is True
    for row in changed["growth"]["users"]:
        row["exponent"] = 1.06
    assert verdict(changed, "k-RR, k=100: time grows") is False


def test_a_missing_peer_is_shown_with_its_reason(found: dict[str, Any]) -> None:
    changed = copy.deepcopy(found)
    changed["privatise"][0]["packages"]["opendp"] = {"failed": "not installed: no such wheel"}
    assert "not installed: no such wheel" in page.page(changed)


def test_the_page_names_no_machine_and_no_place(found: dict[str, Any]) -> None:
    text = (HERE / "RESULTS.md").read_text(encoding="utf-8")
    assert "/home/" not in text
    assert str(HERE.parent) not in text
    assert str(HERE.parent) not in json.dumps(found)


@pytest.mark.parametrize("power", [0.9, 1.0, 1.3])
def test_exponents_are_slopes(power: float) -> None:
    sizes = [10**5, 10**6, 10**7]
    assert growth.exponent(sizes, [3e-9 * size**power for size in sizes]) == pytest.approx(power)


def test_the_picture_shows_every_measured_package(found: dict[str, Any]) -> None:
    drawn = json.dumps(picture.speed_chart([*found["privatise"], *found["aggregate"]]).to_dict())
    for name in ("deniable", "naive numpy", "pure-ldp", "multi-freq-ldpy", "opendp", "diffprivlib"):
        assert f'"package": "{name}"' in drawn
