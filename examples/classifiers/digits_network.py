"""Which digit is this? A small convolutional network on 7 x 7 images, all 49 pixels hidden (section 7.6.2).

    python examples/classifiers/digits_network.py [--chart rho.png]

The images are scikit-learn's 8 x 8 digits, averaged to 7 x 7. Needs torch.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
from case_data import arguments, show
from sklearn.datasets import load_digits

from deniable.studies import Feature, as_model, feature_costs, quantify, study

DELTA = 0.1


def images() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Averages of 2 x 2 neighbours: 7 x 7 pixels between 0 and 1."""
    found = load_digits()
    squares = found.images / 16
    small = (squares[:, :-1, :-1] + squares[:, 1:, :-1] + squares[:, :-1, 1:] + squares[:, 1:, 1:]) / 4
    return small.reshape(len(small), 49), found.target


def trained(table: np.ndarray[Any, Any], labels: np.ndarray[Any, Any]) -> Any:
    """A network of one convolution and one hidden layer, a few seconds of training."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    layers = [torch.nn.Conv2d(1, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(200, 64), torch.nn.ReLU()]
    module = torch.nn.Sequential(*layers, torch.nn.Linear(64, 10))
    rows, targets = torch.tensor(table, dtype=torch.float32).reshape(-1, 1, 7, 7), torch.tensor(labels)
    steps = torch.optim.Adam(module.parameters(), lr=0.01)
    for _ in range(60):
        steps.zero_grad()
        torch.nn.functional.cross_entropy(module(rows), targets).backward()
        steps.step()
    return module.eval()


def main() -> None:
    """The first two images, all pixels hidden; then only the four in the middle."""
    asked = arguments(__doc__ or "", data=False)
    if importlib.util.find_spec("torch") is None:
        print("The network needs torch: pip install 'deniable[torch]'. Nothing was done.")
        return
    table, labels = images()
    module = trained(table, labels)
    model = as_model(module, shape=(1, 7, 7))
    print(
        f"right without noise: {float(np.mean(model.labels(table) == labels)):.3f} of {len(table)} images (it was trained on them)"
    )
    everything = {i: Feature(0, 1) for i in range(49)}
    names = ["ogpm", "redesigned-sw", "exponential", "k-rr"]
    for i in range(2):
        print(f"\nimage {i + 1}, a {labels[i]}; all 49 pixels, privacy indicator with delta = {DELTA}")
        question = study(model, table[[i]], everything)
        report = quantify(question, names, range(1, 9), indicator=DELTA, evaluations=8_000, empirical=1_000)
        show(report, chart=asked.chart if i == 0 else None, levels=(4, 6, 8))
    middle = {i: Feature(0, 1) for i in (16, 17, 23, 24)}
    print("\nimage 1, only four pixels in the middle")
    question = study(model, table[[0]], middle)
    show(quantify(question, names, [1, 2, 4], evaluations=8_000), levels=(1, 2, 4))
    for cost in feature_costs(question, "ogpm", 2, evaluations=4_000)[:2]:
        print(f"hiding {cost.feature} alone at epsilon = 2 changes the answer with probability {cost.cost:.4f}")


if __name__ == "__main__":
    main()
