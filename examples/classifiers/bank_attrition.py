"""Will this customer leave the bank? Age and salary hidden, with a chance delta = 0.1 of failure (PAC, section 7.6.2).

    python examples/classifiers/bank_attrition.py [--data DIR] [--chart rho.png]

The privacy indicator publishes the whole raw record with probability delta. It is here to check published numbers.
"""

from __future__ import annotations

import numpy as np
from case_data import BANK, arguments, bank, show
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from deniable.core import analytic_sigma, exact_sigma, published_sigma
from deniable.studies import Feature, quantify, study

DELTA = 0.1
RULES = (
    ("published", published_sigma, "Pr[privacy loss > epsilon] <= delta"),
    ("exact", exact_sigma, "Pr[privacy loss > epsilon] <= delta"),
    ("analytic", analytic_sigma, "(epsilon, delta)-LDP"),
)


def main() -> None:
    """Both models at one customer, under the indicator and under three Gaussian noises."""
    asked = arguments(__doc__ or "")
    table, labels = bank(asked.data)
    sensitive = {"Age": Feature(0, 1), "EstimatedSalary": Feature(0, 1)}
    customer = int(np.argmin(np.abs(table[:, 1] - 0.22) + np.abs(table[:, 0] - 0.619)))
    for title, model, chart in (
        ("logistic regression", LogisticRegression(max_iter=1000).fit(table, labels), asked.chart),
        ("random forest", RandomForestClassifier(100, max_depth=8, random_state=0, n_jobs=1).fit(table, labels), None),
    ):
        question = study(model, table[[customer]], sensitive, names=BANK)
        print(f"{title}, privacy indicator around every mechanism")
        show(quantify(question, ["ogpm", "exponential", "laplace"], range(1, 9), indicator=DELTA), chart=chart)
        print(f"{title}, Gaussian noise by three rules")
        for rule, sigma, promise in RULES:
            row = quantify(question, ["gaussian"], [4], parameters={"gaussian": {"delta": "0.1", "sigma": rule}}).rows[0]
            print(f"  {rule:10} sigma {sigma(4, DELTA):.4f}  rho {row.value:.4f}  {promise}")
        print()


if __name__ == "__main__":
    main()
