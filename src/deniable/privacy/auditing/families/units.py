"""Single bytes, digits and characters of every field."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deniable.privacy.auditing.events import Feature, contrast
from deniable.privacy.auditing.field_readings import Words, readings
from deniable.privacy.auditing.fields import Table

MOST_FEATURES = 8
AT_ONCE = 128


def propose(fit: Table, inputs: int) -> Iterator[Feature]:
    """The units in which the test values look least alike."""
    scores, owners = [], []
    for words in readings(fit):
        if words.names:
            continue  # small fields are tested by their values
        units = words.read(fit)
        for start in range(0, words.width, AT_ONCE):
            part = units[:, start : start + AT_ONCE]
            width = part.shape[1]
            codes = (fit.places[:, None] * width + np.arange(width)) * 256 + part
            counts = np.bincount(codes.ravel(), minlength=inputs * width * 256).reshape(inputs, width, 256)
            scores.append(contrast(counts.transpose(1, 0, 2)))
        owners += [(words, place) for place in range(words.width)]
    if scores:
        for best in np.argsort(np.concatenate(scores))[::-1][:MOST_FEATURES]:
            yield _unit(*owners[int(best)])


def _unit(words: Words, place: int) -> Feature:
    return Feature(words.label(place), lambda table: words.read(table)[:, place].astype(np.intp), words.radix)
