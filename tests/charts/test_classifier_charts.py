"""Charts of ρ hold the numbers they are made from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deniable.charts import rho_chart, save
from deniable.errors import InvalidParameter
from deniable.studies import UtilityReport, UtilityRow


def row(mechanism: str, epsilon: float, **more: Any) -> UtilityRow:
    usual: dict[str, Any] = {"lower": 0.7, "value": 0.8, "kind": "estimate", "low": 0.7, "high": 0.9}
    usual |= {"method": "weighted", "evaluations": 10, "delta": 0.0, "epsilon_total": 2 * epsilon}
    return UtilityRow(mechanism=mechanism, epsilon=epsilon, **(usual | more))


def report(*rows: UtilityRow, records: int = 1) -> UtilityReport:
    return UtilityReport(rows, records, ("Age", "BMI"), 0.95, False, "answer")


def values(chart: Any) -> list[dict[str, Any]]:
    return [point for data in chart.to_dict()["datasets"].values() for point in data]


def test_the_curve_has_its_band_its_dots_and_its_target(tmp_path: Path) -> None:
    chart = rho_chart(
        report(row("ogpm", 1, empirical=0.81), row("ogpm", 2, empirical=0.79), row("sw", 1), row("sw", 2)), target=0.9
    )
    points = values(chart)
    assert {"epsilon": 1, "rho": 0.8, "low": 0.7, "high": 0.9, "mechanism": "ogpm"} in points
    assert {"epsilon": 2, "rho": 0.79, "mechanism": "ogpm"} in points
    assert {"target": 0.9} in points
    svg = save(chart, tmp_path / "rho.svg").read_text(encoding="utf-8")
    for text in ("ogpm", "sw", "bands: intervals, 95 % each", "epsilon of every sensitive feature"):
        assert text in svg, text


def test_the_worst_record_has_a_chart_of_its_own() -> None:
    worst = {"worst": 0.4, "worst_low": 0.3, "worst_high": 0.5}
    points = values(rho_chart(report(row("ogpm", 1, **worst), row("ogpm", 2, **worst), records=3), worst=True))
    assert all((point["rho"], point["low"], point["high"]) == (0.4, 0.3, 0.5) for point in points)


def test_charts_that_cannot_be_drawn_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="between 1 and"):
        rho_chart(report())
    with pytest.raises(InvalidParameter, match="two records"):
        rho_chart(report(row("ogpm", 1)), worst=True)
