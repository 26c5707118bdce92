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
