"""Movement data: many paths at once, their metrics, readers, baselines, and what a collector learns from them."""

from deniable.trajectories.paths import Paths

__all__ = ["Paths"]
