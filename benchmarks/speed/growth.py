"""How the time grows with users and with values, and how near the work comes to what the machine can do at all."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import deniable
from deniable.batch import Reports, accumulator_for, randomize_many
from deniable.core import make_mechanism
from deniable.estimators import support_counts

Work = Callable[[], Any]


@contextmanager
def one_core() -> Iterator[None]:
    """Everything in between runs on one processor, where the system allows to ask for it."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def best_of_turns(works: list[Work], repeats: int, clock: Callable[[], float] = time.perf_counter) -> list[float]:
    """The best seconds of each, taking turns: what they share is the state of the machine.

    On one core the processor's own time (`time.process_time`) is the better clock: long runs are interrupted by other work,
    short ones often are not, which would look like growth.
    """
    best = [float("inf")] * len(works)
    for _ in range(repeats):
        for place, work in enumerate(works):
            begin = clock()
            work()
            best[place] = min(best[place], clock() - begin)
    return best


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """The slope of a straight line through the points, both axes logarithmic."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def numeric_values(count: int) -> Any:
    """Numbers all over [0, 1]."""
    return np.resize(np.random.Generator(np.random.PCG64(1)).random(1_000_003), count)


def in_users(most: int, repeats: int) -> list[dict[str, Any]]:
    """Privatising, from 10**5 users to `most`, on one core: a second thread begins at 131,072 and would bend the line."""
    sizes = [int(size) for size in np.round(np.geomspace(1e5, most, 2 * round(np.log10(most / 1e5)) + 1))]
    rows = []
    for label, mechanism, values in (
        ("k-RR, k=100", make_mechanism("k-rr", domain=deniable.Categories(100), epsilon=1), np.resize(np.arange(100), most)),
        ("window", make_mechanism("window", epsilon=1), numeric_values(most)),
    ):
        randomize_many(mechanism, values[:1000])
        with one_core():
            works = [partial(randomize_many, mechanism, values[:size]) for size in sizes]
            # Short runs are disturbed more easily, and cost less: repeat them more often.
            times = [
                best_of_turns([work], max(repeats, min(200, int(2e7 * repeats / size))), time.process_time)[0]
                for work, size in zip(works, sizes, strict=True)
            ]
        rows.append({"case": label, "sizes": sizes, "seconds": times, "exponent": exponent(sizes, times)})
    return rows


def in_values(repeats: int, most: int) -> list[dict[str, Any]]:
    """Decoding, from about 4,000 values to `most`. Small fields keep projective's k near powers of its field."""
    rows = []
    for name in ("hadamard", "projective"):
        sizes, works = [], []
        size = 4000
        while size <= most:
            mechanism = make_mechanism(name, domain=deniable.Categories(size), epsilon=1)
            sums = accumulator_for(mechanism).add(randomize_many(mechanism, np.resize(np.arange(size), 100_000)))
            work = partial(support_counts, sums)
            work()
            sizes.append(size)
            works.append(work)
            size *= 2
        with one_core():
            times = best_of_turns(works, repeats, time.process_time)
        rows.append({"case": f"{name} decode", "sizes": sizes, "seconds": times, "exponent": exponent(sizes, times)})
    return rows


def limits(count: int) -> dict[str, Work]:
    """What the machine can do at all, each on `count` items."""
    generator, doubles = np.random.Generator(np.random.PCG64(0)), np.empty(count)
    source, target = np.zeros(8 * count, np.uint8), np.empty(8 * count, np.uint8)
    block, out = bytes(1 << 17), bytearray((1 << 17) + 16)

    def cipher() -> None:
        encryptor = Cipher(algorithms.AES(bytes(32)), modes.CTR(bytes(16))).encryptor()
        for _ in range(8 * count // len(block)):
            encryptor.update_into(block, out)

    return {
        "PCG64 doubles": lambda: generator.random(out=doubles),
        "AES-CTR, 8 bytes each": cipher,
        "memcpy, 8 bytes each": lambda: np.copyto(target, source),
    }


def fractions(count: int, repeats: int) -> list[dict[str, Any]]:
    """Ours as a fraction of a limit, in the same turns; as the library runs by itself, and on one core."""
    k_rr = make_mechanism("k-rr", domain=deniable.Categories(100), epsilon=1)
    window = make_mechanism("window", epsilon=1)
    wholes, reals = np.resize(np.arange(100), count), numeric_values(count)
    bound = limits(count)
    few, many = randomize_many(k_rr, wholes), randomize_many(window, reals)
    bound["bincount, 100 outputs"], bound["bincount, 2**20 outputs"] = counting(few), counting(many)
    cases = {
        "privatise k-RR, k=100": (partial(randomize_many, k_rr, wholes), "PCG64 doubles"),
        "privatise window": (partial(randomize_many, window, reals), "PCG64 doubles"),
        "fold k-RR, k=100": (partial(fold, few), "bincount, 100 outputs"),
        "fold window": (partial(fold, many), "bincount, 2**20 outputs"),
    }
    works = [*bound.values(), *(work for work, _ in cases.values())]
    names = [*bound, *cases]
    best_of_turns(works, 1)
    by_itself = dict(zip(names, best_of_turns(works, repeats), strict=True))
    with one_core():
        alone = dict(zip(names, best_of_turns(works, repeats, time.process_time), strict=True))
    rows: list[dict[str, Any]] = [{"case": name, "limit": None, "per_second": count / alone[name]} for name in bound]
    for name, (_, limit) in cases.items():
        rows.append(
            {
                "case": name,
                "limit": limit,
                "per_second": count / by_itself[name],
                "fraction": by_itself[limit] / by_itself[name],
                "per_second_one_core": count / alone[name],
                "fraction_one_core": alone[limit] / alone[name],
            }
        )
    return rows


def fold(reports: Reports) -> Any:
    """One pass over reports that stand in memory."""
    return accumulator_for(reports.mechanism).add(reports)


def counting(reports: Reports) -> Work:
    """numpy's own counting of the same outputs, which it wants as int64: their conversion is not on its bill."""
    outputs, width = reports.outputs.astype(np.int64), reports.mechanism.channel.outputs
    return lambda: np.bincount(outputs, minlength=width)
