"""How often does a model still answer right when its input is perturbed?

study, quantify             a model and its records; ρ of every mechanism at every epsilon
best_mechanism, smallest_epsilon, feature_costs
statement                   a row in words
as_model, load_model        any callable, scikit-learn, torch; saved by skops
Feature, Perturbation       a sensitive number, its public range, the mechanism on it
exact_utility, exact_region linear models, trees, forests, boosting, QDA: ρ itself
Randomizer                  a transformer for scikit-learn pipelines
concentration               Pr[a <= M(x) <= b], from the weights
"""

from deniable.classifiers.applications import (
    Best,
    FeatureCost,
    SmallestEpsilon,
    best_mechanism,
    feature_costs,
    quantify,
    smallest_epsilon,
)
from deniable.classifiers.concentration import concentration, concentration_curves
from deniable.classifiers.exact import Utility, utility
from deniable.classifiers.exact_models import data_utility, exact_region, exact_utility, is_exact_model
from deniable.classifiers.law import OutputLaw, ProductLaw, product_law
from deniable.classifiers.model import Model, as_model
from deniable.classifiers.perturbation import Feature, Perturbation, perturbations
from deniable.classifiers.randomizer import Randomizer
from deniable.classifiers.report import Report, Row
from deniable.classifiers.saved import load_model
from deniable.classifiers.study import Study, study
from deniable.classifiers.words import best_statement, statement, target_statement, worst_statement

__all__ = [
    "Best",
    "Feature",
    "FeatureCost",
    "Model",
    "OutputLaw",
    "Perturbation",
    "ProductLaw",
    "Randomizer",
    "Report",
    "Row",
    "SmallestEpsilon",
    "Study",
    "Utility",
    "as_model",
    "best_mechanism",
    "best_statement",
    "concentration",
    "concentration_curves",
    "data_utility",
    "exact_region",
    "exact_utility",
    "feature_costs",
    "is_exact_model",
    "load_model",
    "perturbations",
    "product_law",
    "quantify",
    "smallest_epsilon",
    "statement",
    "study",
    "target_statement",
    "utility",
    "worst_statement",
]
