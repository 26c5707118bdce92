"""Charts of trends and of what streams give away."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("altair", reason="charts need altair")

from deniable.charts import stream_chart, trend_chart
from deniable.core import Categories, FreshReports, RandomizedResponse, RandomPeriod, make_mechanism
from deniable.estimators import trend


def rows(picture: Any) -> list[list[dict[str, Any]]]:
    return [list(part) for part in picture.to_dict()["datasets"].values()]


def test_a_change_is_marked_and_a_calm_trend_is_not() -> None:
    mechanism = make_mechanism("k-rr", domain=Categories(["no", "yes"]), epsilon=4)
    days = [mechanism.randomize_many(["yes"] * yes + ["no"] * (2000 - yes)) for yes in (200, 200, 1500)]
    moved = trend(days)
    marked = [row for part in rows(trend_chart(moved, 1e-6)) for row in part if set(row) == {"period"}]
    assert marked == [{"period": 1.5}]
    calm = [row for part in rows(trend_chart(trend(days[:2]), 1e-9)) for row in part if set(row) == {"period"}]
    assert calm == []
    assert moved.plot().to_dict()["layer"]


def test_the_loss_of_streams_is_drawn_from_the_streams() -> None:
    coin = RandomizedResponse(epsilon=1)
    drawn = stream_chart({"fresh": [FreshReports(10, coin)], "once": [RandomPeriod(10, coin)]})
    data = rows(drawn)[0]
    assert [round(row["level"], 4) for row in data] == [10, 1]
