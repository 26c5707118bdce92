"""What a stolen disk holds: no single report of a survey that keeps none, beyond what the pages say."""

from __future__ import annotations

import asyncio
import secrets
import time
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from deniable.collector import Arrival, Store, Writer
from deniable.surveys import Survey, survey_from_toml

from .raw_files import raw, singled_out, versions

TOML = """
title = "Travel"
purpose = "To plan bus lines."
epsilon = 1
[attributes.commute]
question = "How did you get to work today?"
domain = "categories:bike,bus,car,walk"
"""


def arrivals(survey: Survey, count: int) -> list[Arrival]:
    return [Arrival(survey, "", secrets.token_bytes(16), [survey.mechanism.randomize("bus")], 1) for _ in range(count)]


def one_by_one(writer: Writer, coming: list[Arrival]) -> None:
    async def all_of_them() -> None:
        for arrival in coming:
            assert await writer.count([arrival]) == [True]

    asyncio.run(all_of_them())


def wait_until_tidy(folder: Path, survey: Survey, patience: float = 30.0) -> list[int]:
    """The versions in the files, after the collector had the time that it promises to need."""
    end = time.monotonic() + patience
    while len(found := versions(raw(folder), survey)) > 1 and time.monotonic() < end:
        time.sleep(0.05)
    return found


def test_no_report_is_left_in_the_files_after_a_moment(tmp_path: Path) -> None:
    survey = survey_from_toml(TOML)
    store = Store(f"sqlite:///{tmp_path / 'collector.db'}")
    store.add_survey(survey)
    writer = Writer(store)
    one_by_one(writer, arrivals(survey, 25))
    assert singled_out(versions(raw(tmp_path), survey)) > 0, "the test looks in the wrong place"
    left = wait_until_tidy(tmp_path, survey, 3.0)
    writer.close()
    store.close()
    assert (singled_out(left), left) == (0, [25])
