"""One feature, two classes: h(x) = 1 on [0.2, 0.8], at x = 0.5 (dissertation, section 7.2).

python examples/classifiers/one_dimension.py [--chart rho.png]
"""

from __future__ import annotations

import math

from case_data import arguments, show

from deniable.studies import Feature, quantify, smallest_epsilon, study, target_statement

FORMULAS = {"laplace": 1 - math.exp(-0.6), "ogpm": 1 - 0.4 / math.e, "k-rr": (math.e**2 + 59) / (math.e**2 + 99)}


def main() -> None:
    """Count every report of three mechanisms; compare with the continuous formulas."""
    asked = arguments(__doc__ or "", data=False)
    question = study(lambda rows: 1 + ((rows[:, 0] < 0.2) | (rows[:, 0] > 0.8)), [[0.5]], {0: Feature(0, 1)})
    # 100,000 answers are more than any of the lattices has points: nothing is left to chance.
    report = quantify(question, ["laplace", "ogpm", "k-rr"], range(1, 9), evaluations=100_000, empirical=2_000)
    show(report, chart=asked.chart)
    print("continuous formulas at epsilon = 2:")
    for name, formula in FORMULAS.items():
        print(f"  {name:8} {formula:.6f}, on its lattice {report.at(name, 2).value:.6f}")
    for name in ("laplace", "ogpm"):
        print(target_statement(smallest_epsilon(question, name, 0.8, evaluations=100_000), name, 0.8))
    print("The text says 5.2 for laplace; its own formula 1 - exp(-0.3 epsilon) asks for 5.365.")


if __name__ == "__main__":
    main()
