"""What we promised, and whether these runs kept it: the lower end of every range decides."""

from __future__ import annotations

from typing import Any

from speed.environments import NAIVE, ONE_CORE, OTHERS, OURS
from speed.runs import as_text, ratios, start_ratios

PEERS = tuple(peer.name for peer in OTHERS)
Row = dict[str, Any]

TIMES = (
    # what is promised, our task, the task of the others, who, how many times faster
    ("privatise k-RR, k=100, against every peer", "privatise k-RR, k=100", "privatise k-RR, k=100", PEERS, 100),
    ("privatise OUE, k=1,000, against every peer", "privatise OUE, k=1,000", "privatise OUE, k=1,000", PEERS, 20),
    ("privatise OLH, k=1,000, against every peer", "privatise OLH, k=1,000", "privatise OLH, k=1,000", PEERS, 300),
    ("privatise window, against diffprivlib's Laplace", "privatise window", "privatise Laplace", ("diffprivlib",), 1000),
    ("privatise window, against the same in naive numpy", "privatise window", "privatise window", (NAIVE.name,), 3),
    ("aggregate k-RR, k=100, against every peer", "aggregate k-RR, k=100", "aggregate k-RR, k=100", PEERS, 40),
    ("aggregate OUE, k=1,000, against every peer", "aggregate OUE, k=1,000", "aggregate OUE, k=1,000", PEERS, 12),
    ("aggregate OLH, k=1,000, against every peer", "aggregate OLH, k=1,000", "aggregate OLH, k=1,000", PEERS, 1000),
)
COLD_START = 5
COLD_START_AGAINST = {"opendp, numpy hidden": 2}
FRACTIONS = {"privatise k-RR, k=100": 0.5, "privatise window": 0.5, "fold k-RR, k=100": 0.3, "fold window": 0.3}
LINEAR = 0.05
DECODE = 1.1


def judged(found: Row) -> list[Row]:
    """Every bar with what was reached."""
    return [
        *_times({**found["privatise_runs"], **found["aggregate_runs"]}),
        *_cold(found["cold_runs"]),
        *_fractions(found["fractions"]),
        *_growth(found["growth"]),
    ]


def _times(runs: dict[str, list[Row]]) -> list[Row]:
    bars = []
    for text, ours, theirs, packages, needed in TIMES:
        mine, others = runs.get(ours, []), runs.get(theirs, [])
        reached = ratios(mine, others, packages)
        if reached is None:
            bars.append(_bar(text, f"≥ {needed:,}×", None, None, "nobody to compare with"))
            continue
        span, nearest = reached
        alone = ratios(mine, others, packages, ONE_CORE.name)
        note = f"nearest: {nearest}" + (f"; one core {as_text(alone[0])}" if alone else "") + _runs(len(mine))
        bars.append(_bar(text, f"≥ {needed:,}×", span[0] >= needed, as_text(span), note))
    return bars


def _runs(count: int) -> str:
    return "; one run" if count == 1 else f"; {count} runs"


def _cold(runs: list[list[Row]]) -> list[Row]:
    names = dict.fromkeys(row["package"] for run in runs for row in run if "first_report" in row)
    if OURS.name not in names:
        return [_bar("cold start to first report", f"≥ {COLD_START}×", None, None, "did not run")]
    bars = []
    for name in names:
        if name in (OURS.name, "Python alone"):
            continue
        first, whole, processor = (start_ratios(runs, name, key) for key in ("first_report", "whole_process", "processor"))
        if first is not None and whole is not None and processor is not None:
            note = f"whole process {as_text(whole)}, its processor time {as_text(processor)}{_runs(len(runs))}"
            text = f"cold start to first report, against {name}"
            needed = COLD_START_AGAINST.get(name, COLD_START)
            bars.append(_bar(text, f"≥ {needed}×", first[0] >= needed, as_text(first), note))
    return bars


def _fractions(rows: list[Row]) -> list[Row]:
    bars = []
    for row in rows:
        if row["case"] in FRACTIONS:
            needed = FRACTIONS[row["case"]]
            note = f"one core {row['fraction_one_core']:.2f}"
            text = f"{row['case']}, as a fraction of {row['limit']}"
            bars.append(_bar(text, f"≥ {needed}", row["fraction"] >= needed, f"{row['fraction']:.2f}", note))
    return bars


def _growth(found: Row) -> list[Row]:
    bars = []
    for row in found["users"]:
        slope, sizes = row["exponent"], row["sizes"]
        text = f"{row['case']}: time grows with users to the power of"
        note = f"{sizes[0]:,} to {sizes[-1]:,} users, one core"
        bars.append(_bar(text, f"1 ± {LINEAR}", abs(slope - 1) <= LINEAR, f"{slope:.3f}", note))
    for row in found["values"]:
        slope, sizes = row["exponent"], row["sizes"]
        text = f"{row['case']}: time grows with values to the power of"
        bars.append(_bar(text, f"≤ {DECODE}", slope <= DECODE, f"{slope:.3f}", f"k = {sizes[0]:,} to {sizes[-1]:,}, one core"))
    return bars


def _bar(text: str, needed: str, met: bool | None, reached: str | None, note: str) -> Row:
    return {"bar": text, "required": needed, "reached": reached or "–", "met": met, "note": note}
