"""Movement data: many paths at once, their metrics, readers, baselines, and what a collector learns from them."""

from deniable.trajectories.alignment import dynamic_time_warping, frechet_distance
from deniable.trajectories.metrics import (
    Hotspots,
    Metric,
    average_error,
    direction_error,
    hotspot_count_difference,
    range_query_preservation,
)
from deniable.trajectories.paths import Paths

__all__ = [
    "Hotspots",
    "Metric",
    "Paths",
    "average_error",
    "direction_error",
    "dynamic_time_warping",
    "frechet_distance",
    "hotspot_count_difference",
    "range_query_preservation",
]
