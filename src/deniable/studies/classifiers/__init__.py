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
