"""Reports are taken apart without losing anything: every field, and what lies between the fields."""

from __future__ import annotations

import base64
import http.server
import json
import secrets
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.privacy import HttpClient, audit
from deniable.privacy.auditing.answers import in_output
from deniable.privacy.auditing.families.relations import _null_units, null_bits
from deniable.privacy.auditing.field_readings import readings
from deniable.privacy.auditing.fields import Table, table_of
from deniable.privacy.auditing.octets import Octets, identities, of_bytes, of_wholes


def table(reports: list[Any]) -> Table:
    return table_of(reports, np.zeros(len(reports), np.intp), np.arange(len(reports)))


def test_every_part_of_a_report_is_a_field() -> None:
    report = {"a": [1, {"b": "x"}], "c": b"yz", "d": None, "e": 1 << 90, "f": 2 + 1j}
    columns = table([report, report]).columns
    fields = {"report.a[0]", "report.a[1].b", "report.c", "report.e", "report.f.real", "report.f.imag"}
    between = {"keys of report", "length of report.a", "keys of report.a[1]", "keys of report.f"}
    assert set(columns) == fields | between


def test_a_field_that_is_missing_or_of_another_type_leaves_a_trace() -> None:
    columns = table([[1, "x"], [1], [1, 2], {"k": 1}]).columns
    assert identities(columns["length of report as list"]).tolist() == [2, 1, 2, 0]
    assert len(set(identities(columns["type of report"]).tolist())) == 2
    assert len(set(identities(columns["type of report as list[1]"]).tolist())) == 3


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=8), st.binary(max_size=60))
def test_equal_bytes_have_equal_identities_whatever_comes_with_them(rows: list[bytes], other: bytes) -> None:
    first, second = identities(of_bytes(rows)), identities(of_bytes([*rows, other]))[:-1]
    assert first.tolist() == second.tolist()
    assert len(set(first.tolist())) == len(set(rows))


@given(st.lists(st.integers(-(1 << 200), 1 << 200), min_size=1, max_size=8), st.integers(-(1 << 300), 1 << 300))
def test_equal_numbers_have_equal_identities_whatever_comes_with_them(rows: list[int], other: int) -> None:
    first, second = identities(of_wholes(rows)), identities(of_wholes([*rows, other]))[:-1]
    assert first.tolist() == second.tolist()
    assert len(set(first.tolist())) == len(set(rows))


@given(st.lists(st.binary(min_size=6, max_size=6), min_size=3, max_size=6, unique=True))
def test_hex_and_base64_are_read_as_their_bytes(rows: list[bytes]) -> None:
    expected = np.frombuffer(b"".join(rows), np.uint8).reshape(-1, 6)
    for text in ([row.hex() for row in rows], [row.hex().upper() for row in rows], [f"0x{row.hex()}" for row in rows]):
        read = [words.read(table(text)) for words in readings(table(text)) if words.name.endswith("hex")]
        if read:  # digits alone may also be something else
            assert np.array_equal(read[0][:, -6:], expected)
    coded = [base64.b64encode(row).decode() for row in rows]
    for words in readings(table(coded)):
        if words.name.endswith("base64") and words.unit == "byte":
            assert np.array_equal(words.read(table(coded)), expected)


def test_whole_numbers_keep_their_sign_when_they_are_widened() -> None:
    column = of_wholes([-2, 1 << 70])
    assert isinstance(column, Octets)
    assert column.left(12)[0].tolist() == [255] * 11 + [254]


def test_equations_are_found() -> None:
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 2, (80, 12), dtype=np.uint8)
    bits[:, 7] = bits[:, 0] ^ bits[:, 3] ^ bits[:, 5]
    assert sorted(map(int, next(iter(null_bits(bits))))) == [0, 3, 5, 7]
    bytes_ = rng.integers(0, 256, (80, 6), dtype=np.uint8)
    bytes_[:, 5] = 3 * bytes_[:, 0] + bytes_[:, 2] + 2
    rows = np.column_stack([np.ones(80, np.uint8), bytes_])
    (equation,) = _null_units(rows, 256)
    assert not ((rows.astype(np.int64) @ equation.astype(np.int64)) % 256).any()
    assert list(_null_units(rng.integers(0, 251, (80, 6)), 251)) == []


def test_empty_lines_belong_to_the_report_before_them() -> None:
    answers, failures = in_output(b"\n1\n\n \n2 \r\n3", 3)
    assert [answer.raw for answer in answers] == [b"\n1\n\n \n", b"2 \r\n", b"3"]
    assert [answer.report for answer in answers] == [1, 2, 3]
    assert [answer.spare for answer in answers] == [5, 3, 0]
    assert not failures


def test_a_single_answer_may_have_several_lines_of_json() -> None:
    answers, _ = in_output(b'{\n "a": 1\n}\n', 1)
    assert answers[0].report == {"a": 1}
    assert in_output(b"one\ntwo\n", 1)[1] == {"answered with another number of lines than values": 1}


class Leaky(http.server.BaseHTTPRequestHandler):
    """A random answer; the value is in a header or in a space after the body."""

    def do_POST(self) -> None:
        value = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        header = self.path == "/header"
        self.send_response(200)
        self.send_header("X-Shard", str(value if header else 0))
        self.end_headers()
        self.wfile.write(json.dumps(secrets.token_hex(8)).encode() + b" " * (0 if header else value))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        pass


@pytest.fixture
def leaky() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Leaky)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/header", "/body"])
def test_a_service_is_judged_by_everything_it_sends(leaky: str, path: str) -> None:
    assert audit(HttpClient(leaky + path), [0, 1], epsilon=1, samples=1200, learned=False).violated
