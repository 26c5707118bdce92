"""Where did the wind come from? A mean direction from private directions: python examples/directions.py"""

from __future__ import annotations

import numpy as np

from deniable import Circle, CircularWindow
from deniable.cli.flights import wind_directions
from deniable.estimators import direction


def main() -> None:
    """Degrees go around: 359 and 1 are neighbours, and no mechanism on an interval knows that."""
    degrees = wind_directions()
    question = CircularWindow(domain=Circle(360), epsilon=2)
    found = direction(question.randomize_many(degrees % 360))
    radians = np.deg2rad(degrees)
    truth = np.rad2deg(np.arctan2(np.sin(radians).mean(), np.cos(radians).mean())) % 360
    print(f"{len(degrees):,} reports: from {found.angle:.1f} degrees, standard error {found.standard_error:.1f}; truth {truth:.1f}")


if __name__ == "__main__":
    main()
