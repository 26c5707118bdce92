"""Paths through a square, each location perturbed on its own, three ways: python examples/private_paths.py"""

from __future__ import annotations

import numpy as np

from deniable.core import make_mechanism
from deniable.studies import perturb, random_paths


def main() -> None:
    """The average distance between where people were and what they reported."""
    paths = random_paths(200, 50)
    for name in ("nearest-cells", "tracs-c", "tracs-d"):
        for epsilon in (2, 6, 10):
            private = perturb(paths, make_mechanism(name, epsilon=epsilon))
            error = float(np.hypot(*(private.places - paths.places).T).mean())
            print(f"{name:13} epsilon {epsilon:2}: average error {error:.3f} of the square's side")


if __name__ == "__main__":
    main()
