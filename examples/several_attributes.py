"""Airline, airport and hour from one person: split ε, or split the people? python examples/several_attributes.py"""

from __future__ import annotations

import numpy as np

from deniable import Categories, Record
from deniable.cli.flights import flights
from deniable.core import make_mechanism
from deniable.estimators import attribute_shares, choose_strategy

EPSILON = 1


def main() -> None:
    """The same people, the same total ε, three strategies."""
    data = flights()
    fields = {"airline": data.carrier, "airport": data.origin, "hour": data.hour.astype(str)}
    record = Record({name: Categories(sorted(set(values.tolist()))) for name, values in fields.items()})
    for strategy in ("product", "sample-one", "rs-fd"):
        found = attribute_shares(make_mechanism(strategy, domain=record, epsilon=EPSILON).randomize_many(fields))
        errors = []
        for name, values in fields.items():
            real = np.array([(values == label).mean() for label in found[name].labels or ()])
            errors.append(f"{name} {float(np.sqrt(np.mean((found[name].value - real) ** 2))):.4f}")
        print(f"{strategy:11} root mean squared errors: {', '.join(errors)}")
    print(f"predicted beforehand: {choose_strategy(record, EPSILON, len(data)).explanation}")


if __name__ == "__main__":
    main()
