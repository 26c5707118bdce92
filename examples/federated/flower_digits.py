"""A Flower app that learns to read digits, with private clients. The two lines with LocalPrivacy are all that privacy needs.

    pip install 'deniable[flower]' 'flwr[simulation]' scikit-learn
    python examples/federated/flower_digits.py --clients 300 --rounds 3 --epsilon 8

Every client has twenty images of 4 x 4 pixels and takes ten steps of logistic regression: 170 numbers are trained.
`--without-privacy` leaves the two lines out. The images are scikit-learn's; nothing is downloaded.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np
from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg
from flwr.simulation import run_simulation
from sklearn.datasets import load_digits

from deniable.studies import LocalPrivacy

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--clients", type=int, default=300)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--epsilon", type=float, default=8)
parser.add_argument("--lifetime", type=float, default=24)
parser.add_argument("--without-privacy", action="store_true")
asked = parser.parse_args()

digits = load_digits()
images = digits.images.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16) / 16 - 0.5
order = np.random.default_rng(1).permutation(len(images))
train, test = order[:1400], order[1400:]


def scores(weights: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Probabilities of the ten digits."""
    powers = np.exp(rows @ weights[:-1] + weights[-1])
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def fit(weights: np.ndarray, rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Ten steps of logistic regression."""
    for _ in range(10):
        error = scores(weights, rows) - np.eye(10)[labels]
        weights = weights - np.vstack([rows.T @ error, error.sum(axis=0)]) / len(rows)
    return weights


privacy = LocalPrivacy(epsilon_per_round=asked.epsilon, lifetime=asked.lifetime, clip=1)
client_app = ClientApp(mods=[] if asked.without_privacy else [privacy])  # the first line


@client_app.train()
def train_on_device(message: Message, context: Context) -> Message:
    """What one person's device does, with twenty images of its own."""
    mine = np.random.default_rng(int(context.node_config["partition-id"])).choice(train, 20)
    weights = fit(message.content["arrays"].to_numpy_ndarrays()[0], images[mine], digits.target[mine])
    content = {"arrays": ArrayRecord([weights]), "metrics": MetricRecord({"num-examples": len(mine)})}
    return Message(RecordDict(content), reply_to=message)


server_app = ServerApp()
history: list[dict[str, Any]] = []


@server_app.main()
def main(grid: Grid, context: Context) -> None:
    """What the server does."""
    # Flower asks only the clients that are there when a round begins, unless told how many to wait for.
    everyone = {"min_train_nodes": asked.clients, "min_available_nodes": asked.clients}
    strategy = FedAvg(fraction_train=1.0, fraction_evaluate=0.0, **everyone)
    strategy = strategy if asked.without_privacy else privacy.strategy(strategy)  # the second line

    def evaluate(number: int, arrays: ArrayRecord) -> MetricRecord:
        right = scores(arrays.to_numpy_ndarrays()[0], images[test]).argmax(axis=1) == digits.target[test]
        return MetricRecord({"accuracy": float(right.mean())})

    result = strategy.start(
        grid=grid, initial_arrays=ArrayRecord([np.zeros((17, 10))]), num_rounds=asked.rounds, evaluate_fn=evaluate
    )
    for number, metrics in result.evaluate_metrics_serverapp.items():
        history.append({"round": number, **dict(metrics), **dict(result.train_metrics_clientapp.get(number, {}))})


if __name__ == "__main__":
    run_simulation(server_app, client_app, num_supernodes=asked.clients)
    for line in history:
        print(json.dumps(line))
