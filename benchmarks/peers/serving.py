"""What a package is asked and how it answers: one JSON line in, one JSON line out. Standard library only.

    {"do": "privatise" | "aggregate" | "both", "mechanism": …, "n": …, "k": …, "epsilon": …}  ->  {"seconds": …, "others": …}
    {"do": "check", …, "repeats": …}    ->  what the package estimates, with its standard error, beside the truth
    {"do": "about"}                     ->  versions
    {"do": "memory"}                    ->  peak megabytes of this process, and how many there were before any work

A mechanism that a package does not have is answered with "not offered", an error with its last line. Values are
made, encoded in the package's own way, and reports for `aggregate` are drawn, before the clock starts.
"""

from __future__ import annotations

import importlib.metadata
import json
import math
import os
import pathlib
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any


class Offer:
    """One mechanism of one package: how it privatises many users, and how it reads their reports."""

    aggregates = True
    """Does the package itself read the reports of this mechanism?"""
    most: int | None = None
    """Refuse larger k: the package needs too long to get ready."""

    def __init__(self, k: int, epsilon: float) -> None:
        self.k, self.epsilon = k, epsilon

    def values(self, n: int) -> Any:
        """Half of the users have the first value, the others all values in turn, in the package's own form."""
        return [0 if i % 2 else i // 2 % self.k for i in range(n)]

    def truth(self, n: int) -> float:
        """The share of the first value."""
        return sum(1 for i in range(n) if i % 2 or i // 2 % self.k == 0) / n

    def privatise(self, values: Any) -> Any:
        """Every user's report."""
        raise NotImplementedError

    def aggregate(self, reports: Any) -> Sequence[float]:
        """The share of every value."""
        raise NotImplementedError

    def estimate(self, reports: Any) -> float:
        """What should be near the truth; by hand where the package does not aggregate."""
        return float(self.aggregate(reports)[0])


class Numeric(Offer):
    """Numbers between 0 and 1, and their mean."""

    def values(self, n: int) -> Any:
        """Evenly spread over [0, 0.6]."""
        return [0.6 * (i % 101) / 100 for i in range(n)]

    def truth(self, n: int) -> float:
        """The mean."""
        return statistics.fmean(0.6 * (i % 101) / 100 for i in range(n))

    def estimate(self, reports: Any) -> float:
        """The mean of unbiased reports."""
        return statistics.fmean(float(report) for report in reports)


def truth_probability(k: int, epsilon: float) -> float:
    """Of k-ary randomized response."""
    return math.exp(epsilon) / (math.exp(epsilon) + k - 1)


def kept_share(kept: float, k: int, epsilon: float) -> float:
    """The share of a value from the share of k-RR reports that say it."""
    p = truth_probability(k, epsilon)
    q = (1 - p) / (k - 1)
    return (kept - q) / (p - q)


def timed(work: Callable[[], Any]) -> dict[str, float]:
    """How long it takes by the clock, and how many cores other processes kept busy meanwhile (where the system tells)."""
    busy, own, begin = _busy(), time.process_time(), time.perf_counter()
    work()
    took = time.perf_counter() - begin
    own = time.process_time() - own
    return {"seconds": took, "others": max(0.0, _busy() - busy - own) / took if took > 0 else 0.0}


def _busy() -> float:
    """Seconds that all cores together have worked since the machine started; 0 where the system does not tell."""
    counters = pathlib.Path("/proc/stat")
    if not counters.exists():
        return 0.0
    user, nice, system, _idle, _waiting, *rest = (int(number) for number in counters.read_text().split("\n", 1)[0].split()[1:])
    return (user + nice + system + sum(rest[:2])) / os.sysconf("SC_CLK_TCK")


def checked(offer: Offer, values: Any, repeats: int) -> dict[str, Any]:
    """The mean of several estimates with its standard error, the truth, and what the package itself says."""
    drawn = [offer.privatise(values) for _ in range(repeats)]
    found = [offer.estimate(reports) for reports in drawn]
    answer = {
        "estimate": statistics.fmean(found),
        "standard_error": statistics.stdev(found) / math.sqrt(repeats),
        "truth": offer.truth(len(values) if not isinstance(values, bytes) else 8 * len(values)),
    }
    if offer.aggregates:
        answer["package_says"] = statistics.fmean(float(offer.aggregate(reports)[0]) for reports in drawn)
    return answer


class Service:
    """Answers questions about the mechanisms that a package offers."""

    def __init__(self, offers: dict[str, type[Offer]], packages: Sequence[str]) -> None:
        self.offers, self.packages = offers, packages
        self.ready: dict[tuple[Any, ...], Any] = {}
        self.before = _peak()

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Every error becomes an answer: one package's fault must not end the others' run."""
        if question["do"] == "about":
            return {"python": sys.version.split()[0], **{name: importlib.metadata.version(name) for name in self.packages}}
        if question["do"] == "memory":
            return {"before_mb": self.before, "peak_mb": _peak()}
        offer = self.offers.get(question["mechanism"])
        if offer is None or (question["do"] in ("aggregate", "both") and not offer.aggregates):
            return {"not_offered": True}
        if offer.most is not None and question["k"] > offer.most:
            return {"failed": f"would take minutes to get ready for k={question['k']:,}"}
        try:
            return self.measured(question["do"], offer, question)
        except Exception as error:
            return {"failed": f"{type(error).__name__}: {str(error).strip().splitlines()[-1:]}"}

    def measured(self, do: str, offer: type[Offer], question: dict[str, Any]) -> dict[str, Any]:
        """Seconds, or a check of the estimates."""
        n, k, epsilon = question["n"], question["k"], question["epsilon"]
        made = self.made(("offer", offer, k, epsilon), lambda: offer(k, epsilon))
        values = self.made(("values", offer, k, epsilon, n), lambda: made.values(n))
        if do == "check":
            return checked(made, values, question["repeats"])
        if do == "privatise":
            return timed(lambda: made.privatise(values))
        if do == "both":
            return timed(lambda: made.aggregate(made.privatise(values)))
        reports = self.made(("reports", offer, k, epsilon, n), lambda: made.privatise(values))
        return timed(lambda: made.aggregate(reports))

    def made(self, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """What an earlier question has made already; things for another mechanism or k are forgotten."""
        if any(other[1:4] != key[1:4] for other in self.ready):
            self.ready.clear()
        if key not in self.ready:
            if len(self.ready) > 20:
                self.ready.clear()
            self.ready[key] = make()
        return self.ready[key]


def _peak() -> float:
    """Megabytes. Linux's own counter begins anew with each program; that of getrusage holds the parent's memory too."""
    status = pathlib.Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def serve(offers: dict[str, type[Offer]], packages: Sequence[str]) -> None:
    """Answer until the questions end. What a package prints goes to the error stream."""
    if "--one-core" in sys.argv[1:] and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    service = Service(offers, packages)
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        print(json.dumps(service.answer(json.loads(line))), file=answers, flush=True)
