"""Extremal mechanisms for hypothesis tests."""

from __future__ import annotations

from deniable.planning import extremal_design, regimes

from .groups import Row, group


@group(r"kairouz\.[ABC]\.(KL|TV|chi2)\..*")
def _(row: Row) -> Row:
    designed = extremal_design(row["P0"], row["P1"], row["eps"], row["f"])
    return {"lp": designed.value, "binary": designed.binary, "krr": designed.k_rr}


@group(r"kairouz\.[BC]\.thresholds")
def _(row: Row) -> list[float]:
    return list(regimes(row["P0"], row["P1"]))
