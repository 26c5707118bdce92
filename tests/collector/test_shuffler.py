"""The shuffler: enough or nothing, every order equally likely, nothing lost or doubled, no order on disk."""

from __future__ import annotations

import asyncio
import json
import math
import os
import sqlite3
import stat
from collections import Counter
from contextlib import closing
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.collector.anonymous import ANALYST, survey_with, token_for
from tests.collector.inside import Inside

from deniable.cli.shuffle import shuffle
from deniable.cli.survey_address import SurveyAddress
from deniable.collector import Destination, Mixing, Sealed, Shuffler, Store
from deniable.collector.mixing import KNOWN, NEW, SPENT
from deniable.collector.slots import _below, _distinct, in_a_row, place_among, random_order, read_slots, rows_table
from deniable.collector.warming import warm_all
from deniable.core import encode_report
from deniable.errors import BadMessage, InvalidParameter, NotDelivered
from deniable.privacy import SEALED_TYPE, SHUFFLED_TYPE, GatewayKeys, join_records, open_report, seal_report, token_header
from deniable.surveys import Survey


def _sealed(number: int, nonce: bytes | None = None, size: int = 40) -> Sealed:
    key = number.to_bytes(16, "big")
    return Sealed(key, nonce or key, b"record-%06d" % number + bytes(size))


def _numbers(records: list[bytes]) -> list[int]:
    return [int(record[7:13]) for record in records]


@pytest.mark.slow
def test_every_order_is_equally_likely_whatever_the_groups() -> None:
    """2,400 batches of four records in groups: a chi-square test with a false alarm in a million."""
    groups = [[[0], [1], [2], [3]], [[0, 1, 2, 3]], [[0], [1, 2], [3]], [[0, 1], [2, 3]]]
    orders: Counter[tuple[int, ...]] = Counter()
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as file:
        file.execute(rows_table("t"))
        for turn in range(2400):
            for group in groups[turn % 4]:
                place_among(file, "t", group[0], np.array(group, np.uint8)[:, None])
            orders[tuple(read_slots(file, "t", 0, 4, 1)[:, 0].tolist())] += 1
            file.execute("DELETE FROM t")
    statistic = sum((orders[order] - 100) ** 2 / 100 for order in permutations(range(4)))
    assert statistic < 73.0  # 23 degrees of freedom: exceeded with probability 4e-7


def test_every_order_of_a_group_is_equally_likely() -> None:
    """4,800 orders of four: a chi-square test with a false alarm in a million."""
    orders = Counter(tuple(random_order(4)) for _ in range(4800))
    assert sum((orders[order] - 200) ** 2 / 200 for order in permutations(range(4))) < 73.0


@pytest.mark.parametrize("size", [40, 90, 1999, 2001, 5000])
def test_records_of_any_length_stay_whole_over_many_rows(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.collector.slots._ROWS", 3)
    draw = np.random.default_rng(5)
    total = 10 * in_a_row(size) + 1
    records = draw.integers(0, 256, (total, size), dtype=np.uint8)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as file:
        file.execute(rows_table("t"))
        begin = 0
        for end in (1, 2, total // 2, total - 1, total):
            place_among(file, "t", begin, records[begin:end])
            assert sorted(map(bytes, read_slots(file, "t", 0, end, size))) == sorted(map(bytes, records[:end]))
            begin = end
        whole = read_slots(file, "t", 0, total, size)
        assert (read_slots(file, "t", total // 3, total - 1, size) == whole[total // 3 : total - 1]).all()


def test_a_draw_beyond_the_last_whole_multiple_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """2**64 - 1 leaves the largest remainder: taken as it is, small slots would be likelier."""
    words = [2**64 - 1, 2**64 - 2, 4, 2**64 - 1, 9, 13]
    data = b"".join(word.to_bytes(8, "little") for word in words)
    monkeypatch.setattr("deniable.collector.slots.os.urandom", lambda count: data[:count] if count == 24 else data[32:][:count])
    assert _below(10, 3).tolist() == [4, 9, 3]  # 2**64 % 10 is 6
    assert _below(2**32, 1).tolist() == [9]


def test_equal_words_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = iter([bytes(24), bytes(8) + b"\2" * 8 + b"\1" * 8])
    monkeypatch.setattr("deniable.collector.slots.os.urandom", lambda count: next(draws))
    assert random_order(3) == [0, 2, 1]


@pytest.mark.parametrize(("among", "count"), [(4, 2), (5, 2), (3, 3), (9, 1)])
def test_distinct_slots_are_equally_likely_in_every_order(among: int, count: int) -> None:
    """200 of each sequence expected; with at most 20 kinds, chi-square beyond 75 comes once in a million."""
    kinds = list(permutations(range(among), count))
    drawn = Counter(tuple(_distinct(among, count).tolist()) for _ in range(200 * len(kinds)))
    assert sum((drawn[kind] - 200) ** 2 / 200 for kind in kinds) < 75.0


def test_records_lie_in_the_file_in_the_order_they_leave(tmp_path: Path) -> None:
    """The bytes of the file tell nothing that the batch will not tell: no trace of who came first."""
    mixing = Mixing(tmp_path / "s.db")
    mixing.open("a")
    for begin in range(0, 2000, 50):
        mixing.add("a", [_sealed(number) for number in range(begin, begin + 50)])
        mixing.tidy()
    raw = (tmp_path / "s.db").read_bytes()
    places = {number: raw.index(b"record-%06d" % number) for number in range(2000)}
    assert all(raw.count(b"record-%06d" % number) == 1 for number in range(0, 2000, 97))
    assert not (tmp_path / "s.db-wal").exists() or not (tmp_path / "s.db-wal").stat().st_size
    assert mixing.release("a", at_least=2000, seconds=0)
    (batch,) = mixing.sending()
    leaving = _numbers(mixing.chunk(batch))
    page = 4096
    by_page: dict[int, list[int]] = {}
    for number in leaving:
        by_page.setdefault(places[number] // page, []).append(places[number])
    assert all(offsets == sorted(offsets) for offsets in by_page.values())
    mixing.close()


def test_small_or_early_batches_stay(tmp_path: Path) -> None:
    mixing = Mixing(tmp_path / "s.db")
    mixing.open("a", now=1000)
    mixing.add("a", [_sealed(number) for number in range(9)])
    assert not mixing.release("a", at_least=10, seconds=60, now=2000)
    mixing.add("a", [_sealed(9)])
    assert not mixing.release("a", at_least=10, seconds=60, now=1059)
    assert mixing.release("a", at_least=10, seconds=60, now=1060)
    assert not mixing.release("a", at_least=10, seconds=60, now=5000)  # the next one is empty
    assert mixing.waiting("a") == 0
    mixing.close()


def test_what_was_taken_is_known_after_a_crash_and_after_release(tmp_path: Path) -> None:
    mixing = Mixing(tmp_path / "s.db")
    mixing.open("a")
    one, two = os.urandom(16), os.urandom(16)
    assert mixing.add("a", [_sealed(1, one), _sealed(2, two), _sealed(1, one), _sealed(3, two)]) == [NEW, NEW, KNOWN, SPENT]
    mixing.abandon()  # as after kill -9: nothing was tidied up
    mixing = Mixing(tmp_path / "s.db")
    mixing.open("a")
    assert mixing.add("a", [_sealed(1, one), _sealed(4, two)]) == [KNOWN, SPENT]
    assert mixing.waiting("a") == 2
    assert mixing.release("a", at_least=2, seconds=0)
    (batch,) = mixing.sending()
    mixing.acknowledged(batch, len(mixing.chunk(batch)))
    assert mixing.sending() == []
    assert mixing.add("a", [_sealed(1, one), _sealed(5, one)]) == [KNOWN, SPENT]
    mixing.close()
    assert b"record-" not in (tmp_path / "s.db").read_bytes()
    assert stat.S_IMODE((tmp_path / "s.db").stat().st_mode) == 0o600


def test_a_batch_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    mixing = Mixing(tmp_path / "s.db")
    mixing.open("a")
    mixing.add("a", [_sealed(number) for number in range(2500)])
    assert mixing.release("a", at_least=2, seconds=0)
    (batch,) = mixing.sending()
    first = mixing.chunk(batch)
    mixing.acknowledged(batch, len(first))
    mixing.abandon()
    again = Mixing(tmp_path / "s.db")
    again.open("a")
    rest = []
    while batches := again.sending():
        rest += again.chunk(batches[0])
        again.acknowledged(batches[0], min(1000, batches[0].n - batches[0].sent))
    assert sorted(_numbers(first + rest)) == list(range(2500))
    assert len(first) + len(rest) == 2500
    again.close()


def test_many_are_mixed_before_a_moment_has_passed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.collector.mixing.MIX_RECORDS", 500)
    mixing = Mixing(tmp_path / "s.db")
    mixing.open("a")
    mixing.add("a", [_sealed(number, size=0) for number in range(500)])
    with closing(mixing._connection.execute("SELECT count(*) FROM recent")) as rows:
        assert rows.fetchone() == (0,)
    mixing.close()


def test_a_file_has_one_shuffler_and_is_no_other_database(tmp_path: Path) -> None:
    mixing = Mixing(tmp_path / "s.db")
    with pytest.raises(InvalidParameter, match="another shuffler"):
        Mixing(tmp_path / "s.db")
    mixing.close()
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE t (x)")
    (tmp_path / "other.db").chmod(0o600)
    with pytest.raises(InvalidParameter, match="own"):
        Mixing(tmp_path / "other.db")
    with closing(sqlite3.connect(tmp_path / "s.db")) as file:
        file.execute("PRAGMA user_version = 1")
    with pytest.raises(InvalidParameter, match="another version"):
        Mixing(tmp_path / "s.db")


def test_a_shuffler_that_knows_its_survey_starts_while_the_collector_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both may restart in any order; a survey that was never fetched is still an error."""
    survey, answers = survey_with(tokens=None, reports=12), [survey_with(tokens=None, reports=12)]

    def document(_: SurveyAddress) -> Survey:
        if not answers:
            raise NotDelivered("the collector cannot be reached")
        return answers.pop()

    started: list[Shuffler] = []
    monkeypatch.setattr(SurveyAddress, "document", document)

    def serve_app(app: Shuffler, *_: object, **__: object) -> None:
        started.append(app)
        app.mixing.close()

    monkeypatch.setattr("deniable.collector.serve_app", serve_app)
    address, database = f"http://127.0.0.1:9/v1/surveys/{survey.hash}", str(tmp_path / "s.db")
    for _ in range(2):
        done = CliRunner().invoke(shuffle, [address, "--database", database, "--port", "0"])
        assert done.exit_code == 0, done.output
    assert not answers
    assert [app.destinations for app in started] == [{survey.hash: Destination(survey, "http://127.0.0.1:9")}] * 2
    assert "as it was fetched before" in done.stderr
    other = survey_with(tokens=None, reports=13)
    done = CliRunner().invoke(shuffle, [address.replace(survey.hash, other.hash), "--database", database, "--port", "0"])
    assert isinstance(done.exception, NotDelivered)
    assert len(started) == 2


class Behind:
    """A carrier to a collector in this process, which may be away, or lose its answer."""

    def __init__(self, inside: Inside) -> None:
        self.inside, self.bodies = inside, []  # type: ignore[var-annotated]
        self.away = self.lost = False

    def get(self, url: str) -> tuple[int, bytes]:
        raise AssertionError(url)

    def post(self, url: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        if self.away:
            raise NotDelivered("away")
        status, data = self.inside.post(url.removeprefix("http://collector"), body, content_type)
        self.bodies.append((body, data))
        if self.lost:
            self.lost = False
            raise NotDelivered("the answer was lost")
        return status, data


def _roles(folder: Path, **how: Any) -> tuple[Shuffler, Inside, Survey, Behind]:
    survey = survey_with(**how)
    store = Store(f"sqlite:///{folder}/collector.db")
    store.add_survey(survey)
    warm_all(store)  # as a collector does before it is ready: what is compiled takes longer to load than a report may wait
    inside = Inside(store, analyst=GatewayKeys({0: ANALYST}))
    carrier = Behind(inside)
    shuffler = Shuffler(Mixing(folder / "shuffle.db"), {survey.hash: Destination(survey, "http://collector")}, carrier)
    return shuffler, inside, survey, carrier


def _post(shuffler: Shuffler, survey: Survey, body: bytes, token: str | None = None, kind: str = SEALED_TYPE) -> tuple[int, Any]:
    said: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": body}

    async def send(message: Any) -> None:
        said.append(message)

    headers = [(b"content-type", kind.encode())] + ([] if token is None else [(b"authorization", token.encode())])
    scope = {"type": "http", "method": "POST", "path": f"/v1/surveys/{survey.hash}/sealed", "headers": headers}

    async def both() -> None:
        shuffler._wake = asyncio.Event()
        writing = asyncio.create_task(shuffler._write())
        await shuffler(scope, receive, send)
        writing.cancel()

    asyncio.run(both())
    return said[0]["status"], json.loads(said[1]["body"])


def _report(survey: Survey, key: bytes, value: str = "bus") -> bytes:
    return key + seal_report(survey, key, encode_report(survey.mechanism, survey.mechanism.randomize(value)))


def _drained(shuffler: Shuffler) -> None:
    while shuffler.forward():
        pass


def _counted(inside: Inside, survey: Survey) -> int:
    return int(json.loads(inside.get(f"/v1/surveys/{survey.hash}/estimates")[1])["n"])


def test_reports_reach_the_collector_mixed_and_once(tmp_path: Path) -> None:
    shuffler, inside, survey, carrier = _roles(tmp_path, tokens=1, reports=12)
    bodies = []
    for _ in range(12):
        key, token = os.urandom(16), token_header(token_for(survey))
        body = _report(survey, key)
        assert not shuffler.forward()
        assert _post(shuffler, survey, body, token) == (200, {"accepted": 1, "known": 0})
        assert _post(shuffler, survey, body, token) == (200, {"accepted": 0, "known": 1})
        assert _post(shuffler, survey, _report(survey, os.urandom(16)), token)[0] == 409
        bodies.append(body)
    carrier.away = True
    with pytest.raises(NotDelivered):
        shuffler.forward()
    carrier.away, carrier.lost = False, True
    with pytest.raises(NotDelivered):  # counted, but the shuffler does not know
        shuffler.forward()
    _drained(shuffler)
    assert [json.loads(data) for _, data in carrier.bodies] == [
        {"accepted": 12, "known": 0, "refused": 0},
        {"accepted": 0, "known": 12, "refused": 0},
    ]
    assert _counted(inside, survey) == 12
    assert carrier.bodies[0][0] == carrier.bodies[1][0]
    shuffler.mixing.close()
    inside.close()


def test_bad_input_gets_a_reason_and_nothing_is_lost(tmp_path: Path) -> None:
    shuffler, inside, survey, _ = _roles(tmp_path, tokens=None, reports=3)
    key = os.urandom(16)
    good = _report(survey, key)
    assert _post(shuffler, survey, good[:-1])[0] == 400
    assert _post(shuffler, survey, good + b"\0")[0] == 400
    assert _post(shuffler, survey, good, kind="application/json")[0] == 415
    assert _post(shuffler, survey_with(tokens=None, reports=4), good)[0] == 404
    # A shuffler cannot see that these are no reports; the collector refuses them and counts the others.
    spoiled = os.urandom(16)
    assert _post(shuffler, survey, spoiled + bytes(len(good) - 16))[0] == 200
    moved = os.urandom(16)
    assert _post(shuffler, survey, moved + good[16:])[0] == 200
    assert _post(shuffler, survey, good)[0] == 200
    _drained(shuffler)
    assert _counted(inside, survey) == 1
    path = f"/v1/surveys/{survey.hash}"
    assert inside.post(f"{path}/shuffled", b"\0\0\0\1abc", SHUFFLED_TYPE)[0] == 400
    assert inside.post(f"{path}/shuffled", join_records([good]), "text/plain")[0] == 415
    assert inside.post(f"{path}/submissions", b'{"key":"' + key.hex().encode() + b'","report":"00"}')[0] == 403
    shuffler.mixing.close()
    inside.close()


def test_nobody_else_opens_a_sealed_report() -> None:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    survey, key = survey_with(tokens=None, reports=3), os.urandom(16)
    sealed = seal_report(survey, key, b"report")
    assert open_report(ANALYST, survey, key, sealed) == b"report"
    for private, of, name, data in (
        (X25519PrivateKey.generate(), survey, key, sealed),
        (ANALYST, survey_with(tokens=None, reports=4), key, sealed),
        (ANALYST, survey, bytes(16), sealed),
        (ANALYST, survey, key, sealed[:-1]),
        (ANALYST, survey, key, sealed[:30]),
    ):
        with pytest.raises(BadMessage):
            open_report(private, of, name, data)


def test_the_operators_limit_holds_against_a_survey_that_asks_for_less(tmp_path: Path) -> None:
    shuffler, inside, survey, _ = _roles(tmp_path, tokens=None, reports=2)
    shuffler.at_least = 4
    for number in range(4):
        assert not shuffler.forward()
        assert _post(shuffler, survey, _report(survey, bytes([number] * 16)))[0] == 200
    assert shuffler.forward()
    assert math.isclose(_counted(inside, survey), 4)
    shuffler.mixing.close()
    inside.close()


@pytest.mark.parametrize("shuffled", [False, True])
def test_every_route_is_described(tmp_path: Path, shuffled: bool) -> None:
    keys = {"analyst": GatewayKeys({0: ANALYST})} if shuffled else {}
    inside = Inside(Store(f"sqlite:///{tmp_path}/collector.db"), **keys)
    described = json.loads(inside.get("/openapi.json")[1])
    paths = [str(getattr(route, "path", "")) for route in inside.app.routes]
    assert {path for path in paths if path.startswith("/v1/")} == {path for path in described["paths"] if path.startswith("/v1/")}
    assert ("Unsealed" in described["components"]["schemas"]) == shuffled
    inside.close()


class Scripted:
    """A collector that answers each survey with one status."""

    def __init__(self, statuses: dict[str, int]) -> None:
        self.statuses, self.asked = statuses, Counter[str]()

    def get(self, url: str) -> tuple[int, bytes]:
        raise AssertionError(url)

    def post(self, url: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        survey = url.split("/")[-2]
        self.asked[survey] += 1
        return self.statuses[survey], b"{}"


def test_a_closed_survey_is_said_to_be_closed_and_holds_up_no_other(tmp_path: Path) -> None:
    closed = survey_with(tokens=None, reports=2)
    other = replace(closed, title="Other")
    carrier = Scripted({closed.hash: 410, other.hash: 200})
    places = {survey.hash: Destination(survey, "http://collector") for survey in (closed, other)}
    shuffler = Shuffler(Mixing(tmp_path / "s.db"), places, carrier)
    for survey in (closed, other):
        for _ in range(2):
            assert _post(shuffler, survey, _report(survey, os.urandom(16)))[0] == 200

    async def for_a_while() -> None:
        forwarding = asyncio.create_task(shuffler._forward())
        for _ in range(400):
            waiting = {batch.survey for batch in shuffler.mixing.sending()}
            if carrier.asked[closed.hash] and carrier.asked[other.hash] and other.hash not in waiting:
                break
            await asyncio.sleep(0.05)
        forwarding.cancel()

    asyncio.run(for_a_while())
    assert [batch.survey for batch in shuffler.mixing.sending()] == [closed.hash]  # kept, not thrown away
    assert carrier.asked[closed.hash] < 10  # it rests between two tries
    late = _report(closed, os.urandom(16))
    assert _post(shuffler, closed, late) == (410, {"type": "about:blank", "title": "the survey is closed"})
    assert _post(shuffler, other, _report(other, os.urandom(16)))[0] == 200
    carrier.statuses[closed.hash] = 200  # opened again
    _drained(shuffler)
    assert shuffler.mixing.sending() == []
    assert _post(shuffler, closed, late)[0] == 200
    shuffler.mixing.close()
