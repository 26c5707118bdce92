"""benchmarks/RESULTS.md from what was found."""

from __future__ import annotations

from typing import Any

from speed.environments import NAIVE, ONE_CORE, OTHERS, OURS
from speed.tasks import EPSILON

Row = dict[str, Any]
BEGIN, END = "<!-- bars: written by benchmarks/run.py -->", "<!-- end of bars -->"
NAMES = [OURS.name, ONE_CORE.name, NAIVE.name, *(peer.name for peer in OTHERS)]


def page(found: Row) -> str:
    """The whole page."""
    facts = found["machine"]
    parts = [
        "# Speed against peers",
        f"Made by `{found['command']}`; epsilon = {EPSILON:g}. {facts['processor']}, {facts['cores']} cores, "
        f"{facts['memory_gb']:.0f} GB, {facts['system']}. {_disturbed(found['sections'], facts['cores'])}",
        "How it is measured, and what cannot be compared: [docs/speed.md](../docs/speed.md).",
        "## Bars",
        bars_table(found),
        "![Nanoseconds per user](results.svg)",
        "## Privatise: nanoseconds per user",
        "deniable uses two threads from 131,072 users on; the second column is the same on one core. Ours is the median of its "
        "turns in the middle run, a peer the fastest of its turns in all runs, with the number of users that suits it best. In "
        "brackets: that number, and how many times faster deniable is with as many users. A star: no turn was undisturbed.",
        _compared(found["privatise"]),
        "## Aggregate: nanoseconds per report",
        "From reports in memory to the estimates of all values. deniable's estimates come with their covariance; nobody else's do.",
        _compared(found["aggregate"]),
        "## From values to estimates, with the same number of users for everyone",
        _both(found["both"]),
        "## From a fresh process to the first report",
        "Milliseconds, k-RR with 100 values (diffprivlib: its Binary). Import, building the mechanism and one report; and the "
        "whole process, with Python's own start.",
        _cold(found["cold"]),
        "## Growth",
        _growth(found["growth"]),
        "## The machine's own limits, and ours beside them",
        _fractions(found["fractions"]),
        "## Are the estimates right?",
        "The same 400 users for everyone, 64 times: the estimate of one share (Laplace: of the mean; naive window mechanisms are "
        "not in this table), its standard error, and what the package's own collector makes of the same reports.",
        _checks(found["checks"]),
        "## When, and how busy the machine was",
        _sections(found["sections"]),
        "## Versions",
        _table(["who", "versions"], [[name, _versions(versions)] for name, versions in found["versions"].items()]),
    ]
    return "\n\n".join(parts) + "\n"


def bars_table(found: Row) -> str:
    """What was promised beside what was reached."""
    rows = [[row["bar"], row["required"], row["reached"], _met(row["met"]), row["note"]] for row in found["bars"]]
    return _table(["bar", "required", "reached", "met", "note"], rows)


def with_bars(document: str, found: Row) -> str:
    """A document whose table of bars, between two marks, is that of this run."""
    before, _, rest = document.partition(BEGIN)
    _, _, after = rest.partition(END)
    if not after:
        raise ValueError(f"the document has no place for the bars: it needs {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{bars_table(found)}\n{END}{after}"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def _disturbed(sections: Row, cores: int) -> str:
    busiest = max(row["load"] for row in sections.values())
    if busiest <= cores + 1:
        return f"The load average stayed below {busiest:.1f}."
    return f"**Other work ran on the machine (load average up to {busiest:.0f}): compare the columns, not the absolute times.**"


def _sections(sections: Row) -> str:
    body = [[name, row["date"], f"{row['seconds']:,.0f}", f"{row['load']:.1f}"] for name, row in sections.items()]
    return _table(["section", "date", "seconds", "load average"], body)


def _met(met: bool | None) -> str:
    return {True: "yes", False: "**no**", None: "–"}[met]


def _versions(versions: Row) -> str:
    return str(versions["failed"]) if "failed" in versions else ", ".join(f"{name} {version}" for name, version in versions.items())


def _nanoseconds(value: float) -> str:
    found = 1e9 * value
    return f"{found:,.0f}" if found >= 100 else f"{found:.1f}"


def _cell(entry: Row | None) -> str:
    if entry is None or entry.get("not_offered"):
        return "not offered"
    if "failed" in entry:
        return str(entry["failed"])
    text = _nanoseconds(entry["per_user"]) + ("" if entry.get("quiet", 1) else "*")
    if "ours_with_as_many" in entry:
        text += f" (n={entry['users']:,}; {entry['seconds'] / entry['ours_with_as_many']:,.0f}×)"
    return text


def _compared(rows: list[Row]) -> str:
    body = []
    for row in rows:
        users = row["packages"][OURS.name].get("users", 0)
        body.append([f"{row['label']} (n={users:,})", *(_cell(row["packages"].get(name)) for name in NAMES)])
    return _table(["", *NAMES], body)


def _both(rows: list[Row]) -> str:
    body = []
    for row in rows:
        for name, entry in row["packages"].items():
            case = f"{row['label']}, {row['users']:,} users"
            if "seconds" in entry:
                more = entry["peak_mb"] - entry["before_mb"]
                body.append([case, name, f"{entry['seconds']:.4g}", f"{entry['peak_mb']:,.0f}", f"{more:,.0f}"])
            else:
                body.append([case, name, _cell(entry), "", ""])
    return _table(["work", "package", "seconds", "peak memory, MB", "of it after import, MB"], body)


def _cold(rows: list[Row]) -> str:
    body = []
    for row in rows:
        if "failed" in row:
            body.append([row["package"], row["failed"], "", ""])
        else:
            body.append([row["package"], *(f"{1e3 * row[key]:,.0f}" for key in ("first_report", "whole_process", "processor"))])
    return _table(["package", "import to report", "whole process", "processor time"], body)


def _growth(found: Row) -> str:
    body = []
    for row in (*found["users"], *found["values"]):
        points = "; ".join(f"{size:,}: {1e3 * second:.3g}" for size, second in zip(row["sizes"], row["seconds"], strict=True))
        body.append([row["case"], f"{row['exponent']:.3f}", points])
    return _table(["work, on one core", "exponent", "size: milliseconds"], body)


def _fractions(rows: list[Row]) -> str:
    body = []
    for row in rows:
        if row["limit"] is None:
            body.append([row["case"], "", "", f"{row['per_second'] / 1e6:,.0f}", ""])
        else:
            mine = [f"{row['per_second'] / 1e6:,.0f}", f"{row['fraction']:.2f} of {row['limit']}"]
            body.append([row["case"], *mine, f"{row['per_second_one_core'] / 1e6:,.0f}", f"{row['fraction_one_core']:.2f}"])
    return _table(["work", "million/s", "fraction", "million/s on one core", "fraction on one core"], body)


def _checks(rows: list[Row]) -> str:
    body = []
    for row in rows:
        says = f"{row['package_says']:.3f}" if "package_says" in row else "no collector"
        body.append(
            [
                row["package"],
                row["label"],
                f"{row['truth']:.3f}",
                f"{row['estimate']:.3f} ± {row['standard_error']:.3f}",
                f"{row['errors_away']:+.1f}",
                says,
            ]
        )
    return _table(["package", "mechanism", "truth", "estimate", "standard errors away", "package itself"], body)
