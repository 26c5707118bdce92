"""Digits of 7 x 7 pixels, all perturbed, before a small convolutional network."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from deniable.studies import Feature, as_model, perturbations, product_law, study
from deniable_reproduce.artifact import Run
from deniable_reproduce.case_data import SIDE, digit_network, digits
from deniable_reproduce.case_studies import SHOWN, Row, rho_rows
from deniable_reproduce.pac_privacy import indicator_utility
from deniable_reproduce.pictures import significant
from deniable_reproduce.tested_boxes import sampled_box

DELTA = 0.1
NAMES = ("ogpm", "redesigned-sw", "exponential", "k-rr")
PIXELS = SIDE * SIDE
SHORT, LONG = 50, 200
"""Rounds of training in quick and in full mode."""


@lru_cache(maxsize=2)
def network(epochs: int) -> tuple[Any, Any, Any, str, float]:
    """The trained network, images, labels, where they come from, and the share it gets right without noise."""
    table, labels, source = digits()
    if epochs < LONG:
        # A few hundred images train a network that is good enough to look at.
        table, labels = table[::3], labels[::3]
    model = as_model(digit_network(table, labels, epochs), shape=(1, SIDE, SIDE))
    return model, table, labels, source, float(np.mean(model.labels(table) == labels))


def first_images(labels: Any, wanted: tuple[int, ...]) -> list[int]:
    """The first image of each wanted digit."""
    return [int(np.flatnonzero(labels == digit)[0]) for digit in wanted]


def image_rows(run: Run, image: int, levels: Any, evaluations: int, purpose: str) -> list[Row]:
    """ρ of one image under every mechanism, from one shared sample of the network's answers."""
    model, table, _, _, _ = network(run.repetitions(SHORT, LONG))
    question = study(model, table[[image]], {i: Feature(0, 1) for i in range(PIXELS)})
    empirical = run.repetitions(300, 2000)
    rows: list[Row] = run.once(
        purpose,
        lambda: rho_rows(question, NAMES, levels, run, purpose, indicator=DELTA, evaluations=evaluations, empirical=empirical),
    )
    return rows


def tested_boxes(run: Run, image: int, levels: Any, purpose: str) -> list[Row]:
    """Pr[M in the box] for a box that testing accepts with tolerance 0.01: what the source calls theoretical."""
    model, table, _, _, _ = network(run.repetitions(SHORT, LONG))
    answer = model.labels(table[[image]])[0]
    point = [float(value) for value in table[image]]
    rows: list[Row] = []
    for name in ("ogpm", "k-rr"):
        law = product_law(perturbations(name, [Feature(0, 1)] * PIXELS, 4), point)
        box = sampled_box(
            lambda given: np.asarray(model.labels(given) == answer),
            law,
            point,
            tolerance=0.01,
            radius_steps=7,
            side_steps=run.repetitions(0, 2),
            keystream=run.keystream(f"{purpose} box {name}"),
        ).box
        for epsilon in levels:
            own = product_law(perturbations(name, [Feature(0, 1)] * PIXELS, epsilon), point)
            inside = 0.0 if box is None else own.probability(box.low, box.high)
            rows.append({"mechanism": SHOWN[name], "epsilon": epsilon, "box": significant(indicator_utility(inside, DELTA), 6)})
    return rows
