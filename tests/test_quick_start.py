"""The quick start shows the example it uses, the README says the same, and the comparison behind it can fail."""

from __future__ import annotations

import re
import tomllib

import pytest
from tests.following import ROOT, agrees, blocks, compared, page_blocks, steps

PAGE = (ROOT / "docs" / "quick-start.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_page_shows_the_example_it_uses() -> None:
    assert blocks(PAGE, "toml") == [(ROOT / "examples" / "survey" / "survey.toml").read_text(encoding="utf-8")]


def test_the_extra_that_is_installed_exists_and_brings_a_server() -> None:
    (install, _), *_ = steps(PAGE)
    assert install == "pip install '.[collector,arrays]'"
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert any(package.startswith("uvicorn") for package in extras["collector"])


def test_another_line_does_not_agree() -> None:
    assert agrees("car 33.8 % 30.9 % 36.7 %", "car 34.1 % 31 % 37.12 %", leeway=2)
    assert not agrees("car 33.8 % 30.9 % 36.7 %", "car 34.1 % 31 % 37.12 %")
    assert not agrees("car 33.8 % 30.9 % 36.7 %", "car 34.1 % 31 % 39.12 %", leeway=2)
    assert not agrees("car 33.8 % 30.9 % 36.7 %", "bus 33.8 % 30.9 % 36.7 %", leeway=2)
    assert not agrees("5,000 reports counted", "5,000 reports")
    assert not agrees("5,000 reports counted", "50 reports counted", leeway=9)
    assert agrees("… of 5,000 reports", "2,449 of 5,000 reports", leeway=1)
    assert not agrees("Travel: <hash>", "Travel: 12")


def test_lines_must_come_in_order_and_none_may_be_missing() -> None:
    compared(["a", "", "…", "c ── d"], ["a", "b", "b", "c  d"])
    for expected, actual in ((["a", "b"], ["b", "a"]), (["a"], ["a", "b"]), (["a", "b"], ["a"]), (["…", "b"], ["b", "c"])):
        with pytest.raises(AssertionError):
            compared(expected, actual)


def test_a_command_may_go_on_in_the_next_line() -> None:
    assert steps("```console\n$ a --b \\\n    --c\nsaid\n```\n") == [("a --b --c", ["said"])]


def test_leeway_is_what_the_sentence_above_says() -> None:
    text = "Yours differ, each number by less than 7:\n\n```console\n$ a\n```\n\nNow:\n\n```console\n$ b\n```\n"
    assert [(block.kind, block.leeway) for block in page_blocks(text)] == [("console", 7.0), ("console", 0.0)]


def test_the_readme_says_what_the_page_says() -> None:
    section = re.search(r"^## A survey in four commands\n(.*?)(?=^## |\Z)", README, re.MULTILINE | re.DOTALL)
    if section is None:
        pytest.skip("README has no quick start yet: its heading is 'A survey in four commands'")
    assert [text for text, _ in steps(section[1])] == [text for text, _ in steps(PAGE)]
    assert len(section[0].rstrip().splitlines()) <= 15
    assert "docs/quick-start.md" in section[1]
