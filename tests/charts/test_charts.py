"""Charts: right data, and files that need no network."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from deniable.charts import density_chart, error_chart, estimate_chart, save
from deniable.core import OGPM, Window
from deniable.errors import InvalidParameter


def rows(chart: Any) -> list[dict[str, Any]]:
    specification = chart.to_dict()
    found: list[dict[str, Any]] = specification["datasets"][specification["data"]["name"]]
    return found


def test_densities_have_area_one() -> None:
    points = rows(density_chart(Window(epsilon=3), [0.3]))
    area = sum(a["density"] * (b["report"] - a["report"]) for a, b in pairwise(points))
    assert area == pytest.approx(1, abs=1e-6)
    assert max(p["density"] for p in points) / min(p["density"] for p in points) == pytest.approx(2.718281828**3, rel=1e-6)


def test_error_curves_end_in_the_known_worst_case() -> None:
    points = rows(error_chart({"ours": Window(epsilon=8), "published": OGPM(epsilon=8)}, "squared"))
    worst = {name: max(p["error"] for p in points if p["mechanism"] == name) for name in ("ours", "published")}
    assert worst["ours"] == pytest.approx(0.003024, abs=5e-7)
    assert worst["published"] == pytest.approx(0.006211, abs=5e-7)


def bars() -> Any:
    return estimate_chart(
        ["a rather long name", "b"], [0.6, -0.01], [(0.5, 0.7), (-0.1, 0.1)], [0.61, 0.0], title="Shares", percent=True
    )


def test_files_hold_everything_they_need(tmp_path: Path) -> None:
    assert save(bars(), tmp_path / "new" / "bars.png").read_bytes().startswith(b"\x89PNG")
    svg = save(bars(), tmp_path / "bars.svg").read_text(encoding="utf-8")
    assert "a rather long name" in svg
    page = save(bars(), tmp_path / "bars.html").read_text(encoding="utf-8")
    assert not re.search(r"<(script|link)[^>]+(src|href)=", page)


def test_unequal_lengths_and_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter):
        estimate_chart(["a"], [0.1, 0.2], [(0, 1)], title="x")
    with pytest.raises(InvalidParameter, match=r"\.png"):
        save(bars(), tmp_path / "bars.gif")
