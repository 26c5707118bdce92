"""Sets, key-value pairs and the periods of a stream through Spark on two local workers: the bytes of the local engine."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.batch import Local, Reports, Source, Spark, accumulator_for, randomize_many, started
from deniable.core import (
    Categories,
    Interval,
    ItemSet,
    KeptAnswer,
    KeyValue,
    Mechanism,
    Stream,
    TakingTurns,
    make_mechanism,
)
from deniable.estimators import item_shares, key_distributions, key_means, key_shares, size_shares, trend
from deniable.privacy import FixedCoins, FixedKeystream
from deniable.surveys import survey_from_toml

from .parquet_files import write_parts

pytestmark = pytest.mark.heavy
COUNT = 3000
SETS = ["padding-sampling", "padding-oue", "priv-set", "set-selection"]
PAIRS = ["pckv-grr", "pckv-ue", "pair-set"]


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'deniable[spark]'")
    if shutil.which("java") is None:
        pytest.skip("there is no Java on this machine; Spark needs Java 17 or later")
    made = started("local[2]", {})
    yield made
    made.stop()


@pytest.fixture(params=["workers", "spark"])
def engine(request: pytest.FixtureRequest, session: Any) -> Spark:
    return Spark(reads=request.param)


def folded(engine: Spark | Local, mechanism: Mechanism, path: Path) -> Any:
    return engine.fold(Source(mechanism, (str(path),)))


def random_sets(count: int) -> list[list[int]]:
    draws = np.random.default_rng(1).random((count, 8))
    return [np.flatnonzero(row < (0.5, 0.3, 0.2, 0.05, 0.01, 0.0, 0.1, 0.02))[:3].tolist() for row in draws]


@pytest.mark.parametrize("name", SETS)
def test_sets_are_counted_as_by_the_local_engine(name: str, engine: Spark, tmp_path: Path) -> None:
    mechanism = make_mechanism(name, domain=ItemSet(8, at_most=3), epsilon=2)
    reports = randomize_many(mechanism, random_sets(COUNT), FixedKeystream(1))
    write_parts(tmp_path, reports, 5, row_group=200)
    sums = folded(engine, mechanism, tmp_path)
    assert sums.to_bytes() == folded(Local(), mechanism, tmp_path).to_bytes() == accumulator_for(mechanism).add(reports).to_bytes()
    for estimate in (item_shares, size_shares):
        assert (estimate(sums).value == estimate(reports).value).all()


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_are_counted_as_by_the_local_engine(name: str, engine: Spark, tmp_path: Path) -> None:
    mechanism = make_mechanism(name, domain=KeyValue(["mail", "maps", "chat"], Interval(0, 60, cells=12), at_most=2), epsilon=2)
    maps = [{"mail": 5.0 * (number % 12)} if number % 3 else {"maps": 30.0, "chat": 60.0} for number in range(COUNT)]
    reports = randomize_many(mechanism, maps, FixedKeystream(2))
    write_parts(tmp_path, reports, 5, row_group=200)
    sums = folded(engine, mechanism, tmp_path)
    assert sums.to_bytes() == folded(Local(), mechanism, tmp_path).to_bytes() == accumulator_for(mechanism).add(reports).to_bytes()
    for estimate in (key_shares, key_means, *([key_distributions] if name == "pair-set" else [])):
        assert (estimate(sums).value == estimate(reports).value).all()


def lives(stream: Stream, people: int) -> list[list[int]]:
    """What everyone sends in every period: the values move from 0 to 2."""
    coins = FixedCoins(3)
    periods: list[list[int]] = [[] for _ in range(stream.periods)]
    for person in range(people):
        memory = stream.start(coins)
        for period in range(stream.periods):
            sent = stream.report(memory, period, (person % 3) * period // stream.periods, coins)
            periods[period] += [] if sent is None else [sent]
    return periods


@pytest.mark.parametrize("kind", ["turns", "kept"])
def test_a_trend_over_the_periods_of_a_stream_is_that_of_the_local_engine(kind: str, engine: Spark, tmp_path: Path) -> None:
    mechanism = make_mechanism("k-rr", domain=Categories(3), epsilon=1)
    stream = TakingTurns(4, mechanism, turns=2) if kind == "turns" else KeptAnswer(4, 3, epsilon=1, permanent=2)
    by_spark, here = [], []
    for period, sent in enumerate(lives(stream, 900)):
        reports = Reports(mechanism, np.array(sent, np.int64))
        write_parts(tmp_path / str(period), reports, 3, row_group=50)
        by_spark.append(folded(engine, mechanism, tmp_path / str(period)))
        here.append(folded(Local(), mechanism, tmp_path / str(period)))
    assert sum(one.n for one in here) == (1800 if kind == "turns" else 3600)
    assert [one.to_bytes() for one in by_spark] == [one.to_bytes() for one in here]
    assert (trend(by_spark).value == trend(here).value).all()


@pytest.mark.parametrize("repeat", ["each-window", "turns:3", "kept:2"])
def test_a_survey_that_repeats_is_counted_as_by_the_local_engine(repeat: str, engine: Spark, tmp_path: Path) -> None:
    """Several questions at once: the survey's mechanism is a record, and every attribute keeps its own estimates."""
    lines = '[attributes.lines]\nquestion="Which lines?"\ndomain="item-set:2,bus,tram,train"\n'
    travel = '[attributes.travel]\nquestion="How?"\ndomain="categories:bike,bus,car"\n'
    head = f'title="Travel"\npurpose="Lines."\nepsilon=1\nbudget=8\nwindow="day"\nrepeat="{repeat}"\n'
    survey = survey_from_toml(head + (travel if repeat == "kept:2" else 'strategy="split"\n' + travel + lines))
    mechanism = survey.mechanism
    index = np.arange(400) % mechanism.domain.size
    reports = randomize_many(mechanism, [mechanism.domain.decode(int(place)) for place in index], FixedKeystream(3))
    write_parts(tmp_path, reports, 3, row_group=50)
    assert folded(engine, mechanism, tmp_path).to_bytes() == folded(Local(), mechanism, tmp_path).to_bytes()
