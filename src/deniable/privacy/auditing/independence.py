"""Does every report have randomness of its own? Tests for reused noise, reused seeds and serial correlation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Floats
from deniable.errors import InvalidParameter
from deniable.privacy.auditing.fields import ROOT, Table
from deniable.privacy.auditing.octets import Octets, identities, words_of
from deniable.privacy.auditing.returns import NEAR, RETURNS, returns, shared
from deniable.privacy.auditing.targets import Target, draw_same

ERROR = 1e-6
MOST_COLUMNS = 32
MOST_PAIRS = 4
NOT_VALUES = ("type of ", "keys of ", "layout of ", "the text", "the headers")


@dataclass(frozen=True)
class Dependence:
    """The most dependent reports of a run, and how unlikely that would be by chance (an upper bound, over all that was tried).

    `correlation` is the share of returning values where these gave it away.
    """

    where: str
    correlation: float
    chance: float
    error: float
    reports: int

    @property
    def found(self) -> bool:
        """Is it too unlikely to be chance?"""
        return self.chance <= self.error

    @property
    def words(self) -> str:
        """The finding in a sentence."""
        if not self.found:
            return f"no dependence found between {self.reports:,} reports (false alarms: at most {self.error:g})"
        what = "share" if RETURNS in self.where else "correlation"
        return (
            f"DEPENDENT: {self.where}: {what} {self.correlation:.4f} in {self.reports:,} reports, by chance below {self.chance:.1e}"
        )


def independence_test(target: Target, inputs: Sequence[Any], *, samples: int = 200_000, error: float = ERROR) -> Dependence:
    """Compare reports at every distance in one run, and run against run: equal calls, and calls with another input.

    Every field is compared. Reused noise words show as correlation at some distance, whatever it is; a reused seed as two runs
    that agree; twin workers as values that come back too soon. Uses reports of a fixed input only, so nothing but the
    randomness can connect them. The chance is bounded (Freedman's and Hoeffding's inequalities) and multiplied by the number
    of comparisons.
    """
    chosen = list(inputs)[: MOST_PAIRS + 1]
    if not chosen:
        raise InvalidParameter("inputs must hold at least one test value")
    each = samples // (len(chosen) + 1)
    runs = [(f"input number {number + 1}", draw_same(target, value, each).reports) for number, value in enumerate(chosen)]
    runs.append(("input number 1, called again", draw_same(target, chosen[0], each).reports))
    sizes = [len(reports) for _, reports in runs]
    if min(sizes) < 100:
        raise InvalidParameter("fewer than 100 reports came back; see the target's failures")
    contents = [(name, _contents(reports.rows(slice(0, min(sizes))))) for name, reports in runs]
    scored = [(name, {field: _ranks(values) for field, values in fields.items()}) for name, fields in contents]
    worst: tuple[float, float, str] = (0.0, 0.0, "nothing")
    comparisons = 0
    for place, (name, fields) in enumerate(scored):
        for field, scores in fields.items():
            comparisons += len(scores) - 1
            worst = min(worst, _serial(scores, f"{field} of {name}"))
            for other_name, others in scored[:place]:
                if field in others:
                    # At every shift: a run may continue where another one began.
                    comparisons += 2 * len(scores) - 1
                    worst = min(worst, _across(others[field], scores, f"{field} of {other_name} and of {name}"))
    for name, values in contents:
        for field, column in values.items():
            comparisons += len(NEAR) + 1
            worst = min(worst, returns(column, f"{field} of {name}"))
    again = contents[-1][1]
    for field, column in contents[0][1].items():
        if field in again:
            comparisons += 2
            worst = min(worst, shared(column, again[field], f"{field} of {contents[0][0]} and of {contents[-1][0]}"))
    chance = min(1.0, math.exp(min(0.0, worst[0] + math.log(2 * max(comparisons, 1)))))
    return Dependence(worst[2], worst[1], chance, error, sum(sizes))


def _contents(reports: Table) -> dict[str, NDArray[Any]]:
    """What to compare: the fields, long ones by their first and last word, and the whole report; those that vary most."""
    contents: dict[str, NDArray[Any]] = {}
    names = [name for name in reports.columns if not name.startswith(NOT_VALUES)]
    for name in [*names[: MOST_COLUMNS // 2], *names[MOST_COLUMNS // 2 :][-MOST_COLUMNS // 2 :]]:
        column = reports.columns[name]
        label = "the report" if name == ROOT else name
        if not isinstance(column, Octets):
            contents[label] = column
            continue
        contents[label] = identities(column)
        words = words_of(column)
        if words.shape[1] > 1:
            contents |= {f"the first word of {label}": words[:, 0], f"the last word of {label}": words[:, -1]}
    if len(reports.columns) > 1:
        # A fingerprint of the whole report: reused ones agree in it even where single fields hardly vary.
        contents["the whole report"] = reports.whole()
    return contents


def _ranks(values: NDArray[Any]) -> Floats:
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / len(values)
    return np.asarray(middle[codes.ravel()] - 0.5, np.float64)


def _serial(scores: Floats, where: str) -> tuple[float, float, str]:
    """The most unlikely autocorrelation: log of its chance, its size, and the distance."""
    n = len(scores)
    spectrum = np.fft.rfft(scores, 2 * n)
    sums = np.fft.irfft(np.abs(spectrum) ** 2, 2 * n)[1:n]
    terms = np.arange(n - 1, 0, -1)
    return _most(sums, terms, scores, scores, [f"{where}, {{}} reports apart", 1])


def _across(first: Floats, second: Floats, where: str) -> tuple[float, float, str]:
    """The same between two runs, at every shift."""
    n = len(first)
    sums = np.fft.irfft(np.conj(np.fft.rfft(first, 2 * n)) * np.fft.rfft(second, 2 * n), 2 * n)
    shifted = np.concatenate([sums[n + 1 :], sums[:n]])  # shifts -(n-1) … n-1
    terms = n - np.abs(np.arange(-(n - 1), n))
    return _most(shifted, terms, first, second, [f"{where}, shifted by {{}}", -(n - 1)])


def _most(sums: Floats, terms: NDArray[np.int64], first: Floats, second: Floats, label: list[Any]) -> tuple[float, float, str]:
    variance = float(first.var() * second.var())
    if variance == 0:
        return 0.0, 0.0, "nothing"  # constant columns are the business of the coordinate test
    # Products of independent centred scores are martingale differences, at most 1/4 in size (Freedman's inequality).
    # Scores are centred by the sample's own mean and ranks: a small excess of the variance covers that.
    spread = 1.05 * terms * variance + 1.0
    logs = -(sums**2) / (2 * (spread + np.abs(sums) / 12))
    place = int(np.argmin(logs))
    size = float(sums[place] / (terms[place] * math.sqrt(variance)))
    return float(logs[place]), size, label[0].format(place + label[1])
