"""Will this patient have a stroke? Logistic regression, age and body mass index hidden (section 7.6.2).

python examples/classifiers/stroke_logistic_regression.py [--data DIR] [--chart rho.png]
"""

from __future__ import annotations

import numpy as np
from case_data import STROKE, arguments, show, stroke
from sklearn.linear_model import LogisticRegression

from deniable.studies import Feature, feature_costs, quantify, smallest_epsilon, study, target_statement


def main() -> None:
    """Exact ρ at the record of the text, and over 50 records."""
    asked = arguments(__doc__ or "")
    table, labels = stroke(asked.data)
    model = LogisticRegression(max_iter=1000).fit(table, labels)
    sensitive = {"age": Feature(0, 1), "bmi": Feature(0, 1)}
    record = np.flatnonzero((np.abs(table[:, 0] - 0.79) < 1e-9) & (np.abs(table[:, 5] - 0.48) < 1e-9) & (table[:, 1] == 1))
    one = study(model, table[record[:1]], sensitive, names=STROKE)
    print("the record 'age 79, bmi 24, hypertension'")
    names = ["ogpm", "redesigned-sw", "exponential", "k-rr", "laplace"]
    show(quantify(one, names, range(1, 9), empirical=2_000), chart=asked.chart)
    print(target_statement(smallest_epsilon(one, "ogpm", 0.9, rounds=1), "ogpm", 0.9))
    for cost in feature_costs(one, "ogpm", 4):
        print(f"hiding {cost.feature} alone at epsilon = 4 changes the answer with probability {cost.cost:.4f}")
    print("\nthe first 50 records: on average, and at worst")
    show(quantify(study(model, table[:50], sensitive, names=STROKE), ["ogpm", "exponential", "laplace"], [2, 4, 8]))


if __name__ == "__main__":
    main()
