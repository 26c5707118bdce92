"""Charts of many linear answers: what is drawn is what was estimated."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.charts import cdf_chart, marginal_chart, range_chart
from deniable.errors import InvalidParameter
from deniable.estimators import Estimate

NAMES = ["a", "b", "c"]
RANGES = np.array([[0.2, 0.5, 1.0], [9.0, 0.3, 0.8], [9.0, 9.0, 0.5]])


def rows_of(chart: object) -> list[dict[str, object]]:
    """The drawn rows, wherever the chart keeps them."""
    document = chart.to_dict()  # type: ignore[attr-defined]
    data = document["data"] if "data" in document else document["spec"]["data"]
    return list(next(iter(document["datasets"].values())) if "name" in data else data["values"])


def table(value: list[float], labels: list[object]) -> Estimate:
    """Shares with a standard error of 0.1."""
    return Estimate(
        value=np.array(value), variance=np.full(len(value), 0.01), n=100, target="these users", method="given", labels=labels
    )


def test_every_range_is_a_cell_and_nothing_else_is_drawn() -> None:
    cells = {(row["first"], row["last"]): row["amount"] for row in rows_of(range_chart(NAMES, RANGES, title="Ranges"))}
    assert cells == {("a", "a"): 0.2, ("a", "b"): 0.5, ("a", "c"): 1.0, ("b", "b"): 0.3, ("b", "c"): 0.8, ("c", "c"): 0.5}


def test_many_categories_are_thinned_with_the_first_and_the_last() -> None:
    names = [str(place) for place in range(120)]
    rows = rows_of(range_chart(names, np.full((120, 120), 0.5), title="Ranges"))
    assert len(rows) == 96 * 97 // 2
    assert {rows[0]["first"], rows[-1]["last"]} == {"0", "119"}


def test_the_band_is_the_interval_within_what_is_possible() -> None:
    cdf = table([0.5, 0.95], ["a", "b"])
    first, second = rows_of(cdf_chart(NAMES[:2], cdf, title="Up to"))
    low, high = cdf.interval()
    assert (first["low"], first["high"]) == pytest.approx((low[0], high[0]))
    assert second["high"] == 1.0


def test_everyone_is_up_to_the_last_category() -> None:
    rows = rows_of(cdf_chart(NAMES, table([0.5, 0.7], ["a", "b"]), title="Up to"))
    assert [(row["name"], row["share"]) for row in rows] == [("a", 0.5), ("b", 0.7), ("c", 1.0)]
    assert (rows[-1]["low"], rows[-1]["high"]) == (1.0, 1.0)
    with pytest.raises(InvalidParameter, match="one for each share"):
        cdf_chart(NAMES[:1], table([0.5, 0.7], ["a", "b"]), title="Up to")


def test_a_table_has_a_panel_for_each_value_of_its_first_field() -> None:
    pair = table([0.1, 0.2, 0.3, 0.4], [(0, "x"), (0, "y"), (1, "x"), (1, "y")])
    rows = rows_of(marginal_chart(["smokes", "city"], pair, title="Smoking by city"))
    assert [(row["panel"], row["cell"], row["share"]) for row in rows] == [
        ("smokes 0", "city x", 0.1),
        ("smokes 0", "city y", 0.2),
        ("smokes 1", "city x", 0.3),
        ("smokes 1", "city y", 0.4),
    ]
    header = marginal_chart(["smokes", "city"], pair, title="Smoking by city").to_dict()["facet"]["row"]["header"]
    assert (header["labelOrient"], header["labelAngle"]) == ("top", 0)  # names beside short panels run into one another
    alone = rows_of(marginal_chart(["city"], table([0.4, 0.6], ["x", "y"]), title="City"))
    assert [(row["panel"], row["cell"]) for row in alone] == [("city", "city x"), ("city", "city y")]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="a row and a column"):
        range_chart(NAMES, np.eye(2), title="Ranges")
    with pytest.raises(InvalidParameter, match="one for each share"):
        cdf_chart(NAMES, table([0.5], ["a"]), title="Up to")
    for names in ([], ["a", "b"]):
        with pytest.raises(InvalidParameter, match="the fields of the table"):
            marginal_chart(names, table([0.5, 0.5], ["x", "y"]), title="Table")
    with pytest.raises(InvalidParameter, match="not drawn"):
        marginal_chart(["a"], table([0.0] * 201, list(range(201))), title="Table")
