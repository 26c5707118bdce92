"""Randomized response, its numeric relatives, and information."""

from __future__ import annotations

import math

import numpy as np

from deniable.core import Categories, Interval
from deniable.estimators import closed_form, pmf, report_variance

from .groups import Row, category, group, made


@group(r"2\.1\.RR\.p")
def _(row: Row) -> float:
    return float(pmf(made("randomized-response", epsilon=row["eps"]), 1)[1])


@group(r"2\.1\.kRR\.100|ex10\.krr")
def _(row: Row) -> float:
    return float(pmf(category(row["k"], row["eps"]), 3)[3])


@group(r"6\.3\.1\.krr(10|2)")
def _(row: Row) -> float:
    eps = int(row["id"].removeprefix("6.3.1.krr"))
    return float(pmf(category(row["k"], eps), 3)[3])


@group(r"A22\.MI\..*")
def _(row: Row) -> float:
    return closed_form(made("randomized-response", epsilon=row["eps"]), "information_bound")


@group(r"A22\.KL\..*")
def _(row: Row) -> float:
    mechanism = made("randomized-response", epsilon=row["eps"])
    ours, theirs = pmf(mechanism, 1), pmf(mechanism, 0)
    return float((ours * np.log(ours / theirs)).sum())


@group(r"lec\.rr\.var\..*")
def _(row: Row) -> float:
    c = math.tanh(row["eps"] / 2)
    return report_variance(made("randomized-response", epsilon=row["eps"]), 1) / c**2


@group(r"lec\.1bit\.ldp\..*")
def _(row: Row) -> float:
    return float(made("one-bit-mean", epsilon=row["eps"]).certificate().epsilon_exact)


@group(r"lec\.1bit\.var\..*")
def _(row: Row) -> float:
    return report_variance(made("one-bit-mean", domain=Interval(0, row["m"]), epsilon=row["eps"]), row["x"])


@group(r"lec\.freq\.c\..*")
def _(row: Row) -> float:
    channel = made("sign-bits", domain=Categories(5), epsilon=row["eps"]).channel
    return float(2 * channel.own / channel.scale - 1)
