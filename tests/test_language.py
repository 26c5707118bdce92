"""Plain English where people read: pages, help and messages avoid the phrasings that CONTRIBUTING.md lists.

Only what a pattern can decide is tested; the rest is reading aloud.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
SCRIPTS = sorted((ROOT / "src").rglob("static/*.js"))
PAGES = [
    ROOT / "README.md",
    ROOT / "examples" / "README.md",
    ROOT / "sdk" / "js" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]

# What to avoid, and how CONTRIBUTING.md names what to write instead.
AVOID = {
    r"(?:^|[.!?;] )Who (?:does|do|did|has|is|can|thought|wants?|trusts?|vanishes|knows|sees|sends)\b(?![^.]*\?)": "anyone who",
    r"(?<![Tt]here )\b(?:is|are|was|were) no (?:whole |finite |valid )?"
    r"(?:numbers?|degrees|text|report|model|class|list|label|proof|bound|fault|border|minority|promise|straight)\b": "not a",
    r"\bmade again\b": "reproduced",
    r"\b\d+ % fakes\b|\bfake (?:devices?|users?)\b": "malicious users",
    r"\b(?:not|be|are|is|were) told apart\b|\btold (?:the )?(?:\w+ ){1,3}apart\b": "indistinguishable from",
    r"\brooms\b": "package",
    r"\bSo (?:many|often|much) (?!that\b|of\b|as\b)[a-z]+": "how many",
    r"\bcounts? like\b": "as much as",
    r"\b[Hh]ow sure somebody\b": "an observer",
    r"\bthat is not shown\b(?! because)": "could not be shown",
    r"\bhis\b": "their",
    r"\b[Bb]elongs? into\b|\bfor ever\b": "in, forever",
    r"(?:^|[.!?] |^- )Whoever (?:answers|knows|has)\b": "anyone who answers",
    r"\b(?:edges|places|starts|levels) must grow\b": "increase",
    r"\bnot so many\b|\bfor so long\b": "not that many",
    r"\b[Aa] thousand million\b": "a billion",
    r"\b(?:estimate|error|fit|smoothing)s? (?:is|are|can be) (?:usually )?nearer\b": "closer to",
    r"\b(?:[Ff]or|[Aa]gainst|[Tt]o) whoever (?:sees|looks|may|runs)\b|(?:^|[.!?:] |\| )[Ww]hoever (?:sees|steals|writes|sends)\b": (
        "against anyone who"
    ),
    r"\b(?:mechanism|[a-z]+\}) reports no (?:numbers?|categories|directions|sets|keys)\b": "does not report",
    r"\btimes (?:surer|likelier)\b": "by a factor of",
    r"\b(?:[Ww]ritten down|writes? \w+ down) and waits?\b": "saved",
    r"\bno mechanism (?:of this epsilon )?passes\b": "can beat",
    r"\bstands? out of the noise\b": "stands out from",
    r"\b[Aa]bout [\d,]+ would do\b": "would be enough",
    r"\b[Ss]omebody else's\b|\b(?:when|what|if) somebody\b": "someone",
    r"\b(?:third|rest|other|local one) (?:is|are) found\b": "computed",
    r"\bat the most\b": "at most",
    r"\bso (?:many|few) (?:reports|values|people|users|symmetries)\b(?! that)": "that many",
    r"\blikelier (?:than ε|for$)|\bmakes? (?:an? )?[a-z ]+ likelier\b": "more likely",
    r"\bIf left out:|(?:^|[.;] )[Ll]eft out: (?:a|all) ": "by default",
    r"\bthis many; 0 means\b": "only this many",
}


def test_the_pages_avoid_what_the_style_guide_avoids() -> None:
    wrong = [
        f"{page.relative_to(ROOT)}:{number}: {match[0].strip()!r}; prefer {better!r}"
        for page in PAGES
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
        for match, better in found(line)
    ]
    assert wrong == []


@pytest.mark.slow
def test_help_and_messages_avoid_it_too() -> None:
    wrong = []
    for path in [*SOURCES, *SCRIPTS]:
        text = path.read_text(encoding="utf-8")
        if not ANY.search(text):
            continue  # parsing is the slow part
        spoken = strings(text, helps="cli" in path.parts) if path.suffix == ".py" else enumerate(text.splitlines(), 1)
        wrong += [f"{path.relative_to(ROOT)}:{line}: {match[0].strip()!r}" for line, words in spoken for match, _ in found(words)]
    assert wrong == []


def test_the_style_guide_has_a_line_for_every_pattern() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Words")[2]
    assert [better for better in AVOID.values() if f"| {better} |" not in guide] == []


@pytest.mark.parametrize(
    "sentence",
    [
        "A page is as trustworthy as its server. Who does not trust it takes another.",
        "Locations that are no numbers or no degrees.",
        "So many questions of this kind to everyone.",
        "A fake device counts like three people.",
        "at 7.846 that is not shown",
        "no event told the test values apart",
        "To whoever sees the reports before they are shuffled, each one has its own epsilon.",
        "A password belongs into the environment.",
        "- Whoever answers the same question twice spends twice.",
        "edges must grow, and be at least two",
        "there are not so many reports",
        "A thousand million users a day.",
        "A biased estimate can be nearer for data that suit it.",
        "| whoever steals the database or a backup | sums |",
        "{mechanism} reports no number on an interval",
        "Whoever sees it can become at most 2.72 times surer of one answer.",
        "Your report is written down and waits.",
        "a bound that no mechanism passes",
        "No word stands out of the noise yet.",
        "1 report is too few to tell. About 750 would do.",
        "Auditing somebody else's code",
        "it does not hide when somebody changes",
        "Give two of --users, --epsilon and a target; the third is found.",
        "how often a value changes at the most",
        "a workload of so many values",
        "the true output is now likelier than ε allows",
        "How many tokens. If left out: all that a person gets.",
        "Names separated by commas; left out: all of them.",
        "Use only the first paths, this many; 0 means all.",
    ],
)
def test_the_patterns_find_what_they_were_made_for(sentence: str) -> None:
    assert list(found(sentence))


@pytest.mark.parametrize(
    "sentence",
    [
        "There is no number of that name.",
        "Who sees what?",
        "the value is outside; it is not shown because it is private",
        "So much of it as is needed.",
        "Who runs the survey and answers questions about it.",
        "There are so many reports that noise hardly matters.",
        "Compiled kernels are left out: 2.4 % of all statements.",
    ],
)
def test_the_patterns_leave_good_sentences_alone(sentence: str) -> None:
    assert not list(found(sentence))


ANY = re.compile("|".join(f"(?:{pattern})" for pattern in AVOID))


def found(text: str) -> Iterator[tuple[re.Match[str], str]]:
    for pattern, better in AVOID.items():
        for match in re.finditer(pattern, text):
            yield match, better


def strings(text: str, helps: bool) -> Iterator[tuple[int, str]]:
    """Every text a program may say, with its line; docstrings only where they are a command's help."""
    tree = ast.parse(text)
    silent = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            decorated = helps and getattr(node, "decorator_list", [])
            silent |= {id(line.value) for line in body if isinstance(line, ast.Expr) and not decorated}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            yield node.lineno, node.value
