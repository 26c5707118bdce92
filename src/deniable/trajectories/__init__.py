"""Movement data: many paths at once, their metrics, readers, baselines, and what a collector learns from them.

read_paths, stream_paths, write_paths       CSV check-ins, GPX and GeoJSON; streams need little memory
survey_file, perturb_file                   private paths from file to file, however long a track is
BoundingBox, CityRegion                     a public region: degrees to metres and back, places outside it
average_error, …, frechet_distance          how far perturbed paths are from the true ones
density_map, fine_density_map               where people are, with intervals, hotspots and range queries
reports_of                                  perturbed places, as files hold them, as the reports they stand for
origin_destination, transition_table        where they go, unbiased, with intervals and distances
length_distribution                         how long paths are
MovementSurvey                              a protocol of its own for made-up paths that move like the real ones
"""

from deniable.trajectories.alignment import dynamic_time_warping, frechet_distance
from deniable.trajectories.density import density_map
from deniable.trajectories.density_estimate import DensityMap, Hotspot
from deniable.trajectories.fine_density import FineMap, fine_density_map
from deniable.trajectories.lengths import length_distribution
from deniable.trajectories.metrics import (
    Hotspots,
    Metric,
    average_error,
    direction_error,
    hotspot_count_difference,
    range_query_preservation,
)
from deniable.trajectories.paths import Paths
from deniable.trajectories.perturb_files import PathFile, perturb_file, survey_file
from deniable.trajectories.pieces import Loaded, Piece, PieceStream, in_pieces, joined
from deniable.trajectories.projection import CityRegion, LocalProjection, great_circle
from deniable.trajectories.readers import read_paths, stream_paths
from deniable.trajectories.regions import BoundingBox, Fitted, fit_to_box, fit_to_rectangle
from deniable.trajectories.reported import reports_of
from deniable.trajectories.synthesis import MovementSurvey
from deniable.trajectories.synthetic import MovementModel
from deniable.trajectories.transitions import PlaceTable, origin_destination, transition_table
from deniable.trajectories.writers import write_paths

__all__ = [
    "BoundingBox",
    "CityRegion",
    "DensityMap",
    "FineMap",
    "Fitted",
    "Hotspot",
    "Hotspots",
    "Loaded",
    "LocalProjection",
    "Metric",
    "MovementModel",
    "MovementSurvey",
    "PathFile",
    "Paths",
    "Piece",
    "PieceStream",
    "PlaceTable",
    "average_error",
    "density_map",
    "direction_error",
    "dynamic_time_warping",
    "fine_density_map",
    "fit_to_box",
    "fit_to_rectangle",
    "frechet_distance",
    "great_circle",
    "hotspot_count_difference",
    "in_pieces",
    "joined",
    "length_distribution",
    "origin_destination",
    "perturb_file",
    "range_query_preservation",
    "read_paths",
    "reports_of",
    "stream_paths",
    "survey_file",
    "transition_table",
    "write_paths",
]
