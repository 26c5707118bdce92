"""Streams and pairs beside their papers: python benchmarks/streams.py [--runs 3]

LDP-IDS (Ren, Shi, Yu, Wang, Wu, Yao, Liu 2022): binary streams of 800 steps and 200,000 people, w = 20, epsilon = 1, in the shapes
of the paper, made here: LNS p_t = p_(t-1) + N(0, 0.0025^2), p_0 = 0.05; Sin p_t = 0.05 sin(0.01 t) + 0.075; and
Log p_t = 0.25 / (1 + e^(-0.01 t)). The paper draws its curves and has no tables, so each published mechanism is run as written and
stands beside what its formula says (LBU, LPU, LSP); "ours" is LPU with local lines through the unbiased shares of neighbouring
steps (`Trend.smoothed`), under the same promise.

PCKV (Gu, Li, Cheng, Xiong, Cao 2020): 100 keys, one pair a person, keys uniform, Gaussian or by a power law; the published
variance of a frequency stands beside what is measured. The paper has 10^6 people, here are 10,000: errors times n are compared.
"""

from __future__ import annotations

import argparse
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.core import Categories, Interval, KeyValue, make_mechanism
from deniable.estimators import METHODS, Request, WindowCollector, key_means, key_shares, support

PEOPLE, STEPS, WINDOW, EPSILON = 200_000, 800, 20, Fraction(1)
KEYS, OWNERS = 100, 10_000


def shapes(random: np.random.Generator) -> dict[str, Any]:
    """The share of yes in every step."""
    t = np.arange(STEPS)
    walk = np.clip(0.05 + np.cumsum(random.normal(0, 0.0025, STEPS)), 0.005, 0.995)
    return {"LNS": walk, "Sin": 0.05 * np.sin(0.01 * t) + 0.075, "Log": 0.25 / (1 + np.exp(-0.01 * t))}


class Crowd:
    """People who are asked by randomized response: the counts of their reports, drawn at once."""

    def __init__(self, random: np.random.Generator, people: int) -> None:
        self.random, self.people, self.levels = random, people, {}  # type: ignore[var-annotated]

    def law(self, epsilon: float) -> Any:
        level = EPSILON * Fraction(epsilon).limit_denominator(10_000)
        if level not in self.levels:
            self.levels[level] = support(make_mechanism("k-rr", domain=Categories(2), epsilon=level))
        return self.levels[level]

    def variance(self, request: Request) -> float:
        n = self.people * request.people
        return float(self.law(request.epsilon).variance(n, n / 2)) / n**2

    def ask(self, request: Request, share: float) -> Any:
        n, law = round(self.people * request.people), self.law(request.epsilon)
        yes = self.random.binomial(n, share) if request.people < 1 else round(n * share)
        p, q = float(law.p), float(law.q)
        ones = self.random.binomial(yes, p) + self.random.binomial(n - yes, q)
        estimate = (ones / n - q) / (p - q)
        return np.array([1 - estimate, estimate])


def published_streams(runs: int, seed: int = 1) -> dict[tuple[str, str], float]:
    """The mean squared error of the share of yes, by shape and method."""
    random, errors = np.random.default_rng(seed), {}  # type: ignore[var-annotated]
    for _ in range(runs):
        for shape, truth in shapes(random).items():
            for method in METHODS:
                crowd, collector = Crowd(random, PEOPLE), WindowCollector(method, WINDOW)
                row = [collector.step(lambda r, s=share, c=crowd: c.ask(r, s), crowd.variance)[1] for share in truth.tolist()]  # type: ignore[misc]
                errors.setdefault((shape, method), []).append(((np.array(row) - truth) ** 2).mean())
                if method == "LPU":
                    errors.setdefault((shape, "ours"), []).append(((local_lines(np.array(row), WINDOW) - truth) ** 2).mean())
    return {key: float(np.mean(each)) for key, each in errors.items()}


def local_lines(row: Any, reach: float) -> Any:
    """As `Trend.smoothed`: a line through the neighbours, with Epanechnikov's weights."""
    at = np.arange(len(row))
    smooth = np.empty(len(row))
    for middle in at:
        near = slice(max(0, middle - int(reach)), middle + int(reach) + 1)
        weight = np.maximum(1 - ((at[near] - middle) / reach) ** 2, 0)
        design = np.stack([np.ones_like(weight), at[near] - middle], axis=1) * np.sqrt(weight)[:, None]
        smooth[middle] = np.linalg.lstsq(design, row[near] * np.sqrt(weight), rcond=None)[0][0]
    return smooth


def formulas() -> dict[str, float]:
    """What the paper's variances say: noise alone, and for LPU who is asked, at a share of 0.1."""
    crowd = Crowd(np.random.default_rng(0), PEOPLE)
    drawing = 0.1 * 0.9 / (PEOPLE / WINDOW)
    return {
        "LBU": crowd.variance(Request(1.0, 1 / WINDOW)),
        "LPU": crowd.variance(Request(1 / WINDOW, 1.0)) + drawing,
        "LSP": crowd.variance(Request(1.0, 1.0)),
    }


def published_pairs(epsilon: int, runs: int, seed: int = 2) -> list[tuple[str, str, float, float, float]]:
    """Shape, mechanism, and errors times n: of a frequency, measured and published, and of the means of the ten commonest keys."""
    random, rows = np.random.default_rng(seed), []
    keys = np.arange(KEYS)
    laws = {
        "uniform": np.ones(KEYS),
        "Gaussian": np.exp(-(((keys - KEYS / 2) / (KEYS / 6)) ** 2) / 2),
        "Zipf": 1 / (1 + keys),
    }
    for shape, law in laws.items():
        mine = random.choice(KEYS, OWNERS, p=law / law.sum())
        value = np.clip(np.cos(mine) * 0.5 + random.normal(0, 0.2, OWNERS), -1, 1)
        share = np.bincount(mine, minlength=KEYS) / OWNERS
        mean = np.array([value[mine == key].mean() if (mine == key).any() else 0.0 for key in keys])
        top = np.argsort(-share)[:10]
        pairs = [{int(key): float(number)} for key, number in zip(mine, value, strict=True)]
        for name in ("pckv-ue", "pckv-grr"):
            domain = KeyValue(KEYS, Interval(-1, 1, cells=200), at_most=1)
            measured, means = [], []
            for _ in range(runs):
                reports = make_mechanism(name, domain=domain, epsilon=epsilon).randomize_many(pairs)
                measured.append(OWNERS * ((key_shares(reports).value - share) ** 2).mean())
                means.append(OWNERS * ((key_means(reports).value - mean)[top] ** 2).mean())
            rows.append((shape, name, float(np.mean(measured)), published_variance(name, epsilon), float(np.mean(means))))
    return rows


def published_variance(name: str, epsilon: float) -> float:
    """b (1 - b) / (a - b)^2 + f (1 - a - b) / (a - b), averaged over the keys, with the paper's optimised a and b."""
    e = np.exp(epsilon)
    if name == "pckv-ue":
        a, b = 0.5, 2 / (e + 3)
    else:  # one padding key, as the domain has; each key has two ends
        places = KEYS + 1
        a = (e + 1) / (e + 1 + 2 * (places - 1))
        b = 2 / (e + 1 + 2 * (places - 1))
    return float(b * (1 - b) / (a - b) ** 2 + (1 - a - b) / (a - b) / KEYS)


def main() -> None:
    """Print both comparisons."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--runs", type=int, default=3)
    runs = options.parse_args().runs
    errors, said = published_streams(runs), formulas()
    print(f"mean squared error of a share, {PEOPLE:,} people, w = {WINDOW}, epsilon = {EPSILON}, {STEPS} steps")
    names = [*METHODS, "ours"]
    print(f"{'':8}" + "".join(f"{name:>12}" for name in names))
    for shape in ("LNS", "Sin", "Log"):
        print(f"{shape:8}" + "".join(f"{errors[shape, name]:12.3g}" for name in names))
    print(f"{'formula':8}" + "".join(f"{said[name]:12.3g}" if name in said else f"{'':12}" for name in names))
    for epsilon in (1, 3):
        print(f"\nerrors times n, {KEYS} keys, epsilon = {epsilon}: frequency, as published, mean of the ten commonest keys")
        for shape, name, measured, published, means in published_pairs(epsilon, runs):
            print(f"{shape:10}{name:10}{measured:10.3g}{published:10.3g}{means:12.3g}")


if __name__ == "__main__":
    main()
