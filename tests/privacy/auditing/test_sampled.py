"""Bounds are what they say, own mechanisms are not accused, and what goes wrong is reported and not counted."""

from __future__ import annotations

import http.server
import itertools
import json
import math
import random
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from tests.privacy.auditing import faults

from deniable.core import make_mechanism, mechanism_class, names
from deniable.errors import InvalidParameter
from deniable.estimators import clopper_pearson
from deniable.privacy import (
    Command,
    FixedKeystream,
    HttpClient,
    Scalar,
    Vectorised,
    audit,
    audit_mechanism,
    samples_for,
    timing_test,
)
from deniable.privacy.auditing.bounds import delta_below, detection_chance, epsilon_below
from deniable.privacy.auditing.families.values import lowest_bit
from deniable.privacy.auditing.octets import identities
from deniable.privacy.auditing.targets import draw_same

SLOW = {"exponential-cells"}


@pytest.mark.parametrize(("hits", "trials"), [(0, 10), (3, 10), (10, 10), (5000, 10_000)])
def test_clopper_pearson_has_its_tails(hits: int, trials: int) -> None:
    low, high = map(float, clopper_pearson(np.array(hits), trials, 1e-4))
    assert low <= hits / trials <= high
    if hits:
        assert stats.binom.sf(hits - 1, trials, low) == pytest.approx(1e-4, rel=1e-6)
    if hits < trials:
        assert stats.binom.cdf(hits, trials, high) == pytest.approx(1e-4, rel=1e-6)


def test_bounds_are_wrong_as_rarely_as_they_say() -> None:
    """10,000 tests at the edge of a claim, error 0.01 each: more than 150 wrong ones would have a chance below 1e-6."""
    rng = faults.generator(1)
    q, n = 0.2, 5000
    hits, other = rng.binomial(n, q * math.e, 10_000), rng.binomial(n, q, 10_000)
    assert (epsilon_below(hits, n, other, n, 0.01) > 1).sum() <= 150
    assert (delta_below(hits, n, other, n, 0.01, 1.0) > 0).sum() <= 150
    assert float(epsilon_below(0, 100, 50, 100, 0.01)) == -math.inf


def test_the_power_is_not_promised_too_high() -> None:
    rng = faults.generator(2)
    n, other, error = 20_000, 0.25, 1e-4
    promised = detection_chance(1.0, 1.08, other, n, error)
    hits, rare = rng.binomial(n, other * math.exp(1.08), 4000), rng.binomial(n, other, 4000)
    seen = float((epsilon_below(hits, n, rare, n, error) > 1).mean())
    assert promised <= seen + 0.03
    needed = samples_for(1.0, 0.08, other, error)
    assert needed is not None
    assert detection_chance(1.0, 1.08, other, needed, error) >= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in names() if name not in SLOW])
def test_own_mechanisms_are_not_accused(name: str) -> None:
    """False alarms: at most 1e-6 each, on fixed coins."""
    mechanism = list(mechanism_class(name).examples())[1]
    verdict = audit_mechanism(mechanism, samples=12_000, confidence=1 - 1e-6, keystream=FixedKeystream(name))
    assert verdict.violated is not True, verdict.words


@pytest.mark.slow
@pytest.mark.parametrize("name", ["k-rr", "oue", "olh", "hadamard", "subset", "window"])
def test_the_search_comes_near_the_claim_of_own_mechanisms(name: str) -> None:
    verdict = audit_mechanism(make_mechanism(name, epsilon=1), samples=400_000, keystream=FixedKeystream(name))
    assert 0.7 < verdict.epsilon_lower <= 1.0


def test_delta_is_shown_where_pure_privacy_is_claimed() -> None:
    mechanism = make_mechanism("gaussian", epsilon=1, delta="0.1", points=16)
    claim = audit_mechanism(mechanism, samples=200_000, keystream=FixedKeystream(3))
    assert claim.violated is False
    rng = faults.generator(3)
    verdict = audit(
        lambda values: np.where(rng.random(len(values)) < 0.05, values, 9), [0, 1], epsilon=1, samples=100_000, vectorised=True
    )
    assert verdict.violated
    assert 0.04 < verdict.delta_lower <= 0.05


@pytest.mark.slow
def test_ten_million_draws_are_judged() -> None:
    verdict = audit(faults.k_ary(10, 1.0, 4), [0, 9], epsilon=1, samples=10_000_000, vectorised=True, order=FixedKeystream(4))
    assert sum(verdict.trials) >= 7_000_000
    assert verdict.violated is False


def test_several_workers_draw_as_many_reports() -> None:
    calls: list[int] = []

    def counted(values: faults.Array) -> faults.Array:
        calls.append(len(values))
        return values

    assert draw_same(Vectorised(counted, workers=3), 4, 1000).reports.numbers().tolist() == [4] * 1000
    assert sorted(calls) == [332, 334, 334]


def test_functions_that_raise_are_reported_and_not_counted() -> None:
    rng = faults.generator(5)

    def fragile(value: int) -> int:
        if rng.random() < 0.1:
            raise RuntimeError("not today")
        return value ^ int(rng.random() < 0.3)

    verdict = audit(Scalar(fragile), [0, 1], epsilon=1, samples=20_000)
    assert verdict.violated is False
    assert 1500 < verdict.failures["raised RuntimeError"] < 2500
    assert sum(verdict.trials) < 14_000
    assert "not today" not in json.dumps(verdict.to_dict())
    never = audit(Scalar(lambda value: 1 / 0), [0, 1], epsilon=1, samples=1000)
    assert never.violated is None
    assert never.words.startswith("no verdict")


@pytest.mark.parametrize("silence", [(0.0, 0.1), (0.05, 0.3)])
def test_a_program_that_is_silent_more_often_for_one_value_is_found(silence: tuple[float, float]) -> None:
    coins = random.Random(7)

    def draw(value: int) -> int:
        if coins.random() < silence[value]:
            raise RuntimeError
        return value if coins.random() < 0.7 else 1 - value

    outcome = audit(Scalar(draw), [0, 1], epsilon=1, samples=20_000, order=FixedKeystream("silence"))
    assert outcome.violated
    assert outcome.event == "no report came back"
    assert outcome.pair == (1, 0)


def test_a_program_that_is_equally_often_silent_is_not_accused() -> None:
    """False alarms: at most 1e-6."""
    coins = random.Random(8)

    def draw(value: int) -> int:
        if coins.random() < 0.2:
            raise RuntimeError
        return value if coins.random() < 0.7 else 1 - value

    order = FixedKeystream("silence")
    assert audit(Scalar(draw), [0, 1], epsilon=1, samples=20_000, confidence=1 - 1e-6, order=order).violated is False


def test_failures_that_depend_on_the_value_are_pointed_out() -> None:
    rng = faults.generator(6)

    def shy(value: int) -> int:
        if value and rng.random() < 0.5:
            raise ValueError
        return int(rng.random() < 0.5)

    assert "depends on the input" in audit(Scalar(shy), [0, 1], epsilon=1, samples=10_000).warnings[0]


PROGRAMS = {
    "fine": "import sys,random\nfor line in sys.stdin: print(int(line) ^ (random.random() < .3))",
    "leaks": "import sys\nfor line in sys.stdin: print(line.strip())",
    "hangs": "import time; time.sleep(60)",
    "crashes": "import sys; sys.exit(5)",
    "garbage": "import sys; sys.stdout.buffer.write(bytes([255, 254, 10]))",
    "too little": "print(1)",
}


@pytest.mark.parametrize(
    ("program", "violated", "complaint"),
    [
        ("fine", False, ""),
        ("leaks", True, ""),
        ("hangs", None, "took longer than"),
        ("crashes", None, "ended with code 5"),
        ("garbage", None, "not text"),
        ("too little", None, "another number of lines"),
    ],
)
def test_programs(program: str, violated: bool | None, complaint: str, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAMS[program], encoding="utf-8")
    target = Command([sys.executable, "-S", str(script)], lines=True, timeout=0.5 if program == "hangs" else 60)
    verdict = audit(target, [0, 1], epsilon=1, samples=4000)
    assert verdict.violated is violated
    assert complaint in " ".join(verdict.failures)


def test_one_process_per_report_works_too() -> None:
    answers = draw_same(Command([sys.executable, "-S", "-c", "print(input())"]), 7, 4)
    assert answers.reports.numbers().tolist() == [7, 7, 7, 7]
    with pytest.raises(InvalidParameter, match="cannot be started"):
        draw_same(Command("/nowhere/at-all"), 0, 1)


class Service(http.server.BaseHTTPRequestHandler):
    """Answers with the value, or with an error for 5."""

    def do_POST(self) -> None:
        value = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(500 if value == 5 else 200)
        self.end_headers()
        self.wfile.write(json.dumps({"report": value}).encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        pass


@pytest.fixture
def service() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.slow
def test_services(service: str) -> None:
    client = HttpClient(service)
    assert audit(client, [0, 1], epsilon=1, samples=800).violated
    assert draw_same(client, 5, 3).failures == {"answered with status 500": 3}
    assert draw_same(HttpClient("http://127.0.0.1:9/"), 1, 2).failures == {"could not be reached": 2}
    with pytest.raises(InvalidParameter, match="http://"):
        HttpClient("file:///etc/passwd")


def test_reports_of_many_shapes() -> None:
    rng = faults.generator(7)
    words = np.array(["yes", "no", "perhaps"])
    verdict = audit(lambda values: words[rng.integers(0, 3, len(values))], [0, 1], epsilon=1, samples=4000, vectorised=True)
    assert verdict.violated is False
    assert draw_same(Scalar(lambda value: (value, 2.5)), 1, 3).reports.numbers().shape == (3, 2)
    mixed = iter([1, 2, "x", 3, None, [1], 4])
    draws = draw_same(Scalar(lambda value: next(mixed)), 0, 7)
    assert len(draws.reports) == 7  # another form is a report too, and its form may tell something
    assert len(np.unique(identities(draws.reports.columns["type of report"]))) == 4
    assert not draws.failures
    with pytest.raises(InvalidParameter, match="rows of numbers"):
        draws.reports.numbers()
    assert draw_same(Vectorised(lambda values: values[:-1]), 0, 5).failures


def test_the_lowest_bit_is_the_finest_grid() -> None:
    codes = lowest_bit(np.array([1.0, 0.75, 0.1, 3.0, 0.0, math.inf, math.nan]))
    grids = codes // 16 - 80
    assert grids[:4].tolist() == [0, -2, -55, 0]


class _Clock:
    """A clock that only the timed function moves, and a machine whose noise has a period of four calls."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.calls = 0, 0
        monkeypatch.setattr("deniable.privacy.auditing.timing.time.perf_counter_ns", lambda: self.now)
        coins = random.Random(5)
        monkeypatch.setattr("deniable.privacy.auditing.timing.secrets.randbits", coins.getrandbits)

    def spend(self, nanoseconds: int) -> None:
        self.calls += 1
        self.now += nanoseconds + (0, 30, 40, 10)[self.calls % 4]


def test_a_slow_value_is_seen_and_an_equal_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = _Clock(monkeypatch)
    assert timing_test(lambda value: clock.spend(125 if value else 100), (1, 0), pairs=2000).found
    equal = timing_test(lambda value: clock.spend(100), (1, 0), pairs=2000)
    assert not equal.found
    assert equal.interval[0] <= equal.difference <= equal.interval[1]


def test_noise_with_the_period_of_a_fixed_order_is_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = _Clock(monkeypatch)
    noise = (0, 1, 1, 0, 1, 0, 0, 1)

    def equal(value: int) -> None:
        clock.spend(50 * noise[clock.calls % 8])

    assert not timing_test(equal, (1, 0), pairs=2000).found
    fixed = itertools.cycle((0, 1, 1, 0))
    clock.calls = 0
    monkeypatch.setattr("deniable.privacy.auditing.timing.secrets.randbits", lambda bits: next(fixed))
    assert timing_test(equal, (1, 0), pairs=2000).found  # what a drawn order protects from


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"inputs": [0]}, "inputs must be"),
        ({"samples": 100}, "samples must be at least"),
        ({"confidence": 1.0}, "confidence"),
        ({"delta": -0.1}, "delta"),
        ({"epsilon": 0}, "epsilon"),
    ],
)
def test_bad_questions_are_refused(arguments: dict[str, object], message: str) -> None:
    asked: dict[str, object] = {"inputs": [0, 1], "epsilon": 1, "samples": 1000, **arguments}
    inputs = asked.pop("inputs")
    with pytest.raises(InvalidParameter, match=message):
        audit(Scalar(lambda value: value), inputs, **asked)  # type: ignore[arg-type]
