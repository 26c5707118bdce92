"""Files of reports: every format gives the same sums, and every bad record is counted by its reason."""

from __future__ import annotations

import json
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import ipc, parquet

from deniable.batch import Reports, accumulator_for, randomize_many, read_reports
from deniable.core import Categories, Interval, Mechanism, Record, Report, announcement, make_mechanism, report_to_json
from deniable.errors import InvalidParameter, Malformed, MissingPackage, WireError, WrongRecipe
from deniable.privacy import FixedKeystream

K_RR = make_mechanism("k-rr", domain=Categories(5), epsilon=1)
OTHER = make_mechanism("k-rr", domain=Categories(6), epsilon=1)
MECHANISMS = [
    K_RR,
    make_mechanism("oue", domain=Categories(11), epsilon=1),
    make_mechanism("oue", domain=Categories(100), epsilon=1),
    make_mechanism("subset", domain=Categories(9), epsilon=1),
    make_mechanism("olh", domain=Categories(9), epsilon=1),
    make_mechanism("window", domain=Interval(0, 8, cells=200), epsilon=1),
    make_mechanism("hm", domain=Interval(0, 8, cells=200), epsilon=1),
    make_mechanism("laplace", domain=Interval(0, 8, cells=64), epsilon=1),
    make_mechanism("product", domain=Record({"a": Categories(3), "b": Interval(0, 8, cells=20)}), epsilon=2),
]


def drawn(mechanism: Mechanism, count: int = 3000) -> Reports:
    whole = np.arange(count) % 8
    values: Any = whole % 5
    if isinstance(mechanism.domain, Record):
        values = {"a": whole % 3, "b": whole.astype(np.float64)}
    elif isinstance(mechanism.domain, Interval):
        values = whole.astype(np.float64)
    return randomize_many(mechanism, values, FixedKeystream(7))


def csv_file(path: Path, mechanism: Mechanism, outputs: list[int]) -> None:
    path.write_text("id,output\n" + "".join(f"{i},{output:x}\n" for i, output in enumerate(outputs)), encoding="utf-8")


def json_file(path: Path, mechanism: Mechanism, outputs: list[int]) -> None:
    lines = [report_to_json(mechanism, Report(mechanism.fingerprint, output)) for output in outputs]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def frame_file(path: Path, mechanism: Mechanism, outputs: list[int]) -> None:
    reports = drawn(mechanism, len(outputs))
    path.write_bytes(reports.to_bytes())


def table(outputs: list[int]) -> Any:
    small = max(outputs) < 1 << 64
    return pyarrow.table({"output": pyarrow.array(outputs, pyarrow.uint64()) if small else [f"{output:x}" for output in outputs]})


def parquet_file(path: Path, mechanism: Mechanism, outputs: list[int]) -> None:
    parquet.write_table(table(outputs), path, row_group_size=700)


def arrow_file(path: Path, mechanism: Mechanism, outputs: list[int]) -> None:
    made = table(outputs)
    with ipc.new_file(path, made.schema) as file:
        file.write_table(made, max_chunksize=200)


WRITERS: dict[str, Callable[[Path, Mechanism, list[int]], None]] = {
    ".dn": frame_file,
    ".csv": csv_file,
    ".jsonl": json_file,
    ".parquet": parquet_file,
    ".arrow": arrow_file,
}


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.name)
@pytest.mark.parametrize("ending", WRITERS)
def test_every_format_gives_the_sums_of_the_reports(tmp_path: Path, mechanism: Mechanism, ending: str) -> None:
    reports = drawn(mechanism)
    path = tmp_path / f"reports{ending}"
    WRITERS[ending](path, mechanism, reports.ints())
    intake = read_reports(mechanism, [path], strict=True)
    assert intake.accumulator == accumulator_for(mechanism).add(reports)
    assert (intake.n, intake.records, intake.summary()) == (len(reports), len(reports), [])


@pytest.mark.parametrize("ending", WRITERS)
def test_a_format_is_recognised_without_its_ending(tmp_path: Path, ending: str) -> None:
    reports = drawn(K_RR)
    WRITERS[ending](tmp_path / "reports", K_RR, reports.ints())
    assert read_reports(K_RR, [tmp_path / "reports"]).accumulator == accumulator_for(K_RR).add(reports)


def test_several_files_and_several_frames_add_up(tmp_path: Path) -> None:
    reports = drawn(K_RR)
    frame_file(tmp_path / "a.dn", K_RR, reports.ints())
    (tmp_path / "b.dn").write_bytes(reports.to_bytes() * 3)
    csv_file(tmp_path / "c.csv", K_RR, reports.ints())
    intake = read_reports(K_RR, [tmp_path / name for name in ("a.dn", "b.dn", "c.csv")])
    assert intake.n == 5 * len(reports)
    assert (intake.accumulator.sums == 5 * accumulator_for(K_RR).add(reports).sums).all()


def json_lines(tmp_path: Path) -> Path:
    good, other = (report_to_json(m, Report(m.fingerprint, 2)) for m in (K_RR, OTHER))
    loose = json.dumps(json.loads(good), indent=None)
    version = good.replace('"version":1', '"version":2')
    lines = [good, good.replace('"2"', '"7"'), "", "not json", other, version, loose, good.replace('"2"', '"02"'), good[:-5] + "zz"]
    path = tmp_path / "reports.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_bad_lines_of_json_are_counted_by_reason(tmp_path: Path) -> None:
    intake = read_reports(K_RR, [json_lines(tmp_path)])
    assert intake.n == 2
    assert intake.refused == {"out of range": 1, "unreadable": 3, "of another recipe": 1, "of another version": 1}
    expected = "6 of 8 records were refused: 3 unreadable, 1 out of range, 1 of another recipe, 1 of another version"
    assert intake.summary() == [expected]


def csv_rows(tmp_path: Path) -> Path:
    path = tmp_path / "reports.csv"
    print_ = K_RR.fingerprint
    rows = [
        f"1,{print_}",
        f"5,{print_}",
        f"x,{print_}",
        f"2,{OTHER.fingerprint}",
        f",{print_}",
        f" 3 ,{print_}",
        "4",
        f"{'9' * 99},{print_}",
    ]
    path.write_bytes(b"output,recipe\r\n" + "\r\n".join(rows).encode() + b"\r\n\xff\xfe," + print_.encode() + b"\r\n")
    return path


def test_bad_rows_of_csv_are_counted_by_reason(tmp_path: Path) -> None:
    intake = read_reports(K_RR, [csv_rows(tmp_path)])
    assert intake.n == 2
    assert intake.refused == {"out of range": 2, "unreadable": 4, "of another recipe": 1}


def test_a_quote_that_is_never_closed_loses_rows_but_says_how_many(tmp_path: Path) -> None:
    path = tmp_path / "reports.csv"
    path.write_text('output,value\n1,a\n2,"b\n3,c\n4,d\n', encoding="utf-8")
    intake = read_reports(K_RR, [path])
    assert (intake.n, intake.refused) == (1, {"unreadable": 3})


@pytest.mark.parametrize("kind", ["numbers", "text", "dictionary"])
@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_bad_rows_of_tables_are_counted_by_reason(tmp_path: Path, ending: str, kind: str) -> None:
    numbers: list[int | None] = [1, 7, None, -3, 4, 2]
    texts = [None if number is None else format(number, "x") for number in numbers]
    outputs = pyarrow.array(numbers, pyarrow.int64()) if kind == "numbers" else pyarrow.array(texts)
    if kind == "dictionary":
        outputs = outputs.dictionary_encode()
    made = pyarrow.table({"output": outputs, "recipe": [K_RR.fingerprint] * 5 + [OTHER.fingerprint]})
    path = tmp_path / f"reports{ending}"
    if ending == ".parquet":
        parquet.write_table(made, path)
    else:
        with ipc.new_file(path, made.schema) as file:
            file.write_table(made)
    intake = read_reports(K_RR, [path])
    assert intake.n == 2
    bad = {"out of range": 2, "unreadable": 1} if kind == "numbers" else {"out of range": 1, "unreadable": 2}
    assert intake.refused == {**bad, "of another recipe": 1}


@pytest.mark.parametrize("mechanism", [K_RR, MECHANISMS[3], MECHANISMS[6]], ids=lambda mechanism: mechanism.name)
def test_impossible_outputs_in_a_frame_are_counted(tmp_path: Path, mechanism: Mechanism) -> None:
    good = drawn(mechanism, 16)
    data = bytearray(good.to_bytes())
    data[27:] = b"\xff" * (len(data) - 27)
    (tmp_path / "bad.dn").write_bytes(bytes(data))
    (tmp_path / "good.dn").write_bytes(good.to_bytes())
    intake = read_reports(mechanism, [tmp_path / "bad.dn", tmp_path / "good.dn"])
    assert (intake.n, intake.refused) == (16, {"out of range": 16})
    with pytest.raises(Malformed, match=r"bad\.dn, frame 1, report 1: .* out of range"):
        read_reports(mechanism, [tmp_path / "bad.dn"], strict=True)


def test_frames_of_other_recipes_and_garbage_are_counted(tmp_path: Path) -> None:
    frames = drawn(K_RR, 10).to_bytes()
    (tmp_path / "a.dn").write_bytes(frames + drawn(OTHER, 40).to_bytes())
    (tmp_path / "b.dn").write_bytes(frames + b"x" * 100)
    padded = bytearray(frames)
    padded[-1] |= 1
    (tmp_path / "c.dn").write_bytes(bytes(padded))
    assert read_reports(K_RR, [tmp_path / "a.dn"]).refused == {"of another recipe": 40}
    garbage = read_reports(K_RR, [tmp_path / "b.dn"])
    assert (garbage.n, garbage.refused) == (10, {"unreadable": 1})
    padding = read_reports(K_RR, [tmp_path / "c.dn"])
    assert (padding.n, padding.refused) == (10, {"unreadable": 1})
    with pytest.raises(WrongRecipe, match=r"a\.dn, frame 2"):
        read_reports(K_RR, [tmp_path / "a.dn"], strict=True)


def test_a_frame_that_lies_about_its_count_costs_nothing(tmp_path: Path) -> None:
    data = drawn(K_RR, 16).to_bytes()
    (tmp_path / "lie.dn").write_bytes(data[:19] + b"\xff" * 8 + data[27:])
    intake = read_reports(K_RR, [tmp_path / "lie.dn"])
    assert intake.n == 16
    assert "ends early" in intake.notes[0]


@pytest.mark.parametrize("ending", WRITERS)
def test_a_file_that_was_cut_off_keeps_what_it_has_and_says_so(tmp_path: Path, ending: str) -> None:
    reports = drawn(K_RR)
    path = tmp_path / f"reports{ending}"
    WRITERS[ending](path, K_RR, reports.ints())
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3 // 8 * 8 - 3])
    intake = read_reports(K_RR, [path])
    whole = len(reports)
    assert (intake.n == 0) if ending == ".parquet" else (whole // 2 < intake.n < whole * 3 // 4)
    assert len(intake.notes) == 1
    assert intake.refused.total() == 0
    kept = accumulator_for(K_RR).add(Reports(K_RR, reports.outputs[: intake.n]))
    assert intake.accumulator == kept
    with pytest.raises(Malformed, match=f"reports{ending} "):
        read_reports(K_RR, [path], strict=True)


@pytest.mark.parametrize(
    ("make", "place"), [(json_lines, "line 2: .* out of range"), (csv_rows, "row 3: .* out of range")], ids=["json", "csv"]
)
def test_strict_reading_stops_at_the_first_bad_record(tmp_path: Path, make: Callable[[Path], Path], place: str) -> None:
    with pytest.raises(WireError, match=place):
        read_reports(K_RR, [make(tmp_path)], strict=True)


def test_strict_reading_of_tables_names_the_first_row(tmp_path: Path) -> None:
    path = tmp_path / "reports.parquet"
    parquet.write_table(pyarrow.table({"output": [1, 9, None]}), path)
    with pytest.raises(Malformed, match=r"row 2: .* out of range"):
        read_reports(K_RR, [path], strict=True)


def test_decimal_outputs_and_other_columns_can_be_asked_for(tmp_path: Path) -> None:
    wide = make_mechanism("k-rr", domain=Categories(20), epsilon=1)
    path = tmp_path / "reports.csv"
    path.write_text("answer\n10\n11\n", encoding="utf-8")
    assert np.flatnonzero(read_reports(wide, [path], column="answer", base=10).accumulator.sums).tolist() == [10, 11]
    assert np.flatnonzero(read_reports(wide, [path], column="answer").accumulator.sums).tolist() == [16, 17]
    with pytest.raises(InvalidParameter, match="did you mean answer"):
        read_reports(wide, [path], column="answr")
    with pytest.raises(InvalidParameter, match="base"):
        read_reports(wide, [path], base=8)


def test_tables_of_other_types_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "reports.parquet"
    parquet.write_table(pyarrow.table({"output": [0.5]}), path)
    with pytest.raises(Malformed, match="Float64"):
        read_reports(K_RR, [path])


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".csv", ".dn", ".parquet"])
def test_memory_does_not_grow_with_the_file(tmp_path: Path, ending: str) -> None:
    def peak(copies: int) -> int:
        path = tmp_path / f"{copies}{ending}"
        outputs = [1, 2, 3, 4] * 20_000 * copies
        if ending == ".dn":
            path.write_bytes(randomize_many(K_RR, np.array(outputs), FixedKeystream(1)).to_bytes())
        else:
            WRITERS[ending](path, K_RR, outputs)
        del outputs
        tracemalloc.start()
        assert read_reports(K_RR, [path]).n == 80_000 * copies
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(1)
    assert peak(3) < 1.2 * peak(1) + (1 << 20)


def test_one_endless_line_is_no_danger(tmp_path: Path) -> None:
    for ending in (".csv", ".jsonl"):
        path = tmp_path / f"reports{ending}"
        path.write_bytes(b"output,value\n" + b"1" * (5 << 20) + b"\n")
        tracemalloc.start()
        intake = read_reports(K_RR, [path])
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
        tracemalloc.stop()
        assert intake.n == 0
        assert intake.refused["unreadable"] >= 1


def test_csv_and_json_need_no_extra_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = drawn(K_RR, 10).ints()
    for ending in (".csv", ".jsonl", ".parquet"):
        WRITERS[ending](tmp_path / f"reports{ending}", K_RR, outputs)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert read_reports(K_RR, [tmp_path / "reports.csv", tmp_path / "reports.jsonl"]).n == 20
    with pytest.raises(MissingPackage, match=r"deniable\[files\]"):
        read_reports(K_RR, [tmp_path / "reports.parquet"])


def test_json_lines_that_were_cut_at_the_end_of_a_line_are_noticed(tmp_path: Path) -> None:
    json_file(tmp_path / "whole.jsonl", K_RR, [0, 1, 2])
    lines = (tmp_path / "whole.jsonl").read_text()
    whole = announcement(3) + lines
    (tmp_path / "whole.jsonl").write_text(whole + whole)
    intake = read_reports(K_RR, [tmp_path / "whole.jsonl"])
    assert (intake.n, intake.notes, intake.refused) == (6, [], {})
    (tmp_path / "cut.jsonl").write_text(whole[: whole.rindex("\n", 0, -1) + 1])
    intake = read_reports(K_RR, [tmp_path / "cut.jsonl"])
    assert intake.n == 2
    assert intake.notes == ["cut.jsonl ends early: it says that 3 reports were written, and has 2"]
    with pytest.raises(Malformed, match="says that 3 reports"):
        read_reports(K_RR, [tmp_path / "cut.jsonl"], strict=True)
