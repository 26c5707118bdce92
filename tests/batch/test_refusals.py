"""What is not the bytes, the rows or the files of a recipe is refused, with a sentence that says why."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import ipc

from deniable.batch import (
    PairCounts,
    PEMCollector,
    Reports,
    SystemKeystream,
    accumulator_for,
    accumulator_from_bytes,
    draw_many,
    encode_many,
    randomize_many,
    read_reports,
    table_of_numbers,
    total_bytes,
    whole_numbers,
)
from deniable.batch.engines.part import Part
from deniable.batch.keystream import KeystreamCoins
from deniable.core import (
    Categories,
    Interval,
    Mechanism,
    Record,
    Report,
    Subsets,
    Text,
    TwoLevel,
    Whole,
    encode_reports,
    make_mechanism,
)
from deniable.errors import DeniableError, InvalidParameter, Malformed, NotSupported, OutOfDomain, WrongRecipe
from deniable.privacy import FixedKeystream

from .scripted import ScriptedKeystream, rejected_word

K_RR = make_mechanism("k-rr", domain=Categories(5), epsilon=1)
OUE = make_mechanism("oue", domain=Categories(11), epsilon=1)
RECORD = make_mechanism("product", domain=Record({"a": Categories(3), "b": Categories(4)}), epsilon=2)
HEADER = 2 + 1 + 16 + 8


def sums_of(mechanism: Mechanism, *, n: int, width: int, sums: list[int]) -> bytes:
    """Sums as they are written, without asking whether they can be true."""
    head = b"da\x01" + bytes.fromhex(mechanism.fingerprint) + n.to_bytes(8, "big")
    return head + bytes([width]) + b"".join(number.to_bytes(width, "little") for number in sums)


def test_these_bytes_are_what_an_accumulator_writes() -> None:
    sums = accumulator_for(K_RR).add([Report(K_RR.fingerprint, output) for output in (0, 0, 3)])
    assert sums_of(K_RR, n=3, width=1, sums=[2, 0, 0, 1, 0]) == sums.to_bytes()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (sums_of(OUE, n=3, width=1, sums=[4] + [0] * 10), "counts more reports than there are"),
        (sums_of(K_RR, n=1 << 63, width=1, sums=[0] * 5), r"number of reports is beyond 2\*\*63"),
        (sums_of(K_RR, n=5, width=8, sums=[1 << 63, 0, 0, 0, 0]), r"a sum is beyond 2\*\*63"),
        (sums_of(K_RR, n=5, width=2, sums=[5, 0, 0, 0, 0]), "wider than they need to be"),
        (sums_of(K_RR, n=5, width=3, sums=[5, 0, 0, 0, 0]), "5 numbers of 1, 2, 4 or 8 bytes"),
        (sums_of(RECORD, n=5, width=2, sums=[]), "own sums are empty"),
        (sums_of(RECORD, n=5, width=1, sums=[]), "cut short"),
    ],
)
def test_sums_that_cannot_be_are_refused(data: bytes, why: str) -> None:
    mechanism = next(mechanism for mechanism in (K_RR, OUE, RECORD) if bytes.fromhex(mechanism.fingerprint) == data[3:19])
    with pytest.raises(Malformed, match=why):
        accumulator_from_bytes(mechanism, data)


def test_sums_of_more_reports_than_can_be_counted_are_not_merged() -> None:
    most = accumulator_for(K_RR)
    most.n = (1 << 63) - 1
    one = accumulator_for(K_RR).add(Report(K_RR.fingerprint, 2))
    with pytest.raises(InvalidParameter, match="cannot be summed"):
        most.merge(one)


def test_sums_equal_only_sums_and_their_repr_shows_no_counts() -> None:
    sums = accumulator_for(K_RR).add(Report(K_RR.fingerprint, 2))
    assert sums != sums.sums.tolist()
    assert sums != accumulator_for(K_RR)
    assert repr(sums).startswith("Counts(n=1, mechanism=")


def test_reports_of_another_recipe_are_not_added() -> None:
    other = randomize_many(make_mechanism("k-rr", domain=Categories(6), epsilon=1), [1, 2], FixedKeystream(1))
    with pytest.raises(WrongRecipe, match="another recipe"):
        accumulator_for(K_RR).add(other)


def test_rows_of_bits_of_another_length_are_refused() -> None:
    for rows in (np.zeros((3, 1), np.uint8), np.zeros(3, np.uint8)):
        with pytest.raises(Malformed, match="another length"):
            accumulator_for(OUE).add(Reports(OUE, rows))


def test_a_recipe_with_too_many_outputs_to_count_says_so() -> None:
    mechanism = make_mechanism("sw", domain=Interval(0, 1, cells=1 << 24), epsilon=1)
    with pytest.raises(NotSupported, match="fewer cells"):
        accumulator_for(mechanism)


@pytest.mark.parametrize("name", ["sample-one", "rs-fd"])
def test_outputs_beyond_those_of_a_record_are_refused(name: str) -> None:
    mechanism = make_mechanism(name, domain=Record({"a": Categories(3), "b": Categories(4)}), epsilon=2)
    with pytest.raises(Malformed, match="not one this recipe can give"):
        accumulator_for(mechanism).add(Reports(mechanism, np.array([mechanism.channel.outputs], np.uint64)))


def test_outputs_in_a_list_must_be_those_of_the_recipe() -> None:
    assert Reports(K_RR, [0, 4]).outputs.tolist() == [0, 4]
    for outputs in ([5], [-1], ["0"]):
        with pytest.raises(InvalidParameter, match="0 to 4"):
            Reports(K_RR, outputs)


def test_a_keystream_without_randomness_is_noticed() -> None:
    channel = TwoLevel(Subsets(6, 2), 4, 11)
    with pytest.raises(RuntimeError, match="broken"):
        draw_many(channel, [0], ScriptedKeystream([rejected_word(2 * 11 + 4 * 4)] * 4096))


@pytest.mark.parametrize(
    ("mechanism", "values", "why"),
    [
        (RECORD, "ab", "mapping of columns or a list of records"),
        (RECORD, {"a": [1]}, "columns must be exactly a, b"),
        (RECORD, {"a": [1, 2], "b": [1]}, "must have one length"),
        (make_mechanism("k-rr", domain=Categories(["x", "y"]), epsilon=1), np.array([1, 2]), "must be names"),
        (make_mechanism("pem", domain=Text(4), epsilon=2), np.array([1.5]), "one-dimensional"),
        (make_mechanism("pem", domain=Text(4), epsilon=2), ["\ud800"], "too long or not text"),
        (make_mechanism("pem", domain=Text(4), epsilon=2), ["longer"], "too long or not text"),
        (make_mechanism("pem", domain=Text(4), epsilon=2), ["a\0b"], "NUL"),
        (make_mechanism("pem", domain=Whole(16), epsilon=2), np.array([1, -1]), "outside"),
        (make_mechanism("pem", domain=Whole(16), epsilon=2), np.array([1 << 16]), "outside"),
    ],
)
def test_values_outside_the_domain_are_refused_and_not_shown(mechanism: Mechanism, values: Any, why: str) -> None:
    with pytest.raises(OutOfDomain, match=why) as refused:
        encode_many(mechanism, values)
    assert not any(shown in str(refused.value) for shown in ("longer", "65536", "1.5", "-1", "\ud800"))


@pytest.mark.parametrize("values", [[2], [-1], [0.5], ["1"], [[1]], [1, [2]], None])
def test_what_is_not_a_bit_is_refused(values: Any) -> None:
    with pytest.raises(InvalidParameter, match="one-dimensional array of bits"):
        whole_numbers(values, "the answers", 2)


def test_objects_that_are_whole_numbers_are_read() -> None:
    assert whole_numbers(np.array([1, 0], object), "the answers", 2).tolist() == [1, 0]
    assert whole_numbers([], "the answers", 2).size == 0


def test_a_table_with_text_is_refused_and_not_shown() -> None:
    with pytest.raises(OutOfDomain, match="not a number") as refused:
        table_of_numbers([["secret", 1.0]])
    assert "secret" not in str(refused.value)


FILES = {
    "empty.csv": (b"", "header line"),
    "quote.csv": (b'"' + b"x" * 300_000, "header line"),
}


@pytest.mark.parametrize("name", FILES)
def test_csv_without_a_header_is_refused(name: str, tmp_path: Path) -> None:
    data, why = FILES[name]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DeniableError, match=why):
        read_reports(K_RR, [tmp_path / name])


def test_files_that_end_in_their_head_are_told(tmp_path: Path) -> None:
    (tmp_path / "short.dn").write_bytes(randomize_many(K_RR, [1, 2], FixedKeystream(1)).to_bytes()[:9])
    (tmp_path / "short.arrow").write_bytes(b"ARROW1\0\0\1\2")
    (tmp_path / "open.csv").write_bytes(b"output\n0\n1")
    intake = read_reports(K_RR, [tmp_path / "short.dn", tmp_path / "short.arrow", tmp_path / "open.csv"])
    assert intake.n == 2
    assert [note.partition(":")[0] for note in intake.notes] == [
        "short.dn ends early",
        "short.arrow is not an Arrow file, or is cut off at its start",
        "open.csv has no line break at its end",
    ]


def test_arrow_columns_that_are_not_read_whole_are_read_row_by_row(tmp_path: Path) -> None:
    """A column of any kind of value, or a recipe that is not text, is looked at row by row."""
    recipes = pyarrow.array([K_RR.fingerprint] * 3)
    table = pyarrow.table({"output": pyarrow.array([0, 1, 7], pyarrow.decimal128(3, 0)), "recipe": recipes})
    with ipc.new_file(tmp_path / "decimals.arrow", table.schema) as file:
        file.write_table(table)
    with pytest.raises(Malformed, match="whole numbers or text"):
        read_reports(K_RR, [tmp_path / "decimals.arrow"])
    other = pyarrow.table({"output": pyarrow.array([0, 1], pyarrow.int64()), "recipe": pyarrow.array([[1], [2]])})
    with ipc.new_file(tmp_path / "recipes.arrow", other.schema) as file:
        file.write_table(other)
    assert read_reports(K_RR, [tmp_path / "recipes.arrow"]).refused == {"of another recipe": 2}


def test_standard_input_need_not_be_able_to_look_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    class Plain(io.RawIOBase):
        """A stream that can only be read on."""

        def __init__(self) -> None:
            self.left = b"output\n0\n4\n"

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            piece, self.left = self.left[: len(buffer)], self.left[len(buffer) :]
            buffer[: len(piece)] = piece
            return len(piece)

    monkeypatch.setattr("sys.stdin", type("Input", (), {"buffer": Plain()})())
    assert read_reports(K_RR, ["-"]).n == 2


def test_reports_of_pem_are_kept_rather_than_summed(tmp_path: Path) -> None:
    mechanism = make_mechanism("pem", domain=Whole(16), epsilon=2)
    reports = randomize_many(mechanism, [1, 2, 3], FixedKeystream(1))
    (tmp_path / "words.dn").write_bytes(reports.to_bytes())
    assert read_reports(mechanism, [tmp_path / "words.dn"]).n == 3


def test_tables_of_pairs_are_merged_and_compared_only_with_their_like() -> None:
    three = make_mechanism("product", domain=Record({"a": Categories(3), "b": Categories(4), "c": Categories(2)}), epsilon=2)
    one, other = PairCounts(three, "a", "b"), PairCounts(three, "a", "c")
    with pytest.raises(WrongRecipe, match="same fields"):
        one.merge(other)
    assert one != other
    assert one != "a"
    assert len(one) == 0
    assert repr(one).startswith("PairCounts(n=0, fields=('a', 'b'), mechanism=")
    one.n = (1 << 63) - 1
    more = PairCounts(three, "a", "b").add(randomize_many(three, {"a": [0], "b": [1], "c": [1]}, FixedKeystream(1)))
    with pytest.raises(InvalidParameter, match="cannot be summed"):
        one.merge(more)


@pytest.mark.parametrize(
    ("second", "why"),
    [(Interval(0, 1, cells=8), "categorical mechanisms"), (Categories(1 << 16), "at most")],
    ids=["numbers", "many"],
)
def test_pairs_that_have_no_table_are_refused(second: Interval | Categories, why: str) -> None:
    mechanism = make_mechanism("product", domain=Record({"a": Categories(1 << 15), "b": second}), epsilon=2)
    with pytest.raises(NotSupported, match=why):
        PairCounts(mechanism, "a", "b")


def test_the_repr_of_kept_reports_shows_none_of_them() -> None:
    mechanism = make_mechanism("pem", domain=Whole(16), epsilon=2)
    assert repr(PEMCollector(mechanism)).startswith("PEMCollector(n=0, mechanism=")


def test_a_keystream_fills_contiguous_arrays_only() -> None:
    with pytest.raises(ValueError, match="contiguous"):
        FixedKeystream(1).fill(np.zeros((4, 4), np.uint8)[:, ::2])


def test_what_was_read_ahead_is_thrown_away_in_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a fork parent and child hold the same bytes: neither the pool of coins nor the key may serve both."""
    both = [KeystreamCoins(FixedKeystream(3)) for _ in range(2)]
    assert both[0].below(1 << 64) == both[1].below(1 << 64)
    stream = SystemKeystream()
    before = stream._encryptor
    monkeypatch.setattr("deniable.batch.keystream.process", lambda: (1, -1))
    after = [coins.below(1 << 64) for coins in both]
    kept = KeystreamCoins(FixedKeystream(3))
    assert after[0] not in {kept.below(1 << 64) for _ in range(512)}
    stream.fill(np.zeros(8, np.uint8))
    assert stream._encryptor is not before


def test_coins_wider_than_the_pool_are_drawn_at_once() -> None:
    wide = KeystreamCoins(FixedKeystream(3)).below(1 << 40_000)
    assert 39_900 < wide.bit_length() <= 40_000


def test_a_product_wider_than_a_word_is_framed_like_single_reports() -> None:
    sides = {name: Interval(0, 1, cells=1 << 23) for name in "abc"}
    mechanism = make_mechanism("product", domain=Record(sides), epsilon=3)
    assert mechanism.channel.outputs > 1 << 64
    reports = randomize_many(mechanism, {name: [0.1, 0.5, 0.9] for name in sides}, FixedKeystream(1))
    assert reports.to_bytes() == encode_reports(mechanism, [reports[i] for i in range(3)])
    assert Reports.from_bytes(mechanism, reports.to_bytes()).ints() == reports.ints()


def test_standard_input_holds_no_parquet_and_its_size_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert total_bytes(["-"]) is None
    monkeypatch.setattr("sys.stdin", type("Input", (), {"buffer": io.BufferedReader(io.BytesIO(b"PAR1"))})())
    with pytest.raises(InvalidParameter, match="give Parquet and Arrow by a file"):
        read_reports(K_RR, ["-"])


def test_a_share_of_the_work_that_is_cut_short_is_refused() -> None:
    data = Part(accumulator_for(K_RR)).to_bytes()
    assert Part.from_bytes(K_RR, data).accumulator == accumulator_for(K_RR)
    with pytest.raises(Malformed, match="cut short"):
        Part.from_bytes(K_RR, data[:12])
