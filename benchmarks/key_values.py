"""Key-value pairs beside PCKV: python benchmarks/key_values.py [--people 1000000] [--runs 3]

Settings, those of the authors' released code (Gu, Li, Cheng, Xiong and Cao 2020; github.com/xiaolangu/PCKV at 4ace270, PG1.m and
GenData.m, which it says is figure 1(a) of the paper): 10^6 people with one pair each, 100 keys, padding length 1, epsilon from 0.1
to 6, errors averaged over all 100 keys. "UU": keys uniform; every key has one value, uniform from -1 to 1. "GG": keys are
|N(0, 50^2)|, rounded up and kept when at most 100; every key has one value from N(0, 1), kept when between -1 and 1. "Zipf" is
ours: key k with a share proportional to 1/k, values as in UU.

Parameters, from the same file: PCKV-UE a = 1/2, b = 2/(e^eps + 3), p = e^eps/(e^eps + 1); PCKV-GRR, with d' = d + 1 places,
a = (e^eps + 1)/(e^eps - 1 + 2 d'), b = (1 - a)/(d' - 1), p = e^eps/(e^eps + 1).

The curves were not at hand as numbers, so these stand beside each other, mean squared errors, averaged over the keys:

    formula    of a frequency (b (1 - b) + f (a - b)(1 - a - b)) / (a - b)^2 / n; of a mean, that of the quotient to first order
    theirs     PCKV_UE.m and PCKV_GRR.m as they estimate, from our reports: frequencies cut to [1/n, 1], both counts to [1, n f]
    ours       `key_shares` (unbiased), the same cut to [0, 1], and `key_means` (the quotient, cut to the interval)
"""

from __future__ import annotations

import argparse
import zlib
from typing import Any

import numpy as np

from deniable.batch import Reports, draw_many
from deniable.core import Interval, KeyValue, make_mechanism
from deniable.estimators import key_means, key_shares
from deniable.privacy import FixedKeystream

KEYS = 100
SHAPES = ("UU", "GG", "Zipf")
MECHANISMS = ("pckv-ue", "pckv-grr")


def people(shape: str, count: int, random: np.random.Generator) -> tuple[Any, Any]:
    """Everyone's key, and the value of every key."""
    if shape == "GG":
        keys = np.ceil(np.abs(50 * random.standard_normal(3 * count))).astype(np.int64)
        keys = keys[(keys >= 1) & (keys <= KEYS)][:count] - 1
        keys[:KEYS] = np.arange(KEYS)  # everyone's file begins with every key once, as GenData.m does
        values = random.standard_normal(20 * KEYS)
        return keys, values[np.abs(values) <= 1][:KEYS]
    chance = np.ones(KEYS) if shape == "UU" else 1 / np.arange(1, KEYS + 1)
    return random.choice(KEYS, count, p=chance / chance.sum()), random.uniform(-1, 1, KEYS)


def parameters(name: str, epsilon: float) -> tuple[float, float, float]:
    """a, b and p as published."""
    e = np.exp(epsilon)
    if name == "pckv-ue":
        return 0.5, 2 / (e + 3), e / (e + 1)
    places = KEYS + 1
    a = (e + 1) / (e - 1 + 2 * places)
    return a, (1 - a) / (places - 1), e / (e + 1)


def published_errors(name: str, epsilon: float, share: Any, mean: Any, n: int) -> tuple[float, float]:
    """Of frequencies and of means, averaged over the keys."""
    a, b, p = parameters(name, epsilon)
    shown = b + share * (a - b)
    frequency = shown * (1 - shown) / (a - b) ** 2 - share * (1 - share)  # of these people: who they are is not drawn
    slope = a * (2 * p - 1)
    # n1 - n2 and n1 + n2 for fixed people, per person: variances and covariance
    owners = share
    difference = owners * (a - (slope * mean) ** 2) + (1 - owners) * b
    total = owners * a * (1 - a) + (1 - owners) * b * (1 - b)
    both = owners * slope * mean * (1 - a)
    quotient = difference / slope**2 - 2 * mean * both / (slope * (a - b)) + mean**2 * total / (a - b) ** 2
    return float(frequency.mean()) / n, float((quotient / share**2).mean()) / n


def their_estimates(pluses: Any, minuses: Any, n: int, name: str, epsilon: float) -> tuple[Any, Any]:
    """The estimator of the released code."""
    a, b, p = parameters(name, epsilon)
    frequency = np.clip(((pluses + minuses) / n - b) / (a - b), 1 / n, 1)
    counts = np.stack([pluses, minuses]) - n * b / 2
    same, other = a * p - b / 2, a * (1 - p) - b / 2
    first, second = np.linalg.solve(np.array([[same, other], [other, same]]), counts)
    owners = n * frequency
    clipped = [np.maximum(1, np.minimum(one, owners)) for one in (first, second)]
    return frequency, (clipped[0] - clipped[1]) / owners


def measured(shape: str, name: str, epsilon: float, n: int, runs: int) -> dict[str, tuple[float, float]]:
    """Mean squared errors of frequencies and means: by the formula, by their estimator and by ours."""
    seed = zlib.crc32(f"{shape} {name} {epsilon}".encode())
    random, stream = np.random.default_rng(seed), FixedKeystream(seed)
    mechanism = make_mechanism(name, domain=KeyValue(KEYS, Interval(-1, 1, cells=200), at_most=1), epsilon=epsilon)
    errors: dict[str, list[tuple[float, float]]] = {"formula": [], "theirs": [], "ours": [], "ours, cut": []}
    for _ in range(runs):
        keys, values = people(shape, n, random)
        values = np.round(values * 100) / 100  # on the grid of 200 cells, so that rounding is no part of the error
        share = np.bincount(keys, minlength=KEYS) / n
        encoded = np.array([mechanism.encode({key: float(value)}) for key, value in enumerate(values)], np.int64)
        sums = mechanism.accumulator().add(Reports(mechanism, draw_many(mechanism.channel, encoded[keys], stream)))
        counts = sums.sums[: 2 * KEYS].reshape(-1, 2)
        errors["formula"].append(published_errors(name, epsilon, share, values, n))
        frequency, mean = their_estimates(counts[:, 0], counts[:, 1], n, name, epsilon)
        unbiased, means = key_shares(sums).value, key_means(sums).value
        estimates = {"theirs": (frequency, mean), "ours": (unbiased, means), "ours, cut": (np.clip(unbiased, 0, 1), means)}
        for who, (one, two) in estimates.items():
            errors[who].append((float(((one - share) ** 2).mean()), float(((two - values) ** 2).mean())))
    return {who: (float(np.mean([a for a, _ in each])), float(np.mean([b for _, b in each]))) for who, each in errors.items()}


def main() -> None:
    """Print the table, as it stands in docs/sets.md."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--people", type=int, default=1_000_000)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--epsilons", default="1,2,4")
    chosen = options.parse_args()
    print(f"{chosen.people:,} people, {KEYS} keys, padding length 1, {chosen.runs} runs")
    print("| ε | keys | mechanism | frequency: formula | ours | theirs | ours, cut | mean: formula | theirs | ours |")
    print("|---" * 10 + "|")
    for epsilon in map(int, chosen.epsilons.split(",")):
        for shape in SHAPES:
            for name in MECHANISMS:
                errors = measured(shape, name, epsilon, chosen.people, chosen.runs)
                shown = [("formula", 0), ("ours", 0), ("theirs", 0), ("ours, cut", 0), ("formula", 1), ("theirs", 1), ("ours", 1)]
                cells = [f"{errors[who][which]:.2g}" for who, which in shown]
                print(f"| {epsilon} | {shape} | {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
