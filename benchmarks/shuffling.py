"""What shuffled reports promise: our bound, how long it takes, and the numbers of published accountants in the same run.

    python benchmarks/shuffling.py [--people 1000000] [--delta 1e-6] [--peer] [--json]

`any` is our bound for every mechanism of a level, `own` the one for k-ary randomized response, `attained` what that really
has for one data set: no bound can be smaller. Beside them

* `clones 2021`: the program of Feldman, McMillan and Talwar's "Hiding among the clones", from random-allocation 1.0.5 on PyPI
  (only with --peer, which installs that package into a temporary environment);
* `clones 2023`: the divergence of their "Stronger privacy amplification", summed here outcome by outcome, without our sums;
* `variation-ratio`: the numerical bound that Wang et al. (2024) publish for k-ary randomized response, summed the same way;
* `blanket by FFT`: the optimal decomposition of Su, Cheng and Wang (2025, arXiv 2504.07414), which is the blanket of Balle et al.
  (2019, lemma 5.3): E (sum of L)+ / n over the reports that look the same for everyone, by Fourier transform from the whole
  matrix of a small channel. Here and there rounding is not directed, so the last digits are neither above nor below for sure.

Seconds are the best of three runs.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

from deniable.core import Categories, make_mechanism
from deniable.privacy import _clone_numbers, attained_epsilon, shuffled_epsilon

CHANNELS = (("k-rr", 10), ("oue", 6), ("subset", 8), ("hadamard", 7))
SIZES, EPSILONS = (2, 10, 1000), (0.5, 1.0, 2.0, 4.0)
BLOCKS, PRECISION = 120, 1e-4
POINTS = 1 << 14
PEER = "random-allocation==1.0.5"
ASKED = (
    "import json, sys, time\n"
    "from random_allocation.external_sources.shuffle_external import numericalanalysis as bound\n"
    "n, delta, *levels = json.loads(sys.argv[1])\n"
    "found = []\n"
    "for level in levels:\n"
    "    begin = time.perf_counter()\n"
    "    found.append([bound(int(n), level, delta, 14, 50, True), time.perf_counter() - begin])\n"
    "print(json.dumps(found))\n"
)


def divergence(ratio: float, apart: float, neither: float, clone: float, people: int, epsilon: float) -> float:
    """sum of (P - e**epsilon Q)+ over the counts (a, b) that matter: plain, and by none of the library's sums.

    Of the others, C ~ Bin(people - 1, 2 clone) look like one of the two answers, A ~ Bin(C, 1/2) like the first. This
    person's report adds to the first count with probability ratio * apart, to the second with apart, to none with `neither`.
    """
    law = binom(people - 1, 2 * clone)
    low, high = int(law.ppf(1e-13)), int(law.isf(1e-13))
    marks = np.unique(np.linspace(low, high + 1, min(high + 1 - low, BLOCKS) + 1).astype(np.int64))
    total, factor = 0.0, math.exp(epsilon)
    for first, last in zip(marks[:-1].tolist(), (marks[1:] - 1).tolist(), strict=True):
        # Numbers of clones are taken together where there are many: the middle one stands for its neighbours.
        m = (first + last) // 2
        mass = float(law.cdf(last) - law.cdf(first - 1))
        a = counts(m)
        stay, more = binom.pmf(a, m, 0.5), binom.pmf(a - 1, m, 0.5)
        # Outcomes with m and m + 1 counts; those of m + 1 are told apart by a alone.
        yes, no = ratio * apart * more + apart * stay, apart * more + ratio * apart * stay
        total += mass * float(np.maximum(yes - factor * no, 0.0).sum())
    return total if neither == 0 else _with_neither(ratio, apart, neither, law, people, factor)


def counts(m: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """All numbers of heads among m coins that matter: nine deviations either way."""
    spread = 4.5 * math.sqrt(m) + 3
    return np.arange(max(0, math.floor(m / 2 - spread)), min(m + 1, math.ceil(m / 2 + spread)) + 1)


def _with_neither(ratio: float, apart: float, neither: float, law: Any, people: int, factor: float) -> float:
    """The same when this person may be neither: outcomes of m counts come from m clones, or from m - 1 and this person."""
    low, high = int(law.ppf(1e-13)), min(int(law.isf(1e-13)) + 1, people)
    marks = np.unique(np.linspace(low, high + 1, min(high + 1 - low, BLOCKS) + 1).astype(np.int64))
    total = 0.0
    for first, last in zip(marks[:-1].tolist(), (marks[1:] - 1).tolist(), strict=True):
        m = (first + last) // 2
        alone = float(law.cdf(last) - law.cdf(first - 1))
        joined = float(law.cdf(last - 1) - law.cdf(first - 2))
        a = counts(m)
        both = binom.pmf(a, m, 0.5)
        share = a / m if m else np.full(len(a), 0.5)
        yes = both * (neither * alone + 2 * apart * joined * (ratio * share + (1 - share)))
        no = both * (neither * alone + 2 * apart * joined * (ratio * (1 - share) + share))
        total += float(np.maximum(yes - factor * no, 0.0).sum())
    return total


def blanket_by_fft(matrix: np.ndarray[tuple[int, int], np.dtype[np.float64]], people: int, epsilon: float) -> float:
    """The largest blanket bound over all pairs of answers, from the characteristic function of a sum of `people` terms.

    A term is (P(y) - e**epsilon Q(y)) / w(y) with probability w(y), the least of all answers for y, and 0 for reports outside this
    blanket.
    """
    matrix = matrix[:, matrix.any(axis=0)]  # without outputs that never occur
    blanket = matrix.min(axis=0)
    gamma, worst = float(blanket.sum()), 0.0
    for one, other in ((0, 1), (1, 0)):  # these channels treat all pairs alike
        terms = (matrix[one] - math.exp(epsilon) * matrix[other]) / blanket
        mean = float(blanket @ terms)
        spread = math.sqrt(people * (float(blanket @ terms**2) - mean**2))
        width = 14 * spread
        steps = np.fft.fftfreq(POINTS, 1 / POINTS) * math.pi / width
        levels, where = np.unique(np.round(terms, 12), return_inverse=True)
        shares = np.bincount(where, blanket)
        phi = (1 - gamma) + np.exp(1j * np.outer(steps, levels)) @ shares
        law = np.fft.fft(np.exp(people * (np.log(phi) - 1j * steps * mean))).real / POINTS
        # Entry j stands for the place j * 2 width / POINTS beside the mean, counted around the circle.
        places = np.fft.fftfreq(POINTS, 1 / (2 * width)) + people * mean
        worst = max(worst, float(law @ np.maximum(places, 0.0)) / people)
    return worst


def channel_row(people: int, delta: float, level: float, name: str, k: int) -> dict[str, Any]:
    """Our bound for a channel beside the published optimum of all decompositions."""
    mechanism = make_mechanism(name, domain=Categories(k), epsilon=level)
    channel = mechanism.channel
    weights = [[channel.weight(x, y) for y in range(channel.outputs)] for x in range(channel.inputs)]
    matrix = np.array(weights, dtype=np.float64) / float(channel.total)
    ours, seconds = timed(lambda: shuffled_epsilon(mechanism, people, delta))
    published = crossing(lambda e: blanket_by_fft(matrix, people, e), ours, delta)
    row = {"mechanism": name, "k": k, "epsilon_each": level, "own": ours, "seconds": seconds, "blanket_by_fft": published}
    return {**row, "above": ours / published - 1}


def crossing(delta_at: Callable[[float], float], near: float, delta: float) -> float:
    """Where a falling delta passes the one asked for: between 0 and 2 * near, by halving, first close to `near`."""
    low, high = 0.98 * near, 1.01 * near
    if delta_at(low) <= delta or delta_at(high) > delta:
        low, high = 0.0, 2 * near
    while high - low > PRECISION * high:
        middle = (low + high) / 2
        low, high = (low, middle) if delta_at(middle) <= delta else (middle, high)
    return high


def timed(work: Callable[[], float], repeats: int = 3) -> tuple[float, float]:
    """A number and the least seconds it took; what earlier runs remembered is forgotten."""
    best, found = math.inf, 0.0
    for _ in range(repeats):
        _clone_numbers.cache_clear()
        begin = time.perf_counter()
        found = work()
        best = min(best, time.perf_counter() - begin)
    return found, best


def peer(people: int, delta: float) -> list[list[float]]:
    """The bound and seconds of the peer's program, for every level."""
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        python = str(Path(place) / "bin" / "python")
        subprocess.run([python, "-m", "pip", "install", "-q", PEER, "pandas"], check=True)
        asked = json.dumps([people, delta, *EPSILONS])
        answer = subprocess.run([python, "-c", ASKED, asked], check=True, capture_output=True, text=True)
    found: list[list[float]] = json.loads(answer.stdout.splitlines()[-1])
    return found


def level_row(people: int, delta: float, level: float) -> dict[str, Any]:
    """The bound for any mechanism beside the published one."""
    ours, seconds = timed(lambda: shuffled_epsilon(level, people, delta))
    apart = 1 / (1 + math.exp(level))
    published = crossing(lambda e: divergence(math.exp(level), apart, 0.0, apart, people, e), ours, delta)
    return {"epsilon_each": level, "any": ours, "seconds": seconds, "clones_2023": published, "above": ours / published - 1}


def size_row(people: int, delta: float, level: float, k: int) -> dict[str, Any]:
    """The bound for k-ary randomized response beside the published one and what is attained."""
    mechanism = make_mechanism("k-rr", domain=Categories(k), epsilon=level)
    ours, seconds = timed(lambda: shuffled_epsilon(mechanism, people, delta))
    row: dict[str, Any] = {"k": k, "epsilon_each": level, "own": ours, "seconds": seconds}
    row["attained"] = attained_epsilon(k, level, people, delta)
    if k > 2:
        low = 1 / (math.exp(level) + k - 1)
        delta_at = lambda e: divergence(math.exp(level), low, (k - 2) * low, low, people, e)  # noqa: E731
        row["variation_ratio"] = crossing(delta_at, ours, delta)
        row["above"] = ours / row["variation_ratio"] - 1
    return row


def main() -> None:
    """Compute, compare, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--people", type=int, default=1_000_000)
    parser.add_argument("--delta", type=float, default=1e-6)
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found: dict[str, Any] = {"people": given.people, "delta": given.delta, "levels": [], "k_rr": [], "channels": []}

    def told(line: str) -> None:
        if not given.json:
            print(line, flush=True)

    told(f"{given.people:,} people, delta {given.delta:g}")
    told("  each       any  seconds  clones 2023   above" + ("  clones 2021  its seconds" if given.peer else ""))
    others = peer(given.people, given.delta) if given.peer else [None] * len(EPSILONS)
    for level, other in zip(EPSILONS, others, strict=True):
        row, more = level_row(given.people, given.delta, level), ""
        if other is not None:
            row |= {"clones_2021": other[0], "clones_2021_seconds": other[1]}
            more = f"{other[0]:>13.5f}{other[1]:>13.2f}"
        found["levels"].append(row)
        shown = f"{row['epsilon_each']:>6g}{row['any']:>10.5f}{row['seconds']:>9.2f}{row['clones_2023']:>13.5f}"
        told(f"{shown}{100 * row['above']:>6.2f} %{more}")
    told("     k  each       own  seconds  attained  variation-ratio   above")
    for k in SIZES:
        for level in EPSILONS:
            row = size_row(given.people, given.delta, level, k)
            found["k_rr"].append(row)
            published = f"{row['variation_ratio']:>17.5f}{100 * row['above']:>6.2f} %" if "above" in row else f"{'-':>17}"
            told(f"{k:>6}{level:>6g}{row['own']:>10.5f}{row['seconds']:>9.2f}{row['attained']:>10.5f}{published}")
    told("mechanism     k  each       own  seconds  blanket by FFT   above")
    for name, k in CHANNELS:
        for level in EPSILONS:
            row = channel_row(given.people, given.delta, level, name, k)
            found["channels"].append(row)
            shown = f"{name:<10}{k:>5}{level:>6g}{row['own']:>10.5f}{row['seconds']:>9.2f}{row['blanket_by_fft']:>16.5f}"
            told(f"{shown}{100 * row['above']:>6.2f} %")
    if given.json:
        print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
