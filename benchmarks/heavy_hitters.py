"""Does the search find every frequent word and no rare one, how fast, and do its intervals cover?

    python benchmarks/heavy_hitters.py [--users 1000000] [--runs 3] [--json]

Texts of six bytes (48 bits), epsilon = 4. PEM is asked for words of 2 % and more and must report none below
1 %; TreeHist the same at 8 % and 4 %. Words in between may or may not be reported. Times are from the
array of texts to the words found, compiled beforehand.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from deniable.batch import randomize_many
from deniable.core import PrefixExtendingMethod, Text, TreeHist
from deniable.estimators import heavy_hitters
from deniable.privacy import FixedKeystream

Texts = Any
LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", np.uint8)


def random_texts(source: np.random.Generator, count: int) -> Texts:
    """Texts of six letters."""
    return source.choice(LETTERS, (count, 6)).view("S6")[:, 0].astype("U6")


def planted(words: Texts, shares: list[float], rest: Callable[[int], Texts], users: int) -> Texts:
    """So many people of each word, and the rest from elsewhere."""
    counts = [round(share * users) for share in shares]
    return np.concatenate([np.repeat(words, counts), rest(users - sum(counts))])


def distributions(wanted: float, users: int) -> Iterator[tuple[str, Texts]]:
    """Heavy words at the wanted share and above, near misses just below half of it, and several kinds of others."""
    source = np.random.default_rng(1)
    heavy = [wanted * times for times in (1, 1, 1.25, 1.5, 2, 2.5)]
    heavy = heavy[: 6 if wanted < 0.05 else 4]
    near = [wanted * 0.495] * 4
    shares = heavy + near

    def zipf(count: int, exponent: float = 1.05, words: int = 100_000) -> Texts:
        weights = np.arange(1, words + 1.0) ** -exponent
        return random_texts(source, words)[source.choice(words, count, p=weights / weights.sum())]

    yield (
        "everyone else a word of his own",
        planted(random_texts(source, len(shares)), shares, lambda n: random_texts(source, n), users),
    )
    yield "Zipf tail, 100,000 words", planted(random_texts(source, len(shares)), shares, zipf, users)
    siblings = np.array([f"prefi{letter}" for letter in "abcdefghij"[: len(shares)]])
    yield "heavy words differ in the last letter", planted(siblings, shares, lambda n: random_texts(source, n), users)
    yield "nothing but Zipf, exponent 1.3", zipf(users, 1.3)


def one_run(mechanism: Any, wanted: float, values: Texts, run: str) -> dict[str, Any]:
    """Randomize, find, and compare with the truth."""
    begin = time.perf_counter()
    reports = randomize_many(mechanism, values, FixedKeystream(f"benchmark {run}"))
    middle = time.perf_counter()
    found = heavy_hitters(reports, share=wanted)
    end = time.perf_counter()
    words, counts = np.unique(values, return_counts=True)
    truth = dict(zip(words.tolist(), (counts / len(values)).tolist(), strict=True))
    table = found.table()
    return {
        "randomize_seconds": middle - begin,
        "find_seconds": end - middle,
        "wanted": sum(share >= wanted for share in truth.values()),
        "missed": sum(share >= wanted and word not in found for word, share in truth.items()),
        "too_rare": sum(truth.get(word, 0.0) < wanted / 2 for word in found),
        "reported": len(found),
        "covered": sum(low <= truth.get(word, 0.0) <= high for word, _, low, high in table),
        "largest_error": max((abs(share - truth.get(word, 0.0)) for word, share, _, _ in table), default=0.0),
    }


def measure(users: int, runs: int) -> list[dict[str, Any]]:
    """Every mechanism on every distribution, several times."""
    rows = []
    for mechanism, wanted in (
        (PrefixExtendingMethod(domain=Text(6), epsilon=4), 0.02),
        (TreeHist(domain=Text(6), epsilon=4), 0.08),
    ):
        heavy_hitters(randomize_many(mechanism, np.full(200_000, "warm")))  # compile
        for label, values in distributions(wanted, users):
            done = [one_run(mechanism, wanted, values, f"{label} {run}") for run in range(runs)]
            row: dict[str, Any] = {
                "mechanism": mechanism.name,
                "distribution": label,
                "users": users,
                "share": wanted,
                "runs": runs,
            }
            for name in ("randomize_seconds", "find_seconds", "largest_error"):
                row[name] = max(one[name] for one in done)
            for name in ("wanted", "missed", "too_rare", "reported", "covered"):
                row[name] = sum(one[name] for one in done)
            rows.append(row)
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--users", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    rows = measure(chosen.users, chosen.runs)
    if chosen.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"{chosen.users} users, 48-bit words, epsilon = 4; {chosen.runs} runs each, counts over all runs, slowest times")
    print(f"{'':<10}{'':<39}{'share':>6}{'wanted':>7}{'missed':>7}{'too rare':>9}{'95 % covers':>14}{'randomize':>11}{'find':>8}")
    for row in rows:
        print(
            f"{row['mechanism']:<10}{row['distribution']:<39}{row['share']:>6.0%}{row['wanted']:>7}{row['missed']:>7}{row['too_rare']:>9}"
            f"{row['covered']:>7} of {row['reported']:<3}{row['randomize_seconds']:>9.2f} s{row['find_seconds']:>6.2f} s"
        )
    covered, reported = sum(row["covered"] for row in rows), sum(row["reported"] for row in rows)
    print(f"\n{covered} of {reported} intervals at 95 % cover the truth ({covered / max(1, reported):.1%})")


if __name__ == "__main__":
    main()
