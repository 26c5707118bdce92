"""Two features: the quadratic discriminant of Example 14 and the small network of Example 15 (dissertation, E.2.1).

python examples/classifiers/two_dimensions.py [--chart rho.png]
"""

from __future__ import annotations

import importlib.util
import math
from typing import Any

import numpy as np
from case_data import arguments, show

from deniable.studies import Feature, as_model, quantify, study

POINT = [[0.5, 0.5]]


def quadratic(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Example 14 as printed: class 1 where its discriminant is larger."""
    u, v = rows.T
    first = -0.5 * (u**2 + v**2) + math.log(0.5)
    second = -0.5 * (0.5 * (u - 1) ** 2 + 0.5 * (v - 1) ** 2) - 0.5 * math.log(4) + math.log(0.5)
    return np.where(first >= second, 1, 2)


def network() -> Any:
    """Example 15 as printed."""
    import torch

    one, two = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    for layer, weight, bias in (
        (one, [[-1.86, -2.09], [0.12, -0.46]], [3.71, -0.08]),
        (two, [[-3.05, 0.40], [4.02, -0.22]], [0.94, -0.58]),
    ):
        layer.weight.data, layer.bias.data = torch.tensor(weight), torch.tensor(bias)
    return torch.nn.Sequential(one, torch.nn.ReLU(), two).eval()


def main() -> None:
    """ρ of both at (0.5, 0.5)."""
    asked = arguments(__doc__ or "", data=False)
    features = {0: Feature(0, 1), 1: Feature(0, 1)}
    names = ["ogpm", "redesigned-sw", "exponential", "k-rr"]
    radius = abs(2 * math.sqrt(math.log(2) + 1) - math.hypot(1.5, 1.5))
    print(f"quadratic discriminant: l2 radius {radius:.6f} at (0.5, 0.5), by the printed circle")
    show(quantify(study(quadratic, POINT, features), names, range(1, 9), empirical=2_000), chart=asked.chart)
    if importlib.util.find_spec("torch") is None:
        print("The network needs torch: pip install 'deniable[torch]'. It was left out.")
        return
    from deniable.studies import network_radius, read_network

    module = network()
    print()
    reach = network_radius(read_network(module, POINT[0], [0, 1]), [0, 0], [1, 1])
    answer = int(as_model(module).labels(POINT)[0]) + 1
    print(f"network: l-infinity radius {reach:.6f}; it answers class {answer}, not 1 as the text has it")
    show(quantify(study(module, POINT, features), names, range(1, 9), empirical=2_000))


if __name__ == "__main__":
    main()
