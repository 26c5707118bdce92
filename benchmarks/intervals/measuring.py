"""Many surveys of one setting: how often every answer held, and how wide it was.

A setting is simulated 200 times. It goes on, 200 at a time up to 2,000, while an answer that held in fewer than 93.5 % of the
first 200 is neither cleared nor failed; only such answers are asked again. One is cleared when what was seen is a hundred
times as likely under a coverage of 93.5 % as under 90 % (Wald's sequential test: one whose coverage is 90 % is cleared by
chance at most once in a hundred times), and it fails when it would hold so seldom by chance less than once in 1,000 runs of
the whole table, every look at every answer counted as a test of its own (Bonferroni).
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Container
from math import log
from typing import Any

import numpy as np
from scipy import special

from deniable.batch import Flags
from intervals.answers import Cell
from intervals.families import trial_of

LEAST = 0.935
POOR = 0.9
"""A coverage that shall not be taken for the least one."""
CLEARED = 100.0
REPETITIONS, MANY, QUICK = 200, 2000, 20
LOOKS = MANY // REPETITIONS
MOST_ANSWERS = 100_000
"""More than the whole table has."""
FALSE_ALARMS = 1e-3
SMALLEST = 30
"""Answers that were given less often (words that are seldom found) say too little to look further."""
Counts = dict[str, dict[str, Any]]


def simulate(cell: Cell, repetitions: range, counts: Counts, stream: Any = None, wanted: Container[str] | None = None) -> None:
    """Add what these repetitions say: for every answer how often it was asked, and by place how often it held, and half-widths.

    `wanted` names the answers that are looked at, when not all are.
    """
    trial = trial_of(cell)
    for repetition in repetitions:
        draws = np.random.default_rng([zlib.crc32(cell.key.encode()), repetition])
        for answer in trial(draws, stream):
            size = len(answer.truth)
            name = f"{answer.estimator}|{answer.target}"
            if wanted is not None and name not in wanted:
                continue
            kept = counts.setdefault(name, {"asked": 0, "held": np.zeros(size), "half": np.zeros(size)})
            kept["asked"] += 1
            kept["held"] = kept["held"] + answer.held
            kept["half"] = kept["half"] + answer.half


def fails(held: Any, asked: int, tests: int) -> Flags:
    """Which answers would hold so seldom by chance too rarely, were their coverage the least one; so many tests are made."""
    return np.asarray(special.bdtr(np.asarray(held), asked, LEAST) < FALSE_ALARMS / tests)


def cleared(held: Any, asked: int) -> Flags:
    """Which answers speak for the least coverage rather than for a poor one."""
    held = np.asarray(held)
    return np.asarray(held * log(LEAST / POOR) + (asked - held) * log((1 - LEAST) / (1 - POOR)) >= log(CLEARED))


def looking_low(counts: Counts) -> dict[str, Flags]:
    """The answers that held in fewer than 93.5 % of the surveys."""
    low = {name: kept["held"] < LEAST * kept["asked"] for name, kept in counts.items() if kept["asked"] >= SMALLEST}
    return {name: which for name, which in low.items() if which.any()}


def decided(counts: Counts, low: dict[str, Flags]) -> bool:
    """Is every answer that looked low cleared, or does one of them fail?"""
    every = True
    for name, which in low.items():
        held, asked = counts[name]["held"][which], counts[name]["asked"]
        if fails(held, asked, MOST_ANSWERS * LOOKS).any():
            return True
        every = every and bool(cleared(held, asked).all())
    return every


def measure(cell: Cell, repetitions: int, most: int) -> dict[str, Any]:
    """First a few repetitions, and more while an answer that looks low is undecided."""
    began, counts = time.process_time(), Counts()
    simulate(cell, range(repetitions), counts)
    low = looking_low(counts)
    while repetitions < most and not decided(counts, low):
        simulate(cell, range(repetitions, repetitions + REPETITIONS), counts, wanted=low)
        repetitions += REPETITIONS
    answers = {
        name: {
            "asked": kept["asked"],
            "held": kept["held"].astype(int).tolist(),
            "half": [float(f"{half:.4g}") for half in kept["half"] / kept["asked"]],
        }
        for name, kept in counts.items()
    }
    seconds = round(time.process_time() - began, 2)
    return {"key": cell.key, "repetitions": repetitions, "seconds": seconds, "answers": answers}
