"""Everything that was reproduced, on one page that needs no network: pictures, numbers side by side, verdicts."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deniable_reproduce import summary
from deniable_reproduce.artifact import Run
from deniable_reproduce.run import Done, Skipped, versions
from deniable_reproduce.verdict import CONFIRMED, CORRECTED, IMPROVED, OPEN, STANDINGS, Verdict

KINDS = {
    "figure": "Figures",
    "table": "Tables",
    "example": "Examples",
    "poster": "Poster",
    "lecture": "Lecture",
    "beyond": "Beyond",
}
SAME = "for the reason above"
LOOKS = {CONFIRMED: "reproduced", CORRECTED: "explained", IMPROVED: "reproduced", OPEN: "unexplained"}
HEADINGS = {
    CONFIRMED: "Confirmed",
    CORRECTED: "Corrected: ours differs, and why",
    IMPROVED: "Improved: what no source states",
    OPEN: "Open: the cause is not known, or there was nothing to compare",
}
STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #fff; --soft: #666; --line: #ddd; --card: #f7f7f7;
  --good: #006a4e; --known: #7a4b00; --bad: #b00020; --link: #0060a0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --paper: #151515; --soft: #a5a5a5; --line: #3a3a3a; --card: #1f1f1f;
  --good: #4fd1a5; --known: #f0b45a; --bad: #ff7b8a; --link: #7cc4ff; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 70rem; margin: 0 auto; padding: 1rem; }
h1 { margin-bottom: 0; } h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); } h3 { margin-bottom: .2rem; }
a { color: var(--link); } .soft { color: var(--soft); } code { font-size: .92em; }
table { border-collapse: collapse; margin: .6rem 0; font-size: .93rem; } th, td { text-align: left; padding: .25rem .7rem .25rem 0;
  vertical-align: top; border-bottom: 1px solid var(--line); }
th.n, td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.picture { background: #fff; border: 1px solid var(--line); border-radius: 6px; padding: .4rem; margin: .6rem 0; overflow-x: auto; }
.picture svg { max-width: 100%; height: auto; display: block; }
.counts { display: flex; flex-wrap: wrap; gap: .7rem; padding: 0; list-style: none; }
.counts li { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .5rem 1rem; }
.counts b { display: block; font-size: 1.5rem; } .reproduced { color: var(--good); } .explained { color: var(--known); }
.unexplained { color: var(--bad); font-weight: 600; } .wide { overflow-x: auto; }
.proof { font-size: .88rem; margin-top: .25rem; padding-left: .6rem; border-left: 2px solid var(--line); }
.proof b { font-weight: 600; font-variant-numeric: tabular-nums; } summary { cursor: pointer; color: var(--link); }
"""


def build(outcomes: Sequence[Done | Skipped], run: Run, target: Path, command: str) -> Path:
    """Write the page."""
    done = [one for one in outcomes if isinstance(one, Done)]
    skipped = [one for one in outcomes if isinstance(one, Skipped)]
    parts = [
        "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' content='width=device-width,initial-scale=1'>",
        f"<title>deniable: reproduced</title><style>{STYLE}</style>",
        "<h1>Reproduced</h1>",
        "<p class='soft'>Every table, figure and numbered example of the sources, ours beside the published.</p>",
        _counts(done, skipped),
        _settings(run, command),
        _chapters(done, skipped),
        _index(done),
        *(_section(one) for one in done),
        _skipped(skipped),
        "</html>",
    ]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n".join(parts), encoding="utf-8")
    return target


def _counts(done: Sequence[Done], skipped: Sequence[Skipped]) -> str:
    numbers: dict[str, tuple[str, int]] = {"artifacts": ("", len(done))}
    numbers |= {standing: (LOOKS[standing], count) for standing, count in summary.totals(done).items()}
    numbers |= {
        "differ without explanation": ("unexplained", sum(one.unexplained for one in done)),
        "reasons that contradict their numbers": ("unexplained", sum(len(one.contradictions) for one in done)),
        "skipped": ("", len(skipped)),
    }
    cells = "".join(f"<li><b class='{look}'>{count}</b>{name}</li>" for name, (look, count) in numbers.items())
    return f"<ul class='counts'>{cells}</ul>"


def _chapters(done: Sequence[Done], skipped: Sequence[Skipped]) -> str:
    """What each chapter's reader wants to know first."""
    table_rows = []
    for row in summary.rows(done, skipped):
        again = {
            standing: f"<br><span class='soft'>{count} as released</span>" if count else ""
            for standing, count in row.as_released.items()
        }
        counts = "".join(
            f"<td class='n {LOOKS[standing]}'>{row.counts[standing] or ''}{again[standing]}</td>" for standing in STANDINGS
        )
        title, sentence = html.escape(row.chapter.title), html.escape(row.sentence)
        table_rows.append(f"<tr><td><b>{title}</b><br>{sentence}</td>{counts}</tr>")
    head = "<tr><th>chapter" + "".join(f"<th class=n>{standing}" for standing in STANDINGS) + "</tr>"
    return f"<h2>By chapter</h2><div class='wide'><table>{head}{''.join(table_rows)}</table></div>"


def _settings(run: Run, command: str) -> str:
    packages = ", ".join(f"{name} {version}" for name, version in versions().items())
    size = "full (the sources' own number of repetitions)" if run.full else "quick (fewer repetitions, stated with each artifact)"
    return (
        f"<p>Made by <code>{html.escape(command)}</code>. Size: {size}. Recorded randomness: "
        f"<code>{html.escape(run.randomness)}</code>: the same words give the same numbers. Versions: {html.escape(packages)}.</p>"
    )


def _index(done: Sequence[Done]) -> str:
    rows = []
    for one in done:
        name = one.artifact.name
        counts = "".join(f"<td class='n {LOOKS[standing]}'>{one.count(standing) or ''}</td>" for standing in STANDINGS)
        rows.append(
            f"<tr><td><a href='#{name}'>{name}</a></td><td>{html.escape(one.artifact.title)}</td>{counts}"
            f"<td class='n soft'>{one.seconds:.1f} s</td></tr>"
        )
    head = "<tr><th>artifact<th>what" + "".join(f"<th class=n>{standing}" for standing in STANDINGS) + "<th class=n>time</tr>"
    return f"<h2>Index</h2><div class='wide'><table>{head}{''.join(rows)}</table></div>"


def _section(one: Done) -> str:
    artifact = one.artifact
    kind = KINDS.get(artifact.name.partition("-")[0], "")
    parts = [
        f"<h2 id='{artifact.name}'>{html.escape(artifact.name)}: {html.escape(artifact.title)}</h2>",
        f"<p class='soft'>{html.escape(artifact.source)}. <code>deniable reproduce {artifact.name}</code>"
        f"{' — ' + kind if kind == 'Beyond' else ''}</p>",
    ]
    if artifact.note:
        parts.append(f"<p>{html.escape(artifact.note)}</p>")
    for place, (name, path) in enumerate(one.pictures.items()):
        label = html.escape(f"{artifact.title}{': ' + name if len(one.pictures) > 1 else ''}", quote=True)
        parts.append(f"<div class='picture' role='img' aria-label='{label}'>{_own_names(path, f'{artifact.name}-{place}')}</div>")
    if artifact.table is not None:
        parts.append(_rows(artifact.table(one.result)))
    for standing in STANDINGS:
        some = [verdict for verdict in one.verdicts if verdict.standing == standing]
        if some:
            parts.append(f"<h3 class='{LOOKS[standing]}'>{HEADINGS[standing]} ({len(some)})</h3>" + _verdicts(some))
    return "\n".join(parts)


def _own_names(path: Path, prefix: str) -> str:
    """A picture's SVG with names of its own: two pictures on one page must not share clip paths."""
    picture = path.read_text(encoding="utf-8")
    mark = re.sub(r"[^A-Za-z0-9]", "_", prefix)
    picture = re.sub(r'\bid="([^"]+)"', rf'id="{mark}_\1"', picture)
    picture = re.sub(r"url\(#([^)]+)\)", rf"url(#{mark}_\1)", picture)
    return re.sub(r'href="#([^"]+)"', rf'href="#{mark}_\1"', picture)


def _rows(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return ""
    columns = list(rows[0])
    head = "".join(f"<th>{html.escape(str(column))}</th>" for column in columns)
    body = "".join("<tr>" + "".join(_cell(row.get(column, "")) for column in columns) + "</tr>" for row in rows)
    return f"<div class='wide'><table><tr>{head}</tr>{body}</table></div>"


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return f"<td>{'yes' if value else 'no'}</td>"
    if isinstance(value, int | float):
        return f"<td class='n'>{shown(float(value))}</td>"
    return f"<td>{html.escape(str(value))}</td>"


def _verdicts(verdicts: Sequence[Verdict]) -> str:
    rows = []
    reasons: set[str] = set()
    settings: set[str] = set()
    for verdict in verdicts:
        published, ours, allowed = pair(verdict)
        look = LOOKS[verdict.standing]
        what = html.escape(str(verdict.published)) if isinstance(verdict.published, str) else html.escape(verdict.name)
        told = "" if not verdict.why else SAME if verdict.why in reasons else html.escape(verdict.why)
        why = (f"<br><span class='soft'>{told}</span>" if told else "") + _proof(verdict, settings)
        reasons.add(verdict.why)
        rows.append(
            f"<tr><td>{what}{why}</td><td class='soft'>{html.escape(verdict.where)}</td><td class='n'>{published}</td>"
            f"<td class='n'>{ours}</td><td class='n'>{allowed}</td><td class='{look}'>{verdict.verdict}</td></tr>"
        )
    head = "<tr><th>number or claim<th>where<th class=n>published<th class=n>ours<th class=n>tolerance<th>verdict</tr>"
    return f"<div class='wide'><table>{head}{''.join(rows)}</table></div>"


def _proof(verdict: Verdict, settings: set[str]) -> str:
    """What shows the reason: the other readings of a number, and other numbers of the same run."""
    parts = []
    finding = verdict.finding_after(settings)
    if finding:
        ordered = sorted(verdict.variants.items(), key=lambda item: item[1])
        listed = "; ".join(f"{html.escape(label)} <b>{shown(value, 4)}</b>" for label, value in ordered)
        many = f"<details><summary>all {len(ordered)} readings</summary>{listed}</details>" if len(ordered) > 1 else ""
        parts.append(f"<div class='proof'>{html.escape(finding)}{many}</div>")
    if verdict.evidence:
        listed = "; ".join(f"{html.escape(label)} <b>{shown(value, 4)}</b>" for label, value in verdict.evidence.items())
        parts.append(f"<div class='proof'>Computed here: {listed}.</div>")
    return "".join(parts)


def pair(verdict: Verdict) -> tuple[str, str, str]:
    """Published, ours and tolerance as texts of about the same length; a claim has none of them but yes or no."""
    if isinstance(verdict.published, str):
        return "", "—" if verdict.ours is None else "holds" if verdict.ours else "does not hold", ""
    tolerance = verdict.tolerance
    if verdict.ours is None:
        return shown(verdict.published), "—", shown(tolerance) if tolerance else "exact"
    digits = min(max(1 - math.floor(math.log10(tolerance)), 0), 8) if tolerance > 0 else None
    ours = float(verdict.ours)
    near = digits is None or abs(ours) >= 1e6 or (ours != 0 and abs(ours) < 10.0**-digits)
    return shown(verdict.published), shown(ours) if near else f"{ours:.{digits}f}", shown(tolerance) if tolerance else "exact"


def shown(value: float, digits: int = 6) -> str:
    """A number for people."""
    return f"{value:.{digits}g}" if math.isfinite(value) else "∞" if value > 0 else str(value)


def _skipped(skipped: Sequence[Skipped]) -> str:
    if not skipped:
        return ""
    rows = "".join(f"<tr><td>{html.escape(one.name)}</td><td>{html.escape(one.why)}</td></tr>" for one in skipped)
    return f"<h2>Skipped</h2><div class='wide'><table><tr><th>artifact<th>why</tr>{rows}</table></div>"
