"""What somebody reads out of a stolen disk: versions of the sums, reports and keys in the raw bytes of files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from deniable.surveys import Survey


def raw(folder: Path) -> bytes:
    """Everything below a folder, whatever the files are called."""
    return b"\0".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def versions(data: bytes, survey: Survey) -> list[int]:
    """The numbers of reports of every version of a survey's sums that can be found: n and n + 1 give away one report."""
    mark = b"da\x01" + bytes.fromhex(survey.mechanism.fingerprint)
    places, at = [], data.find(mark)
    while at >= 0:
        places.append(at + len(mark))
        at = data.find(mark, at + 1)
    return sorted({int.from_bytes(data[place : place + 8], "big") for place in places})


def singled_out(seen: list[int]) -> int:
    """How many single reports follow from these versions by differencing."""
    return sum(later - earlier == 1 for earlier, later in pairwise(seen))


def places_of(data: bytes, marks: Iterable[bytes]) -> list[int]:
    """Where each mark stands first; -1 where it does not."""
    return [data.find(mark) for mark in marks]


def rank_correlation(places: Sequence[int]) -> float:
    """Of places with the order of arrival: near 1 or -1 where a file tells who came first, near 0 where it does not."""
    ranks = np.argsort(np.argsort(places))
    return float(np.corrcoef(ranks, np.arange(len(places)))[0, 1])
