"""Every word of the pages is in one file, so that a translation is one file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest

pytest.importorskip("starlette", reason="the collector's packages are not installed")

from deniable.collector.dashboard.pages import PAGES, STATIC, frame_words
from deniable.estimators.questions import Question

WORDS = (STATIC / "words.js").read_text(encoding="utf-8")
SCRIPTS = sorted(path for path in STATIC.glob("*.js") if path.name != "words.js")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`')
TWO_WORDS = re.compile(r"[A-Za-z]{2,}[,:;]? [A-Za-z]{2,}")
NOT_SHOWN = {"card good", "quiet break", "being made"}
"""Names of looks, and a part of a note that is looked for."""
NAMES = {"Accept", "Authorization", "Bearer", "CSV", "JSON", "Survey.from_json(data, hash=…)"}
"""Of headers, of kinds of files, of a function: the same in every language."""


def shown(text: str) -> Iterator[str]:
    """The literals of a script that look like something to read."""
    code = re.sub(r"^\s*//[^\n]*|\s// [^\n]*|/\*\*.*?\*/", "", text, flags=re.MULTILINE | re.DOTALL)
    code = re.sub(r"/\[[^/\n]*\]/|'[^'\n]*'", "", code)  # patterns, and quotes in quotes
    for match in LITERAL.finditer(code):
        words = re.sub(r"\$\{[^}]*\}", "", match[1] or match[2] or "")
        capital = re.match(r"\W*[A-Z][a-z]", words) and not words.startswith(("Circle", "Binary"))
        if (TWO_WORDS.search(words) or capital) and words.strip() not in NAMES | NOT_SHOWN:
            yield words


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_script_has_words_of_its_own(path: Any) -> None:
    text = path.read_text(encoding="utf-8")
    assert list(shown(text)) == []
    assert list(shown(f'{text}\nelement("p", {{}}, "Planted here", `${{n}} planted there`);')) == ["Planted here", " planted there"]


def test_every_word_is_used() -> None:
    used = "".join(path.read_text(encoding="utf-8") for path in SCRIPTS)
    for block in re.finditer(r"^export const (\w+) = \{\n(.*?)^\};", WORDS, re.MULTILINE | re.DOTALL):
        for name in re.findall(r"^  \"?(\w+)\"?:", block[2], re.MULTILINE):
            indexed = (block[1], name) in {("COMPARED", "mean"), ("COMPARED", "median")} or block[1] == "FRAME"
            assert indexed or f"{block[1]}.{name}" in used, f"{block[1]}.{name}"


def test_what_stands_before_the_script_comes_from_the_same_file() -> None:
    assert set(PAGES.values()) < set(frame_words())
    html = (STATIC / "page.html").read_text(encoding="utf-8")
    text = re.sub(r"<[^>]*>", " ", html)
    assert {word for word in text.split() if not word.startswith("PAGE_")} == set()


def test_the_frame_is_json_for_the_collector_and_for_the_page() -> None:
    assert all(json.dumps(word, ensure_ascii=False) in WORDS for word in frame_words().values())


def test_every_kind_of_estimate_has_a_name_on_the_results_page() -> None:
    """Without one, the page showed its name in the code, and a table called "undefined with 95 % intervals"."""
    named = re.search(r"^  views: \{(.*?)\},$", WORDS, re.MULTILINE | re.DOTALL)
    assert named is not None
    kinds = {"words" if question == "heavy-hitters" else question for question in get_args(Question)} | {
        "cumulative",
        "tables",
        "trend",
    }
    assert kinds == set(re.findall(r'"?([\w-]+)"?: "', named[1]))
