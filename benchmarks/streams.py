"""Streams beside LDP-IDS: python benchmarks/streams.py [--runs 3]

Settings. Binary streams of 800 steps and 200,000 people, w = 20, epsilon = 1. The shapes are Sin p_t = 0.05 sin(0.01 t) + 0.075,
Log p_t = 0.25 / (1 + e^(-0.01 t)) and LNS, a random walk with steps N(0, 0.0025^2). Their source: of the paper (Ren et al. 2022)
only the abstract could be read, so its own numbers of people and steps, its curves and the start of its walk are not checked.
The constants of the shapes are those of the released code of a later work that runs the paper's methods on shapes of these names
(Du et al. 2025, "Infinite stream estimation under personalized w-event privacy"; github.com/dulei715/WEventPLDPCode at 1da1f52,
SinDatasetPreprocessRun and its siblings). There the walk begins at 0.5; one from 0.05 is beside it. Its other settings are
10,000 people, 10,000 steps, w = 120 and epsilon = 1.5: `--people`, `--steps`, `--window` and `--epsilon` take them.

What stands beside the measured errors is therefore the closed form behind the published curves: with n reports of randomized
response on two values, V(epsilon, n) = e^epsilon / (n (e^epsilon - 1)^2), and

    LBU   V(epsilon/w, n)                      everyone, a w-th of epsilon
    LPU   V(epsilon, n/w) + p (1 - p) w/n      a w-th of the people; the second term is who is drawn
    LSP   V(epsilon, n) + what moved since     everyone once in w steps; the mean of (p_t - p_s)^2 is known for a known shape

LBA and LPA decide by their reports and have no closed form. Their rule, step by step, is that of `LDPPopulationAbsorption` in
the code above. MRE is the papers' other error: the mean of |estimate - share| / share over both values. Its closed form
follows from V where the error is normal with mean 0.

"Ours" is LPU with local lines through the unbiased shares (`Trend.smoothed`), under the same promise; the reports choose how far
the lines reach. "Online" uses the steps up to now only, as the published methods do; the other one looks ahead.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.core import Categories, make_mechanism
from deniable.estimators import METHODS, Request, WindowCollector, local_lines, support

NAMES = [*METHODS, "ours online", "ours"]


@dataclass(frozen=True)
class Setting:
    """How many people, steps, periods of a window, and which epsilon."""

    people: int = 200_000
    steps: int = 800
    window: int = 20
    epsilon: Fraction = Fraction(1)

    def variance(self, people: float, epsilon: float) -> float:
        """V of a share: what randomized response adds."""
        odds = math.exp(float(self.epsilon) * epsilon)
        return odds / (self.people * people * (odds - 1) ** 2)


def shapes(random: np.random.Generator, steps: int) -> dict[str, Any]:
    """The share of yes in every step."""
    t = np.arange(steps)
    low, middle = (np.clip(begin + np.cumsum(random.normal(0, 0.0025, steps)), 0.005, 0.995) for begin in (0.05, 0.5))
    return {"LNS .05": low, "LNS .5": middle, "Sin": 0.05 * np.sin(0.01 * t) + 0.075, "Log": 0.25 / (1 + np.exp(-0.01 * t))}


class Crowd:
    """People who are asked by randomized response: the counts of their reports, drawn at once."""

    def __init__(self, random: np.random.Generator, setting: Setting) -> None:
        self.random, self.setting, self.levels = random, setting, {}  # type: ignore[var-annotated]

    def law(self, epsilon: float) -> Any:
        level = self.setting.epsilon * Fraction(epsilon).limit_denominator(10_000)
        if level not in self.levels:
            self.levels[level] = support(make_mechanism("k-rr", domain=Categories(2), epsilon=level))
        return self.levels[level]

    def variance(self, request: Request) -> float:
        n = self.setting.people * request.people
        return float(self.law(request.epsilon).variance(n, n / 2)) / n**2

    def ask(self, request: Request, share: float) -> Any:
        n, law = round(self.setting.people * request.people), self.law(request.epsilon)
        yes = self.random.binomial(n, share) if request.people < 1 else round(n * share)
        p, q = float(law.p), float(law.q)
        ones = self.random.binomial(yes, p) + self.random.binomial(n - yes, q)
        estimate = (ones / n - q) / (p - q)
        return np.array([1 - estimate, estimate])


def smoothed(row: Any, setting: Setting, *, ahead: bool) -> Any:
    """As `Trend.smoothed`: what drawing the people adds is estimated from their reports."""
    noise = setting.variance(1 / setting.window, 1)
    drawn = np.clip(row * (1 - row), 0, 0.25) * setting.window / setting.people
    return local_lines(np.arange(len(row)), row[:, None], (noise + drawn)[:, None], ahead=ahead)[:, 0]


def relative(error: Any, truth: Any) -> float:
    """The mean of |error| / share over steps and both values."""
    return float((np.abs(error) * (1 / truth + 1 / (1 - truth)) / 2).mean())


def measured(setting: Setting, runs: int, seed: int = 1) -> dict[tuple[str, str, str], float]:
    """Errors by measure, shape and method, and those of the closed forms, under the method's name and "formula"."""
    random = np.random.default_rng(seed)
    errors: dict[tuple[str, str, str], list[float]] = {}

    def note(shape: str, method: str, row: Any, truth: Any) -> None:
        errors.setdefault(("MSE", shape, method), []).append(float(((row - truth) ** 2).mean()))
        errors.setdefault(("MRE", shape, method), []).append(relative(row - truth, truth))

    for _ in range(runs):
        for shape, truth in shapes(random, setting.steps).items():
            for method in METHODS:
                crowd, collector = Crowd(random, setting), WindowCollector(method, setting.window)
                row = np.array(
                    [collector.step(lambda r, s=share, c=crowd: c.ask(r, s), crowd.variance)[1] for share in truth.tolist()]  # type: ignore[misc]
                )
                note(shape, method, row, truth)
                if method == "LPU":
                    for name, ahead in (("ours online", False), ("ours", True)):
                        note(shape, name, smoothed(row, setting, ahead=ahead), truth)
            for measure, name, error in closed_forms(setting, truth):
                errors.setdefault((measure, shape, name), []).append(error)
    return {key: float(np.mean(each)) for key, each in errors.items()}


def closed_forms(setting: Setting, truth: Any) -> list[tuple[str, str, float]]:
    """Measure, method and error."""
    w = setting.window
    moved = truth - truth[(np.arange(len(truth)) // w) * w]
    noise = {
        "LBU": np.full(len(truth), setting.variance(1, 1 / w)),
        "LPU": setting.variance(1 / w, 1) + truth * (1 - truth) * w / setting.people,
    }
    still = setting.variance(1, 1) + moved**2
    squared = [("MSE", f"{name} formula", float(np.mean(each))) for name, each in noise.items()]
    others = [("MRE", f"{name} formula", relative(np.sqrt(2 * each / np.pi), truth)) for name, each in noise.items()]
    return [*squared, ("MSE", "LSP formula", float(np.mean(still))), *others]


def main() -> None:
    """Print the table, as it stands in docs/repeated-collection.md."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--runs", type=int, default=3)
    for name, usual in (("people", 200_000), ("steps", 800), ("window", 20)):
        options.add_argument(f"--{name}", type=int, default=usual)
    options.add_argument("--epsilon", type=Fraction, default=Fraction(1))
    chosen = vars(options.parse_args())
    runs = chosen.pop("runs")
    setting = Setting(**chosen)
    errors = measured(setting, runs)
    print(f"{setting.people:,} people, {setting.steps} steps, w = {setting.window}, epsilon = {setting.epsilon}, {runs} runs")
    for measure in ("MSE", "MRE"):
        print(f"\n| {measure} | " + " | ".join(NAMES) + " |")
        print("|---" * (len(NAMES) + 1) + "|")
        for shape in shapes(np.random.default_rng(0), 2):
            cells = []
            for name in NAMES:
                form = errors.get((measure, shape, f"{name} formula"))
                cells.append(f"{errors[measure, shape, name]:.2g}" + (f" ({form:.2g})" if form is not None else ""))
            print(f"| {shape} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
