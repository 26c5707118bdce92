"""Does training survive the noise? Digits, logistic regression, accuracy against epsilon, in a minute.

    python examples/federated/study.py [--people 1000,10000]

Simulated people have twenty images of 4 x 4 pixels each; five rounds, everyone in each; 170 numbers are trained. The epsilons are
those of a round. Gaussian noise has delta = 1e-6: with the right sigma, and with the recipe that packages use, beside its true
epsilon. Beware: the Gaussian references draw floats, and their noise is added to the mean, which has the same law.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
from sklearn.datasets import load_digits

from deniable.batch import randomize_many
from deniable.core import Ball, NearestCodes
from deniable.estimators import mean
from deniable.privacy import gaussian_epsilon, gaussian_sigma

ROUNDS, IMAGES, DELTA = 5, 20, 1e-6
EPSILONS = (0.5, 1, 2, 4, 8, 16)

digits = load_digits()
images = digits.images.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16) / 16 - 0.5
images = np.hstack([images, np.ones((len(images), 1))])
generator = np.random.default_rng(1)
order = generator.permutation(len(images))
train, test = order[:1400], order[1400:]


def updates(weights: np.ndarray, mine: np.ndarray) -> np.ndarray:
    """Everyone's ten steps of logistic regression, clipped to length 1; one row for each person."""
    rows, labels = images[mine], np.eye(10)[digits.target[mine]]
    own = np.broadcast_to(weights, (len(mine), *weights.shape))
    for _ in range(10):
        powers = np.exp(rows @ own)
        error = powers / powers.sum(axis=2, keepdims=True) - labels
        own = own - rows.transpose(0, 2, 1) @ error / IMAGES
    moved = (own - weights).reshape(len(mine), -1)
    return np.asarray(moved / np.maximum(1, np.linalg.norm(moved, axis=1, keepdims=True)))


def recipe_sigma(epsilon: float) -> float:
    """Proved for epsilon < 1 only; two updates of length 1 are 2 apart."""
    return 2 * math.sqrt(2 * math.log(1.25 / DELTA)) / epsilon


def accuracy(people: int, way: str, epsilon: float) -> float:
    """After all rounds, on images that nobody had."""
    weights = np.zeros((17, 10))
    for _ in range(ROUNDS):
        total, reports = np.zeros(170), 0
        mechanism = NearestCodes(domain=Ball(170), epsilon=epsilon)
        sums = mechanism.accumulator()
        for start in range(0, people, 5000):
            rows = updates(weights, generator.choice(train, (min(5000, people - start), IMAGES)))
            total += rows.sum(axis=0)
            reports += len(rows)
            if way == "ours":
                sums.add(randomize_many(mechanism, rows))
        step = mean(sums).value if way == "ours" else total / reports
        if way in ("gaussian", "recipe"):
            sigma = gaussian_sigma(epsilon, DELTA, 2) if way == "gaussian" else recipe_sigma(epsilon)
            step = step + generator.normal(0, sigma / math.sqrt(people), 170)
        weights = weights + step.reshape(17, 10)
    return float(((images[test] @ weights).argmax(axis=1) == digits.target[test]).mean())


def main() -> None:
    """One line for each number of people and epsilon."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", default="1000,10000")
    asked = parser.parse_args()
    print("| people | ε a round | ours | Gaussian, right σ | the recipe | its true ε | no privacy |\n|---|---|---|---|---|---|---|")
    for people in map(int, asked.people.split(",")):
        plain = accuracy(people, "none", 1)
        for epsilon in EPSILONS:
            found = [accuracy(people, way, epsilon) for way in ("ours", "gaussian", "recipe")]
            true = gaussian_epsilon(recipe_sigma(epsilon), DELTA, 2)
            cells = [f"{people:,}", f"{epsilon:g}", *(f"{share:.2f}" for share in found), f"{true:.2f}", f"{plain:.2f}"]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
