"""Which carrier-and-airport pairs are frequent, when nobody made a list? python examples/frequent_words.py"""

from __future__ import annotations

from collections import Counter

from deniable.cli.flights import flights
from deniable.core import PrefixExtendingMethod, Text
from deniable.estimators import heavy_hitters


def main() -> None:
    """Five letters such as UAEWR: 256^5 possible texts, a few dozen real ones."""
    data = flights()
    words = [f"{carrier}{origin}" for carrier, origin in zip(data.carrier.tolist(), data.origin.tolist(), strict=True)]
    found = heavy_hitters(PrefixExtendingMethod(domain=Text(5), epsilon=4).randomize_many(words), share=0.05)
    real = Counter(words)
    low, high = found.shares.interval()
    for i, word in enumerate(found.words):
        print(f"{word} {float(found.shares.value[i]):.3f} ({low[i]:.3f} to {high[i]:.3f}); truth {real[word] / len(words):.3f}")
    missed = [word for word, count in real.items() if count / len(words) > 0.05 and word not in found.words]
    print(f"missed above 5 %: {len(missed)}")


if __name__ == "__main__":
    main()
