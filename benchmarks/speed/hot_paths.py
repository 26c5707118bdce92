"""The paths that must stay fast, each beside something that this project cannot slow down.

Pieces of work are small, so that each is over within one time slice of a busy machine, and below the 131,072 reports
at which a second thread begins: both sides run on one core.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from speed.environments import PLACE
from speed.growth import counting, fold, numeric_values

import deniable
from deniable.batch import Reports, randomize_many
from deniable.core import Categories, Disc, Interval, Rectangle, make_mechanism
from deniable.estimators import mean, shares, support_counts

Work = Callable[[], Any]
REPORTS = 50_000
FEW = 500


@dataclass(frozen=True)
class HotPath:
    """A piece of our work, and the reference that it is divided by."""

    name: str
    reference: str
    ours: Work
    theirs: Work
    repeats: int = 40

    def slowed(self, times: int) -> HotPath:
        """The same, done several times over: what a planted fault looks like."""

        def again() -> None:
            for _ in range(times):
                self.ours()

        return HotPath(self.name, self.reference, again, self.theirs, self.repeats)


def hot_paths() -> list[HotPath]:
    """All of them, ready to run."""
    generator, doubles = np.random.Generator(np.random.PCG64(0)), np.empty(REPORTS)
    pcg = partial(generator.random, out=doubles)
    source, target = np.zeros(1 << 20, np.uint8), np.empty(1 << 20, np.uint8)
    reals = numeric_values(REPORTS)
    paths = []

    def categorical(name: str, k: int) -> Any:
        return make_mechanism(name, domain=deniable.Categories(k), epsilon=1)

    def wholes(k: int, count: int = REPORTS) -> Any:
        return np.resize(np.arange(k), count)

    for name, k, count in (("k-rr", 100, REPORTS), ("k-rr", 10_000, REPORTS), ("olh", 1000, REPORTS), ("hadamard", 1000, REPORTS)):
        work = partial(randomize_many, categorical(name, k), wholes(k, count))
        paths.append(HotPath(f"privatise {name}, k={k:,}", "PCG64 doubles", work, pcg))
    for name in ("oue", "sue"):
        work = partial(randomize_many, categorical(name, 1000), wholes(1000, 1000))
        paths.append(HotPath(f"privatise {name}, k=1,000", "PCG64 doubles", work, pcg))
    for name in ("window", "pm", "sw", "laplace", "circular-window"):
        work = partial(randomize_many, make_mechanism(name, epsilon=1), reals)
        paths.append(HotPath(f"privatise {name}", "PCG64 doubles", work, pcg))
    paths += places_paths(pcg)
    paths += few_reports()
    for name in ("sw", "pm"):
        work = partial(mean, randomize_many(make_mechanism(name, epsilon=1), reals))
        paths.append(HotPath(f"{name} reports to a mean", "PCG64 doubles", work, pcg))

    few = randomize_many(categorical("k-rr", 100), wholes(100))
    paths.append(HotPath("fold k-rr, k=100", "bincount", partial(fold, few), counting(few)))
    unary = randomize_many(categorical("oue", 1000), wholes(1000, 1000))
    paths.append(HotPath("fold oue, k=1,000", "memcpy", partial(fold, unary), partial(np.copyto, target, source)))
    hashed = randomize_many(categorical("olh", 1000), wholes(1000, 1000))
    paths.append(HotPath("fold olh, k=1,000", "PCG64 doubles", partial(fold, hashed), pcg))
    sums = fold(randomize_many(categorical("hadamard", 1 << 14), wholes(1 << 14)))
    paths.append(HotPath("decode hadamard, k=16,384", "PCG64 doubles", partial(support_counts, sums), pcg))
    data = few.to_bytes()
    paths.append(
        HotPath("read k-rr reports", "memcpy", partial(Reports.from_bytes, few.mechanism, data), partial(np.copyto, target, source))
    )

    one = categorical("k-rr", 100)
    paths.append(HotPath("one report at a time", "Python loop", partial(one_by_one, one), python_loop))
    first = partial(
        fresh_process, "import deniable\ndeniable.KaryRandomizedResponse(domain=deniable.Categories(100), epsilon=1).randomize(3)"
    )
    bare = partial(fresh_process, "import fractions, json")
    paths.append(HotPath("first report of a fresh process", "standard library imports", first, bare, 8))
    return paths


def places_paths(pcg: Work) -> list[HotPath]:
    """Places to reports."""
    places = np.stack([numeric_values(REPORTS // 5), numeric_values(REPORTS)[::5]], axis=1)
    square = Rectangle(Interval(0, 1, cells=1024), Interval(0, 1, cells=1024))
    kinds = (("tracs-c", square, places), ("tracs-d", square, places), ("nearest-cells", Disc(), places - 0.5))
    works = [(name, partial(randomize_many, make_mechanism(name, domain=domain, epsilon=1), some)) for name, domain, some in kinds]
    return [HotPath(f"privatise {name}", "PCG64 doubles", work, pcg) for name, work in works]


def few_reports() -> list[HotPath]:
    """Batches of 500: what a call costs whatever it does."""
    works: dict[str, Work] = {}
    for name, k in (("k-rr", 100), ("oue", 1000), ("olh", 1000), ("hadamard", 1000)):
        mechanism, values = make_mechanism(name, domain=Categories(k), epsilon=1), np.resize(np.arange(k), FEW)
        works[f"privatise {name}, {FEW} values"] = partial(randomize_many, mechanism, values)
        works[f"shares of {FEW} {name} reports"] = partial(shares, randomize_many(mechanism, values))
    for name in ("sw", "pm"):
        mechanism, numbers = make_mechanism(name, epsilon=1), numeric_values(FEW)
        works[f"privatise {name}, {FEW} values"] = partial(randomize_many, mechanism, numbers)
        works[f"mean of {FEW} {name} reports"] = partial(mean, randomize_many(mechanism, numbers))
    return [HotPath(name, "Python loop", work, python_loop) for name, work in works.items()]


def one_by_one(mechanism: Any) -> None:
    """What a phone does, two hundred times."""
    for value in range(200):
        mechanism.randomize(value % 100)


def python_loop() -> int:
    """The interpreter's own speed."""
    total = 0
    for number in range(10_000):
        total += number * number % 7
    return total


def fresh_process(code: str) -> None:
    """A Python that has to import everything, from kept bytecode."""
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")}
    clean["PYTHONPYCACHEPREFIX"] = str(PLACE / "bytecode")
    subprocess.run([sys.executable, "-c", code], check=True, env=clean)
