"""Draw the pictures of docs/repeated-collection.md: python docs/stream_charts.py [DIRECTORY]"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from deniable.batch import Reports, draw_many
from deniable.charts import save, stream_chart, trend_chart
from deniable.core import (
    Categories,
    FreshReports,
    KeptAnswer,
    RandomizedResponse,
    RandomPeriod,
    Stream,
    TakingTurns,
    make_mechanism,
)
from deniable.estimators import trend
from deniable.privacy import FixedKeystream

LENGTHS = [1 << power for power in range(1, 10)]


def main() -> None:
    """Losses over the length of a life, and a trend of made-up answers on fixed coins."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "images")
    coin = RandomizedResponse(epsilon=1)
    streams: dict[str, list[Stream]] = {
        "fresh reports, ε = 1": [FreshReports(length, coin) for length in LENGTHS],
        "turns of 7, ε = 1": [TakingTurns(length, coin, turns=min(7, length)) for length in LENGTHS],
        "kept answer, 1/2 and 1": [KeptAnswer(length, 2, epsilon="1/2", permanent=1) for length in LENGTHS],
        "one random period, ε = 1": [RandomPeriod(length, coin) for length in LENGTHS],
    }
    save(stream_chart(streams), str(folder / "streams.svg"))
    random, keystream = np.random.default_rng(1), FixedKeystream(1)
    mechanism = make_mechanism("k-rr", domain=Categories(["bus", "bike", "car"]), epsilon=1)
    days = []
    for day in range(30):
        law = (0.5, 0.2, 0.3) if day < 12 else (0.3, 0.4, 0.3) if day < 20 else (0.3, 0.2, 0.5)
        people = random.choice(3, 20_000, p=law)
        days.append(Reports(mechanism, draw_many(mechanism.channel, people, keystream)))
    save(trend_chart(trend(days)), str(folder / "trend.svg"))


if __name__ == "__main__":
    main()
