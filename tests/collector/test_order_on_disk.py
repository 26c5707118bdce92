"""What the collector's file says about who came first: of reports that came through a shuffler, only which request brought them."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from tests.collector.anonymous import survey_with
from tests.collector.raw_files import places_of, rank_correlation, raw

from deniable.collector import Arrival, Mixing, Sealed, Store
from deniable.surveys import Survey

ON_ONE_PAGE = 120
"""Keys that fit on one page of SQLite, where later ones would lie before earlier ones."""
LIMIT = 5 / np.sqrt(ON_ONE_PAGE - 1)
"""Of a rank correlation: a uniform order exceeds five standard deviations less than once in a million."""


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def survey() -> Survey:
    return survey_with(tokens=None, reports=ON_ONE_PAGE)


def counted(folder: Path, survey: Survey, requests: Iterable[Sequence[bytes]], *, tokens: bool = False) -> bytes:
    """The raw files of a collector after these requests, one transaction each; a token's name is its report's key, turned round."""
    folder.mkdir()
    with closing(Store(f"sqlite:///{folder / 'collector.db'}")) as store:
        store.add_survey(survey)
        report = survey.mechanism.randomize("bus")
        for keys in requests:
            store.count([Arrival(survey, "", key, [report], 1, key[::-1] if tokens else None) for key in keys])
        assert store.tidy()
    return raw(folder)


def mixed(folder: Path, keys: Sequence[bytes]) -> list[bytes]:
    """The same keys as a shuffler passes them on: they arrive one by one, with crashes in between, and leave as one batch."""
    folder.mkdir()
    mixing = Mixing(folder / "shuffler.db")
    mixing.open("a")
    for number, key in enumerate(keys):
        mixing.add("a", [Sealed(key, key, key)])
        if number % 40 == 20:
            mixing.abandon()
            mixing = Mixing(folder / "shuffler.db")
            mixing.open("a")
    assert mixing.release("a", at_least=len(keys), seconds=0)
    (batch,) = mixing.sending()
    leaving = mixing.chunk(batch)
    mixing.close()
    return leaving


@pytest.mark.parametrize("tokens", [False, True], ids=["receipts", "spent tokens"])
def test_the_keys_of_one_request_lie_by_their_bytes_whatever_their_order(tmp_path: Path, survey: Survey, tokens: bool) -> None:
    before, keys = ([secrets.token_bytes(16) for _ in range(count)] for count in (300, 1000))
    shuffled = [keys[place] for place in np.random.default_rng(3).permutation(len(keys))]
    files = [
        counted(tmp_path / name, survey, [before, order], tokens=tokens)
        for name, order in (("one", keys), ("reversed", keys[::-1]), ("shuffled", shuffled))
    ]
    names = [key[::-1] for key in keys] if tokens else keys
    places = [places_of(file, names) for file in files]
    assert min(places[0]) > 0
    assert places[0] == places[1] == places[2]


def test_behind_a_shuffler_the_file_does_not_say_who_came_first(tmp_path: Path, survey: Survey) -> None:
    keys = [secrets.token_bytes(16) for _ in range(ON_ONE_PAGE)]
    # Alone, one by one: here the file does say it, so this test looks in the right place.
    direct = places_of(counted(tmp_path / "direct", survey, [[key] for key in keys]), keys)
    assert abs(rank_correlation(direct)) > 0.95
    leaving = mixed(tmp_path / "shuffler", keys)
    assert sorted(leaving) == sorted(keys)
    assert abs(rank_correlation([leaving.index(key) for key in keys])) < LIMIT
    for name, requests in (
        ("whole", [leaving]),
        ("in parts", [leaving[begin : begin + 10] for begin in range(0, len(leaving), 10)]),
    ):
        behind = places_of(counted(tmp_path / name, survey, requests), keys)
        assert min(behind) > 0
        assert abs(rank_correlation(behind)) < LIMIT, name
    # In parts, the file says which part a key came with, and no more: the parts are the shuffler's.
    assert abs(rank_correlation([behind[keys.index(key)] for key in leaving])) > 0.9


def test_the_files_of_two_orders_of_arrival_cannot_be_told_apart(tmp_path: Path, survey: Survey) -> None:
    """Whatever the order of arrival, a batch that leaves as one request makes the same file."""
    keys = [secrets.token_bytes(16) for _ in range(ON_ONE_PAGE)]
    files = []
    for name, order in (("forward", keys), ("backward", keys[::-1])):
        leaving = mixed(tmp_path / f"{name}-shuffler", order)
        files.append(places_of(counted(tmp_path / name, survey, [leaving]), keys))
    assert files[0] == files[1]
