"""A made-up language: the pages with every word of words.js put in brackets show nothing else that a script wrote."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from tests.collector.dashboard.test_browser import CHROMIUM, Visit, chromium, served
from tests.collector.running import Running, call

from deniable.collector.dashboard.pages import STATIC, frame_words

__all__ = ["chromium", "served"]
pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="/usr/bin/chromium is not there: apt-get install chromium"),
]
TRANSLATED = """
const said = (word) => {
  if (typeof word === "string") return /[a-z]/i.test(word) ? `\u27e6${word}\u27e7` : word;
  if (typeof word === "function") return (...given) => said(word(...given));
  if (Array.isArray(word)) return word.map(said);
  return Object.fromEntries(Object.entries(word).map(([name, inside]) => [name, said(inside)]));
};
"""
TEXTS = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (!node.parentElement.closest("noscript, script, code")) texts.push(node.data);
  }
  for (const node of document.querySelectorAll("[aria-label]")) texts.push(node.getAttribute("aria-label"));
  return texts;
}"""


def pseudo() -> str:
    text = (STATIC / "words.js").read_text(encoding="utf-8")
    names = re.findall(r"^export const (\w+)", text, re.MULTILINE)
    kept = re.sub(r"^export const (\w+)", r"const \1_", text, flags=re.MULTILINE)
    made = [f"export const {name} = said({name}_);" for name in names if name != "FRAME"]
    frame = 'export const FRAME = { ...said(FRAME_), language: "en" };'
    return "\n".join([TRANSLATED, kept, *made, frame])


def strings(document: Any) -> list[str]:
    if isinstance(document, dict):
        return [one for value in document.values() for one in strings(value)] + list(document)
    if isinstance(document, list):
        return [one for value in document for one in strings(value)]
    return [document] if isinstance(document, str) else []


def left_over(text: str, told: list[str]) -> str:
    """What of a text is neither in brackets nor something that the collector said."""
    before = None
    while before != text:
        before = text
        text = re.sub("\u27e6[^\u27e6\u27e7]*\u27e7", "", text)
    for one in told:
        text = text.replace(one, "")
    return text


@pytest.mark.parametrize("page", ["", "results", "privacy", "explore", "answer"])
def test_a_translation_is_one_file(chromium: Any, served: Running, page: str) -> None:
    visit = Visit(chromium, served)
    visit.page.route("**/static/words.js", lambda route: route.fulfill(body=pseudo(), content_type="text/javascript"))
    addresses = ["v1/surveys", f"v1/surveys/{served.hash}/estimates", f"dashboard/surveys/{served.hash}/privacy"]
    addresses += [f"dashboard/surveys/{served.hash}/explorer?attribute=commute&step=4&position=5"]
    told = [one for address in addresses for one in strings(json.loads(call(f"{served.address}/{address}")[1]))]
    # What the collector wrote into the page itself, and kinds of files.
    told += [*re.findall(r"'(\w+)'", " ".join(told)), *frame_words().values(), "CSV", "JSON"]
    told = sorted((one for one in told if len(one) > 2), key=len, reverse=True)
    shown = visit.go(page)
    shown.locator({"": ".card", "answer": "form"}.get(page, "h2")).first.wait_for()
    texts = shown.evaluate(TEXTS)
    assert sum("\u27e6" in text for text in texts) > 5
    if page == "answer":  # its explanation and its questions come from the client and from the survey
        texts = [text for text in texts if "\u27e6" in text]
    left = [over for text in texts if re.search("[A-Za-z]{2}", over := left_over(text, told))]
    assert left == []
    visit.close()
