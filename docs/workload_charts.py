"""Draw the estimated answers of docs/workloads.md: python docs/workload_charts.py [DIRECTORY]

Made-up people on fixed coins: ages, for ranges and the share up to an age; and records of three attributes, for a table.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from deniable.batch import randomize_many
from deniable.charts import cdf_chart, marginal_chart, range_chart, save
from deniable.core import Categories, Record
from deniable.estimators import marginal_sums, tree_sums
from deniable.planning import best_hierarchy, best_marginals
from deniable.privacy import FixedKeystream

USERS, YOUNGEST, AGES = 100_000, 18, 64
CITIES, SMOKING = ["Bern", "Basel", "Zurich", "Geneva"], [0.3, 0.22, 0.18, 0.25]
ASKED = f"{USERS:,} made-up people, ε = 1"


def main() -> None:
    """Three pictures."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "images")
    random = np.random.default_rng(1)
    young = random.random(USERS) < 0.4
    ages = np.where(young, random.normal(27, 6, USERS), random.normal(52, 11, USERS)).round().astype(int)
    people = np.clip(ages, YOUNGEST, YOUNGEST + AGES - 1) - YOUNGEST
    names = [str(YOUNGEST + place) for place in range(AGES)]
    sums = tree_sums(randomize_many(best_hierarchy("ranges", 1, size=AGES).mechanism, people, FixedKeystream("ages")))
    shares, errors = sums.ranges()
    largest = f"{ASKED}; standard errors of at most {100 * float(np.triu(errors).max()):.1f} points"
    save(range_chart(names, shares, title="How many are between two ages", subtitle=largest), str(folder / "workload-ranges.png"))
    save(
        cdf_chart(names, sums.cdf(), title="How many are at most this old", subtitle=f"{ASKED}; 95 % intervals"),
        str(folder / "workload-cdf.svg"),
    )
    record = Record(
        {"city": Categories(CITIES), "smokes": Categories(["no", "yes"]), "job": Categories(["office", "outdoors", "none"])}
    )
    city = random.choice(4, USERS, p=[0.2, 0.2, 0.4, 0.2])
    answers = {
        "city": np.array(CITIES)[city],
        "smokes": np.where(random.random(USERS) < np.array(SMOKING)[city], "yes", "no"),
        "job": random.choice(["office", "outdoors", "none"], USERS, p=[0.5, 0.3, 0.2]),
    }
    tables = marginal_sums(randomize_many(best_marginals(record, 2, 1).mechanism, answers, FixedKeystream("tables")))
    pair = ["city", "smokes"]
    save(
        marginal_chart(pair, tables.marginal(pair), title="Smoking in four cities", subtitle=f"{ASKED}; 95 % intervals"),
        str(folder / "workload-marginals.svg"),
    )


if __name__ == "__main__":
    main()
