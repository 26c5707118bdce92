"""Our shuffle bounds beside the numbers that published accountants print, and what one data set really has.

    python benchmarks/published_shuffling.py [--json]

The numbers were printed by the authors' own programs; `SOURCES` says which. Where one is below ours, the last column shows the
delta that shuffled reports really have at the printed epsilon, when everyone else gives one and the same answer. Where it is above
the delta that was promised, no correct bound could be as small.
"""

from __future__ import annotations

import argparse
import json
import math
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binom

from deniable.core import Categories, make_mechanism
from deniable.privacy import shuffled_epsilon


class Printed(NamedTuple):
    """One number: of k-ary randomized response, or (k = 0) of any mechanism of a level."""

    source: str
    people: int
    k: int
    each: float
    delta: float
    epsilon: float


CLONES_2021 = "clones 2021"
"""numericalanalysis(n, each, delta, 14, 50, True) of random-allocation 1.0.5 on PyPI, which carries Feldman et al.'s program."""
CLONES_2023 = "clones 2023"
VARIATION_RATIO = "variation-ratio"
"""Both: amplificationUB(p, beta, p, p, n, delta, T) of github.com/wangsw/PrivacyAmplification at 34ca048, with the parameters of
its README for general mechanisms (there the two agree) and for general RR; T = 20, but 12 in the program's own setting, where
delta is 1e-8."""
SOURCES = {
    CLONES_2021: "Feldman, McMillan and Talwar 2021, random-allocation 1.0.5",
    CLONES_2023: "Feldman, McMillan and Talwar 2023, wangsw/PrivacyAmplification 34ca048, general mechanisms",
    VARIATION_RATIO: "Wang et al. 2024, wangsw/PrivacyAmplification 34ca048, general RR",
}
PRINTED = (
    Printed(CLONES_2021, 10**3, 0, 1, 1e-6, 0.190849),
    Printed(CLONES_2021, 10**3, 0, 2, 1e-6, 0.686401),
    Printed(CLONES_2021, 10**3, 0, 4, 1e-6, 4.0),
    Printed(CLONES_2021, 10**4, 0, 1, 1e-6, 0.0540879),
    Printed(CLONES_2021, 10**4, 0, 2, 1e-6, 0.156707),
    Printed(CLONES_2021, 10**4, 0, 4, 1e-6, 0.680908),
    Printed(CLONES_2021, 10**5, 0, 1, 1e-6, 0.0161756),
    Printed(CLONES_2023, 10**3, 0, 1, 1e-6, 0.148671),
    Printed(CLONES_2023, 10**3, 0, 2, 1e-6, 0.397089),
    Printed(CLONES_2023, 10**3, 0, 4, 1e-6, 1.852909),
    Printed(CLONES_2023, 10**4, 0, 1, 1e-6, 0.0432072),
    Printed(CLONES_2023, 10**4, 0, 2, 1e-6, 0.114401),
    Printed(CLONES_2023, 10**4, 0, 4, 1e-6, 0.410816),
    Printed(CLONES_2023, 10**5, 0, 1, 1e-6, 0.0124311),
    Printed(CLONES_2023, 10**5, 0, 2, 1e-6, 0.0331917),
    Printed(CLONES_2023, 10**5, 0, 4, 1e-6, 0.118164),
    Printed(CLONES_2023, 10**6, 0, 0.1, 1e-8, 0.000366211),
    Printed(CLONES_2023, 10**6, 0, 1, 1e-8, 0.00512695),
    Printed(CLONES_2023, 10**6, 0, 3, 1e-8, 0.0256348),
    Printed(CLONES_2023, 10**6, 0, 5, 1e-8, 0.0781250),
    Printed(VARIATION_RATIO, 100, 4, 1, 1e-6, 0.39253235),
    Printed(VARIATION_RATIO, 100, 4, 2, 1e-6, 1.24134827),
    Printed(VARIATION_RATIO, 100, 4, 4, 1e-6, 3.68695831),
    Printed(VARIATION_RATIO, 100, 10, 1, 1e-6, 0.26675129),
    Printed(VARIATION_RATIO, 100, 10, 2, 1e-6, 0.86559486),
    Printed(VARIATION_RATIO, 100, 10, 4, 1e-6, 3.16838074),
    Printed(VARIATION_RATIO, 10**3, 4, 1, 1e-6, 0.11768627),
    Printed(VARIATION_RATIO, 10**3, 4, 2, 1e-6, 0.35104942),
    Printed(VARIATION_RATIO, 10**3, 4, 4, 1e-6, 1.74724960),
    Printed(VARIATION_RATIO, 10**3, 10, 1, 1e-6, 0.08009529),
    Printed(VARIATION_RATIO, 10**3, 10, 2, 1e-6, 0.27227974),
    Printed(VARIATION_RATIO, 10**3, 10, 4, 1e-6, 1.52238846),
    Printed(VARIATION_RATIO, 10**4, 4, 1, 1e-6, 0.03425694),
    Printed(VARIATION_RATIO, 10**4, 4, 2, 1e-6, 0.10195541),
    Printed(VARIATION_RATIO, 10**4, 4, 4, 1e-6, 0.40257645),
    Printed(VARIATION_RATIO, 10**4, 10, 1, 1e-6, 0.02325249),
    Printed(VARIATION_RATIO, 10**4, 10, 2, 1e-6, 0.07979393),
    Printed(VARIATION_RATIO, 10**4, 10, 4, 1e-6, 0.38045883),
    Printed(VARIATION_RATIO, 10**5, 4, 1, 1e-6, 0.00983143),
    Printed(VARIATION_RATIO, 10**5, 4, 2, 1e-6, 0.02957344),
    Printed(VARIATION_RATIO, 10**5, 4, 4, 1e-6, 0.11593628),
    Printed(VARIATION_RATIO, 10**5, 10, 1, 1e-6, 0.00663948),
    Printed(VARIATION_RATIO, 10**6, 100, 0.1, 1e-8, 0.0000488281),
    Printed(VARIATION_RATIO, 10**6, 100, 1, 1e-8, 0.000976562),
    Printed(VARIATION_RATIO, 10**6, 100, 3, 1e-8, 0.0109863),
    Printed(VARIATION_RATIO, 10**6, 100, 5, 1e-8, 0.0598145),
)


def delta_of_a_third_answer(k: int, each: float, people: int, epsilon: float) -> float:
    """What k-ary randomized response, k >= 4, has when everyone else gives one answer that is neither of the two: summed plainly.

    Let A, B, C and D count the reports of the two answers, of everyone else's, and of the rest, were all n people to answer as
    everyone else does. Then delta is E[((r - f) A + (1 - f r) B + (1 - f)(C / r + D))+] / n with r = e**each and f = e**epsilon.
    Given A and B, C is binomial, and its sum is two tails. What lies far out is left out, which can only lower the sum.
    """
    ratio, factor = math.exp(each), math.exp(epsilon)
    low = 1 / (ratio + k - 1)
    law = binom(people, low)
    counts = np.arange(int(law.ppf(1e-15)), int(law.isf(1e-15)) + 1)
    a, b = (grid.ravel() for grid in np.meshgrid(counts, counts, indexing="ij"))
    mass = np.where(a + b <= people, law.pmf(a) * binom.pmf(b, np.maximum(people - a, 0), low / (1 - low)), 0.0)
    seen = mass > 1e-16 * mass.max()
    a, b, mass = a[seen], b[seen], mass[seen]
    rest, third = people - a - b, ratio / (ratio + k - 3)
    start = (ratio - factor) * a + (1 - factor * ratio) * b + (1 - factor) * rest
    slope = (factor - 1) * (1 - 1 / ratio)
    first = np.clip(np.ceil(-start / slope), 0, rest + 1)
    gain = start * binom.sf(first - 1, rest, third) + slope * rest * third * binom.sf(first - 2, np.maximum(rest - 1, 0), third)
    return float(mass @ np.maximum(gain, 0.0)) / people


def delta_of_the_same_answer(k: int, each: float, people: int, epsilon: float) -> float:
    """The same when everyone else's answer is the first of the two: the counts of the two answers tell all, outcome by outcome."""
    ratio, factor = math.exp(each), math.exp(epsilon)
    low = 1 / (ratio + k - 1)
    law, other = binom(people, ratio * low), binom(people, low)
    a, b = (
        grid.ravel()
        for grid in np.meshgrid(
            np.arange(int(law.ppf(1e-15)), int(law.isf(1e-15)) + 1),
            np.arange(int(other.ppf(1e-15)), int(other.isf(1e-15)) + 1),
            indexing="ij",
        )
    )
    a, b = a[a + b <= people], b[a + b <= people]
    mass = law.pmf(a) * binom.pmf(b, people - a, low / (1 - ratio * low))
    gain = (1 - factor / ratio) * a + (1 - factor * ratio) * b + (1 - factor) * (people - a - b)
    return float(mass @ np.maximum(gain, 0.0)) / people


def row(printed: Printed) -> dict[str, Any]:
    """One number beside ours; where it is below, with the delta that it really has."""
    of = make_mechanism("k-rr", domain=Categories(printed.k), epsilon=printed.each) if printed.k else float(printed.each)
    ours = shuffled_epsilon(of, printed.people, printed.delta)
    line: dict[str, Any] = {**printed._asdict(), "ours": ours, "above": ours / printed.epsilon - 1, "real_delta": None}
    if ours > printed.epsilon and printed.k:
        given = (printed.k, printed.each, printed.people, printed.epsilon)
        line["real_delta"] = max(delta_of_a_third_answer(*given), delta_of_the_same_answer(*given))
    return line


def shown(line: dict[str, Any]) -> str:
    """One line of the table."""
    given = f"{line['people']:>10,}{line['k'] or 'any':>6}{line['each']:>6g}{line['delta']:>9g}"
    real = "" if line["real_delta"] is None else f"{line['real_delta']:>13.4e}"
    return f"{given}{line['epsilon']:>13.6g}{line['ours']:>13.6g}{100 * line['above']:>10.3f} %{real}"


def main() -> None:
    """Compute, compare, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    lines = []
    for source, words in SOURCES.items():
        if not given.json:
            print(f"{source}: {words}")
            print("    people     k  each    delta      printed         ours       above   real delta")
        for printed in PRINTED:
            if printed.source == source:
                lines.append(row(printed))
                if not given.json:
                    print(shown(lines[-1]), flush=True)
    if given.json:
        print(json.dumps(lines, indent=1))


if __name__ == "__main__":
    main()
