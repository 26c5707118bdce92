"""`deniable demo`: public data, perturbed locally, and what a collector learns from it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.demo_charts import drawing
from deniable.cli.demo_collector import DEVICES, Collected, collect, demo_survey, running_collector
from deniable.cli.demo_questions import EPSILON, Finding, carriers, compile_kernels, delays, departures, wind
from deniable.cli.terminal import console, counted, print_json, table

if TYPE_CHECKING:
    from deniable.cli.flights import Flights

STEPS = 7


@click.command(short_help="Perturb public data locally and compare estimates with the truth.")
@click.option("--output", "-o", default="output", show_default=True, metavar="DIRECTORY", help="Where the charts go.")
@click.option("--devices", default=DEVICES, show_default=True, type=click.IntRange(1), help="Devices that answer the survey.")
@click.option("--serve", "stay", is_flag=True, help="Leave the collector running at the end, with its dashboard, until Ctrl-C.")
@click.option("--headless", is_flag=True, hidden=True, help="The default since 0.3; accepted for older scripts.")
@click.option("--compile", "only_compile", is_flag=True, hidden=True, help="Compile what the demo needs, and end.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and end.")
def demo(output: str, devices: int, stay: bool, headless: bool, only_compile: bool, as_json: bool) -> None:
    """Perturb 336,776 flights one by one and compare estimates with the truth; then collect a survey from 100,000 devices.

    The collector runs on this machine, on SQLite. It stops at the end, unless you ask for its dashboard with --serve. The
    first run also compiles the numerical code, which takes about half a minute.
    Needs an extra: pip install 'deniable[demo]'.

    \b
    deniable demo
    deniable demo --serve
    """
    from deniable.cli.flights import airline_names, flights

    names = sorted(airline_names())  # says what to install, before anything begins
    if only_compile:
        click.echo("compiling the numerical code, once: about half a minute", err=True)
        compile_kernels(flights())
        return
    say = _steps()
    say("starting a collector, and reading the flights of a year")
    out = console()
    with running_collector(Path(output), demo_survey(names)) as collector, drawing(Path(output)) as draw:
        data = flights()
        asked: dict[str, Callable[[Flights], Finding]] = {"airlines": carriers, "delays": delays, "departures": departures}
        findings = []
        for what, ask in asked.items():
            say(f"{what}: perturbing every flight and estimating")
            findings.append(draw(ask(data)))
        say("wind directions: the same")
        findings.append(draw(wind()))
        if not as_json:
            _show(findings, out)
        say(f"{counted(devices, 'device')} answer a survey of the collector over HTTP")
        collected = collect(collector.serving(), data, devices)
        if not as_json:
            _show_collected(collected, out)
        say(f"finishing the charts in {output}")
        charts = draw.finished()
        if as_json:
            facts = {"epsilon": EPSILON, "findings": [finding.document() for finding in findings], "charts": charts}
            print_json({**facts, "collector": collected.document()})
            return
        out.print("Charts: " + ", ".join(charts), soft_wrap=True)
        if stay:
            out.print(f"Dashboard: {collected.address}/ (answer the survey there yourself; stop with Ctrl-C)", soft_wrap=True)
            with suppress(KeyboardInterrupt):
                threading.Event().wait()
            return
    out.print("The collector has stopped. To look at its dashboard: deniable demo --serve")


def _steps() -> Callable[[str], None]:
    """One line for each step, with the seconds so far, on standard error."""
    began, number = time.monotonic(), 0

    def say(what: str) -> None:
        nonlocal number
        number += 1
        click.echo(f"[{number}/{STEPS}] {time.monotonic() - began:4.1f} s  {what}", err=True)

    return say


def _show(findings: list[Finding], out: Any) -> None:
    for finding in findings:
        made = f"{finding.reports:,} reports by {finding.mechanism.name} at epsilon {EPSILON}"
        _print_rows(out, f"{finding.question} ({finding.unit}): {made}", finding.rows)
        if finding.bins:
            inside = sum(bin_["inside"] for bin_ in finding.bins)
            out.print(
                f"  and the whole distribution: {inside} of {len(finding.bins)} bins have 95 % intervals that contain the truth "
                f"(about {0.95 * len(finding.bins):.0f} or more are expected: each misses in 5 of 100 such surveys)\n",
                soft_wrap=True,
            )
    proof = table("mechanism", "holds", "why", title="Certificates")
    for finding in findings:
        certificate = finding.mechanism.certificate()
        proof.add_row(certificate.mechanism, "yes" if certificate.holds else "NO", certificate.inequality)
    out.print(proof)


def _show_collected(collected: Collected, out: Any) -> None:
    title = f"A survey, collected over HTTP: {collected.devices:,} devices, epsilon 2 for a whole answer"
    _print_rows(out, title, collected.rows)
    rate = collected.devices / collected.seconds
    out.print(f"  every device answered one question, picked at random; {rate:,.0f} reports a second, each counted exactly once")
    out.print(f"  certificate: {collected.certificate['inequality']}", soft_wrap=True)


def _print_rows(out: Any, title: str, findings: list[dict[str, Any]]) -> None:
    """Ends, not a half-width: near 0 an interval is not symmetric around its estimate."""
    numbers = ("estimate", "95 % from", "to", "truth", "error")
    rows = table("", *numbers, "inside", numbers=numbers)
    for row in findings:
        cells = [f"{row[name]:.2f}" for name in ("estimate", "low", "high", "truth")]
        rows.add_row(row["name"], *cells, f"{row['estimate'] - row['truth']:+.2f}", "yes" if row["inside"] else "no")
    out.print(title, style="bold", soft_wrap=True)
    out.print(rows)
