"""What we promised, and whether this run kept it."""

from __future__ import annotations

from typing import Any

from speed.environments import NAIVE, ONE_CORE, OTHERS, OURS

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
FRACTIONS = {"privatise k-RR, k=100": 0.5, "privatise window": 0.5, "fold k-RR, k=100": 0.3, "fold window": 0.3}
LINEAR = 0.05
DECODE = 1.1


def per_user(rows: list[Row], task: str, package: str) -> float | None:
    """Median seconds per user, if the package does it."""
    for row in rows:
        if row["task"] == task:
            found: float | None = row["packages"].get(package, {}).get("per_user")
            return found
    return None


def judged(found: Row) -> list[Row]:
    """Every bar with what was reached."""
    return [
        *_times([*found["privatise"], *found["aggregate"]]),
        *_cold(found["cold"]),
        *_fractions(found["fractions"]),
        *_growth(found["growth"]),
    ]


def _times(rows: list[Row]) -> list[Row]:
    bars = []
    for text, ours, theirs, packages, needed in TIMES:
        mine, alone = per_user(rows, ours, OURS.name), per_user(rows, ours, ONE_CORE.name)
        others = {name: value for name in packages if (value := per_user(rows, theirs, name)) is not None}
        if mine is None or not others:
            bars.append(_bar(text, f"≥ {needed:,}×", None, None, "nobody to compare with"))
            continue
        nearest = min(others, key=lambda name: others[name])
        reached = others[nearest] / mine
        note = f"nearest: {nearest}" + (f"; one core {_times_text(others[nearest] / alone)}" if alone else "")
        bars.append(_bar(text, f"≥ {needed:,}×", reached >= needed, _times_text(reached), note))
    return bars


def _times_text(value: float) -> str:
    return f"{value:,.0f}×" if value >= 20 else f"{value:.1f}×"


def _cold(rows: list[Row]) -> list[Row]:
    times = {row["package"]: row for row in rows if "first_report" in row}
    if OURS.name not in times:
        return [_bar("cold start to first report", f"≥ {COLD_START}×", None, None, "did not run")]
    bars = []
    for name, row in times.items():
        if name not in (OURS.name, "Python alone"):
            reached, whole, processor = (row[key] / times[OURS.name][key] for key in ("first_report", "whole_process", "processor"))
            note = f"whole process {whole:.1f}×, its processor time {processor:.1f}×"
            text = f"cold start to first report, against {name}"
            bars.append(_bar(text, f"≥ {COLD_START}×", reached >= COLD_START, f"{reached:.1f}×", note))
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
