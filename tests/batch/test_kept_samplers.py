"""A sampler is built once for a channel, and never serves another one."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from deniable.batch import randomize, randomize_many, samplers
from deniable.batch.kept import KEPT
from deniable.core import Categories, Channel, make_mechanism


def test_the_same_channel_gets_the_same_sampler() -> None:
    mechanism = make_mechanism("laplace", epsilon=1)
    assert samplers.sampler_for(mechanism.channel) is samplers.sampler_for(mechanism.channel)


def test_the_second_batch_builds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = make_mechanism("laplace", epsilon=1)
    randomize_many(mechanism, [0.5])

    def refuse(channel: Channel) -> None:
        raise AssertionError("built again")

    monkeypatch.setattr(samplers, "_build", refuse)
    monkeypatch.setattr(randomize, "_prepare", refuse)
    assert len(randomize_many(mechanism, [0.5] * 10)) == 10


def test_few_samplers_are_kept() -> None:
    for size in range(2, 40):
        samplers.sampler_for(make_mechanism("k-rr", domain=Categories(size), epsilon=1).channel)
    assert len(samplers._SAMPLERS.kept) == KEPT


def test_a_forgotten_channel_leaves_no_sampler_to_a_newer_one() -> None:
    # Freed channels give their numbers to later ones; epsilon 12 keeps nearly every value, epsilon 0.01 hardly any.
    values = np.zeros(2000, np.int64)
    gc.collect()
    gc.freeze()  # what other tests left behind need not be searched forty times
    try:
        for turn in range(40):
            strong = turn % 2 == 0
            mechanism = make_mechanism("k-rr", domain=Categories(1000), epsilon=0.01 if strong else 12)
            kept = int((randomize_many(mechanism, values).outputs == 0).sum())
            assert kept < 100 if strong else kept > 1900
            del mechanism
            gc.collect()
    finally:
        gc.unfreeze()
