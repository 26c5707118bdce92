"""The same patients, a forest of 100 trees: exact from the cells its thresholds make (section 7.6.2).

python examples/classifiers/stroke_random_forest.py [--data DIR] [--chart rho.png]
"""

from __future__ import annotations

import numpy as np
from case_data import STROKE, arguments, show, stroke
from sklearn.ensemble import RandomForestClassifier

from deniable.studies import Feature, quantify, study


def main() -> None:
    """Exact ρ at the record of the text, once more from a sample, and over 20 records."""
    asked = arguments(__doc__ or "")
    table, labels = stroke(asked.data)
    model = RandomForestClassifier(n_estimators=100, random_state=0, n_jobs=1).fit(table, labels)
    sensitive = {"age": Feature(0, 1), "bmi": Feature(0, 1)}
    record = np.flatnonzero((np.abs(table[:, 0] - 0.79) < 1e-9) & (np.abs(table[:, 5] - 0.48) < 1e-9) & (table[:, 1] == 1))
    one = study(model, table[record[:1]], sensitive, names=STROKE)
    print("the record 'age 79, bmi 24, hypertension', exactly")
    names = ["ogpm", "redesigned-sw", "exponential", "k-rr", "laplace"]
    show(quantify(one, names, range(1, 9), empirical=2_000), chart=asked.chart)
    print("\nthe same from one sample of the forest's answers, as for a model nobody can look into")
    show(quantify(one, names, [2, 4, 8], sample=True, evaluations=10_000))
    print("\nthe first 20 records: on average, and at worst")
    show(quantify(study(model, table[:20], sensitive, names=STROKE), ["ogpm", "exponential", "laplace"], [2, 4, 8]))


if __name__ == "__main__":
    main()
