"""Many surveys of one setting: how often every answer held, and how wide it was."""

from __future__ import annotations

import time
import zlib
from typing import Any

import numpy as np

from intervals.answers import Cell
from intervals.families import trial_of

LEAST = 0.935
REPETITIONS, MANY, QUICK = 200, 2000, 20
SMALLEST = 30
"""Answers that were given less often (words that are seldom found) say too little to look further."""


def simulate(cell: Cell, repetitions: range, counts: dict[str, dict[str, Any]], stream: Any = None) -> None:
    """Add what these repetitions say: for every answer how often it was asked, and by place how often it held, and half-widths."""
    trial = trial_of(cell)
    for repetition in repetitions:
        draws = np.random.default_rng([zlib.crc32(cell.key.encode()), repetition])
        for answer in trial(draws, stream):
            size = len(answer.truth)
            name = f"{answer.estimator}|{answer.target}"
            kept = counts.setdefault(name, {"asked": 0, "held": np.zeros(size), "half": np.zeros(size)})
            kept["asked"] += 1
            kept["held"] = kept["held"] + answer.held
            kept["half"] = kept["half"] + (answer.high - answer.low) / 2


def looks_low(counts: dict[str, dict[str, Any]]) -> bool:
    """Did an answer hold in fewer than 93.5 % of the surveys?"""
    return any(kept["asked"] >= SMALLEST and kept["held"].min() < LEAST * kept["asked"] for kept in counts.values())


def measure(cell: Cell, repetitions: int, most: int) -> dict[str, Any]:
    """First a few repetitions, and many where an answer looks low."""
    began, counts = time.process_time(), dict[str, dict[str, Any]]()
    simulate(cell, range(repetitions), counts)
    if most > repetitions and looks_low(counts):
        simulate(cell, range(repetitions, most), counts)
        repetitions = most
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
