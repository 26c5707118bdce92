"""Questions beyond one report: paths, classifiers, training on devices, and users who answer together.

Movement data: many paths at once, their metrics, readers, baselines, and what a collector learns from them.

read_paths, stream_paths, write_paths       CSV check-ins, GPX and GeoJSON; streams need little memory
survey_file, perturb_file                   private paths from file to file, however long a track is
BoundingBox, CityRegion                     a public region: degrees to metres and back, places outside it
average_error, …, frechet_distance          how far perturbed paths are from the true ones
density_map, fine_density_map               where people are, with intervals, hotspots and range queries
reports_of                                  perturbed places, as files hold them, as the reports they stand for
origin_destination, transition_table        where they go, unbiased, with intervals and distances
length_distribution                         how long paths are
MovementSurvey                              a protocol of its own for made-up paths that move like the real ones

How often does a model still answer right when its input is perturbed?

study, quantify             a model and its records; ρ of every mechanism at every epsilon
best_mechanism, smallest_epsilon, feature_costs
statement                   a row in words
as_model, load_model        any callable, scikit-learn, torch; saved by skops
Feature, Perturbation       a sensitive number, its public range, the mechanism on it
exact_utility, exact_region linear models, trees, forests, boosting, QDA: ρ itself
Randomizer                  a transformer for scikit-learn pipelines
concentration               Pr[a <= M(x) <= b], from the weights

Training on devices: nothing but private reports of model updates leaves them.

PrivateUpdates              parameters of any model as one vector, updates as reports, their mean as a model again
LocalPrivacy                a Flower mod and its strategy, in two lines of any Flower app; PrivateStrategy, PrivateRound

Joint randomized response: two users lie together, so that their errors cancel. Honest about collusion.

bounded_pair, published_pair   a table from a privacy level; the default asks what a colluding partner may learn
optimum                        the best table for known colluders and a guess of the ones
account                        all privacy numbers of a table, always together
variance_joint, estimate_ones  Theorem 4, the unbiased estimator and its interval
answer_in_pairs, simulate      correlated answers in bulk; measured errors
KaryPair, UnaryPair, HashedPair, Group    more than bits, more than two
"""

from deniable._door import door

__getattr__, __dir__, __all__ = door(__name__)
