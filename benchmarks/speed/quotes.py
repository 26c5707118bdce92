"""The rows of times in the README's comparison: ours by the median run, peers at their best, the lower end of every ratio."""

from __future__ import annotations

from typing import Any

from speed.environments import OTHERS, OURS
from speed.runs import ratios, start_ratios

Found = dict[str, Any]
REPORT, HASHED, ESTIMATE = "privatise k-RR, k=100", "privatise OLH, k=1,000", "aggregate OLH, k=1,000"
QUOTED = (REPORT, HASHED, ESTIMATE)
README_SECTIONS = ("cold", "privatise", "aggregate")
ROWS = {
    "one k-RR report of 100 values": REPORT,
    "one OLH report of 1,000 values": HASHED,
    "one OLH report, to the estimate": ESTIMATE,
}
COLD = "import to the first report"


def with_quotes(readme: str, found: Found) -> str:
    """The README with these rows from this measurement; everything else as it was."""
    lines = readme.splitlines()
    for label in (*ROWS, COLD):
        places = [number for number, line in enumerate(lines) if line.startswith(f"| {label} |")]
        if len(places) != 1:
            raise ValueError(f"README.md has no row, or several, that begin with {label!r}")
        lines[places[0]] = quoted(label, found)
    return "\n".join(lines) + "\n"


def quoted(label: str, found: Found) -> str:
    """One row of the table."""
    cells = _cold_cells(found) if label == COLD else _cells(ROWS[label], found)
    return "| " + " | ".join([label, *cells, "`make bench`"]) + " |"


def _cells(task: str, found: Found) -> list[str]:
    runs = found[f"{task.partition(' ')[0]}_runs"][task]
    row = next(row for row in found[task.partition(" ")[0]] if row["task"] == task)
    cells = [_time(row["packages"][OURS.name]["per_user"])]
    for peer in OTHERS:
        entry = row["packages"].get(peer.name, {"not_offered": True})
        reached = ratios(runs, runs, (peer.name,))
        if "per_user" in entry and reached is not None:
            cells.append(_beside(entry["per_user"], reached[0][0]))
        else:
            cells.append("not offered" if entry.get("not_offered") else "not measured")
    return cells


def _cold_cells(found: Found) -> list[str]:
    times = {row["package"]: row.get("first_report") for row in found["cold"]}
    mine = times.get(OURS.name)
    cells = ["not measured" if mine is None else _time(mine)]
    for peer in OTHERS:
        # A package that is quicker without numpy is shown that way.
        names = [name for name in times if name.startswith(peer.name) and times[name] is not None]
        spans = {name: span for name in names if (span := start_ratios(found["cold_runs"], name)) is not None}
        if spans:
            nearest = min(spans, key=lambda name: spans[name][0])
            cells.append(_beside(times[nearest], spans[nearest][0]))
        else:
            cells.append("not measured")
    return cells


def _beside(seconds: float, ratio: float) -> str:
    return f"{_time(seconds)}, {ratio:,.0f}×" if ratio >= 20 else f"{_time(seconds)}, {ratio:.1f}×"


def _time(seconds: float) -> str:
    """Two digits, in the unit that fits.

    >>> _time(2.9e-9), _time(1.38e-4), _time(0.032), _time(2.51)
    ('2.9 ns', '138 µs', '32 ms', '2.5 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if seconds >= size or unit == "ns":
            value = seconds / size
            return f"{value:,.0f} {unit}" if value >= 20 else f"{value:.1f} {unit}"
    raise AssertionError("the last unit takes everything")
