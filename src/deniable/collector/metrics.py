"""What is measured: requests by status and time, refusals by reason, commits, connections; summed over the workers of a machine."""

from __future__ import annotations

import json
import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

SHARED = "DENIABLE_METRICS"
"""Set for worker processes: the folder in which each of them writes down what it measured."""
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
REASONS = {
    400: "malformed",
    401: "no token",
    403: "wrong token",
    404: "unknown",
    408: "late",
    410: "closed",
    413: "too large",
    415: "wrong type",
    429: "too many",
    503: "busy",
}
KINDS = {
    "deniable_requests_total": ("counter", "Requests that were answered, by status."),
    "deniable_refused_total": ("counter", "Requests that were refused, by reason."),
    "deniable_request_seconds": ("histogram", "From a request's head to its answer."),
    "deniable_reports_accepted_total": ("counter", "Reports that were counted."),
    "deniable_reports_known_total": ("counter", "Reports that had been counted before."),
    "deniable_transactions_total": ("counter", "Group commits."),
    "deniable_transaction_failures_total": ("counter", "Transactions that had to be tried again."),
    "deniable_transaction_seconds": ("histogram", "Time spent in a group commit."),
    "deniable_shed_total": ("counter", "Submissions that were told to come back because others had waited too long."),
    "deniable_waiting": ("gauge", "Requests that wait for a group commit."),
    "deniable_connections": ("gauge", "Open connections."),
    "deniable_connections_dropped_total": ("counter", "Connections closed because their client was slow, by reason."),
    "deniable_survey_reports": ("gauge", "Reports of a survey that are public."),
    "deniable_survey_reports_stored": ("gauge", "Reports of a survey in the database."),
    "deniable_surveys": ("gauge", "Surveys, open or not."),
}


class Histogram:
    """How many took how long."""

    def __init__(self) -> None:
        self._counts = [0] * (len(SECONDS) + 1)
        self._sum = 0.0

    def add(self, seconds: float) -> None:
        """One more."""
        self._counts[bisect_left(SECONDS, seconds)] += 1
        self._sum += seconds

    def samples(self, name: str) -> dict[str, float]:
        """As Prometheus writes them: every bucket holds those below it."""
        total, samples = 0, {}
        for bound, count in zip([*map(str, SECONDS), "+Inf"], self._counts, strict=True):
            total += count
            samples[f'{name}_bucket{{le="{bound}"}}'] = float(total)
        return {**samples, f"{name}_sum": round(self._sum, 6), f"{name}_count": float(total)}


class Requests:
    """The requests of this worker."""

    def __init__(self) -> None:
        self._statuses: Counter[int] = Counter()
        self._seconds = Histogram()

    def answered(self, status: int, seconds: float) -> None:
        """One more."""
        self._statuses[status] += 1
        self._seconds.add(seconds)

    def samples(self) -> dict[str, float]:
        """All of them."""
        statuses = sorted(self._statuses.items())
        counts = {f'deniable_requests_total{{status="{status}"}}': float(n) for status, n in statuses}
        refused = {f'deniable_refused_total{{reason="{REASONS[status]}"}}': float(n) for status, n in statuses if status in REASONS}
        return {**counts, **refused, **self._seconds.samples("deniable_request_seconds")}


def write_down(counters: Mapping[str, float], gauges: Mapping[str, float]) -> None:
    """Let the other workers of this machine know; nothing to do when there are none."""
    folder = os.environ.get(SHARED)
    if folder:
        path = Path(folder) / f"{os.getpid()}.json"
        part = path.with_suffix(".part")
        # A full or tidied-up /tmp must not end the task that writes: the next second may be better.
        with suppress(OSError):
            part.write_text(json.dumps({"counters": counters, "gauges": gauges}), encoding="ascii")
            part.replace(path)


def together(counters: Mapping[str, float], gauges: Mapping[str, float]) -> dict[str, float]:
    """This worker's numbers and those that the others wrote down. What a worker that died had counted stays counted."""
    sums = Counter({**counters, **gauges})
    folder = os.environ.get(SHARED)
    for path in sorted(Path(folder).glob("*.json")) if folder else ():
        if path.stem != str(os.getpid()):
            said: dict[str, Any] = json.loads(path.read_text(encoding="ascii"))
            sums.update(said["counters"])
            sums.update(said["gauges"] if _runs(int(path.stem)) else {})
    return dict(sums)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


def rendered(samples: Mapping[str, float]) -> str:
    """Prometheus text: every family once, with its help and type."""
    families: dict[str, list[str]] = {}
    for name, value in samples.items():
        base = name.partition("{")[0]
        family = next((base.removesuffix(end) for end in ("_bucket", "_sum", "_count") if base.removesuffix(end) in KINDS), base)
        families.setdefault(family, []).append(f"{name} {value:.15g}")
    return "\n".join(line for family in sorted(families) for line in _family(family, families[family])) + "\n"


def _family(name: str, lines: list[str]) -> Iterable[str]:
    kind, words = KINDS[name]
    yield f"# HELP {name} {words}"
    yield f"# TYPE {name} {kind}"
    yield from lines if kind == "histogram" else sorted(lines)
