"""Unbiased mechanisms and added noise."""

from __future__ import annotations

from deniable.core import analytic_sigma, exact_sigma, published_sigma
from deniable.estimators import closed_form, report_variance, worst_case

from .groups import Row, group, line, made


@group(r"T10\.worst\.closed\..*")
def _(row: Row) -> float:
    return worst_case(line("ogpm-u", row["eps"]), "squared").error


@group(r"(T10|PM)\.var\..*")
def _(row: Row) -> float:
    return report_variance(line("ogpm-u" if row["id"].startswith("T10") else "pm", row["eps"]), row["x"])


@group(r"unb\.worst\.(duchi|pm|pmsub|hm|ogpmu|three)\..*")
def _(row: Row) -> float:
    names = {"pmsub": "pm-sub", "ogpmu": "ogpm-u", "three": "three-outputs"}
    short = row["id"].split(".")[2]
    return worst_case(line(names.get(short, short), row["eps"]), "squared").error


@group(r"stair\.L1\..*")
def _(row: Row) -> float:
    return closed_form(made("staircase", epsilon=row["eps"]), "worst_absolute_error")


@group(r"blap\.eps_actual\..*")
def _(row: Row) -> float:
    # On n cells the farthest two middles are (n - 1)/n apart, and so much of epsilon is spent.
    mechanism = made("bounded-laplace", epsilon=row["eps"], points=100)
    return float(mechanism.certificate().epsilon_exact) * 100 / 99


@group(r"blap\.worst\..*")
def _(row: Row) -> float:
    return worst_case(made("bounded-laplace", epsilon=row["eps"])).error


@group(r"blap\.err\.mid\..*")
def _(row: Row) -> float:
    return closed_form(made("bounded-laplace", epsilon=row["eps"]), "absolute_error", value=row["x"])


@group(r"tlap\.worst\..*")
def _(row: Row) -> float:
    return worst_case(made("truncated-laplace", epsilon=row["eps"])).error


@group(r"T18\.sigma\..*")
def _(row: Row) -> float:
    return published_sigma(row["eps"], row["delta"])


@group(r"PAC\.sigma_exact\..*")
def _(row: Row) -> float:
    return exact_sigma(row["eps"], row["delta"])


@group(r"AGM\.sigma\..*")
def _(row: Row) -> float:
    return analytic_sigma(row["eps"], row["delta"])
