"""The chart of repeated reports shows every mechanism and one bound."""

from __future__ import annotations

from pathlib import Path

import pytest

from deniable.charts import reconstruction_chart, save
from deniable.charts.audit import BOUND
from deniable.core import Categories, make_mechanism
from deniable.errors import InvalidParameter
from deniable.privacy import FixedKeystream, reconstruct


def test_every_mechanism_and_the_bound_are_drawn(tmp_path: Path) -> None:
    found = {
        name: reconstruct(
            make_mechanism(name, domain=Categories(4), epsilon=1), repeats=(1, 4), users=100, keystream=FixedKeystream(name)
        )
        for name in ("k-rr", "oue")
    }
    chart = reconstruction_chart(found)
    drawn = save(chart, tmp_path / "chart.svg").read_text(encoding="utf-8")
    for text in ("k-rr", "oue", BOUND, "share of users guessed right"):
        assert text in drawn


def test_charts_refuse_what_has_no_common_bound() -> None:
    one, two = (
        reconstruct(make_mechanism("k-rr", domain=Categories(k), epsilon=1), repeats=(1,), users=100, keystream=FixedKeystream(k))
        for k in (3, 4)
    )
    with pytest.raises(InvalidParameter, match="same epsilon"):
        reconstruction_chart({"a": one, "b": two})
    with pytest.raises(InvalidParameter, match="at least one"):
        reconstruction_chart({})
