"""Does the sentence of a verdict say what its numbers say? Every quoted number, level of ε and comparison is looked up.

A sentence may quote numbers of the result (its evidence, its readings, ours, the released one), the printed number and its
tolerance, and numbers it takes from the source, which are listed as `given`. Anything else has no computed number behind it.
“0.64 at ε = 10” needs 0.64 among the numbers at ε = 10. “A errs less than B at ε = 2, 3” needs A and B in the evidence at these
levels; comparisons are looked up in `deniable_reproduce.comparisons`. “3 of 72 readings” needs 72 readings of which 3 fit, and
“at every ε” needs all levels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from deniable_reproduce.catalogue import names
from deniable_reproduce.comparisons import UNCLEAR, false_comparisons
from deniable_reproduce.verdict import REPRODUCED, Verdict
from deniable_reproduce.wording import refuted, unfounded

NAMED = (
    r"(?:Definitions?|Theorems?|Lemmas?|Sections?|Figures?|Examples?|Appendix|Appendices|Tables?|Chapters?|chapters?|Hypothesis)"
)
REFERENCES = re.compile(
    rf"{NAMED} [A-Z]?[\d.]+(?:(?:,| and| to) [A-Z]?[\d.]+)*|(?:figure|table|example)-\S+|(?:reproduce/)?tests/\S+|\d+ × \d+"
    r"|\b(?=\w*[a-f])[0-9a-f]{7,}\b"
)
ARTIFACT = re.compile(r"\b(?:figure|table|example|lecture|poster|beyond|appendix)-[a-z0-9]+(?:[.-][a-z0-9]+)*")
FROM = re.compile(r"from ε = (\d+(?:\.\d+)?) on")
MORE = r"(?:(?:,| and) (?:ε = )?[\d.]*\d(?![\d.]*\d)(?! ?%| at ε))*"
"""More levels of a list; in “0.5 at ε = 2 and 0.6 at ε = 4” the 0.6 is none."""
AT = re.compile(rf"[Aa]t (?:both )?(ε = [\d.]*\d{MORE})(?! on)")
LEVELS = re.compile(r"ε = [\d.]+(?:(?:,| and| to| …,) (?:ε = )?[\d.]+)*")
NUMBER = re.compile(r"(?<![\w^./])[-−]?\d+(?:,\d{3})*(?:\.\d+)?(?:·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?( ?%)?")
AT_LEVEL = re.compile(r"(\d+(?:\.\d+)?)( ?%)? at (ε = [\d.]*\d)")
UP, DOWN = ("rises", "grows", "increases", "climbs"), ("falls", "drops", "decreases", "shrinks")
MOVES = re.compile(r"(" + "|".join((*UP, *DOWN)) + r") from (\d+(?:\.\d+)?)(?: %)?(?: at ε = [\d.]*\d)? to (\d+(?:\.\d+)?)")
PART = re.compile(r"(\d+(?:,\d{3})*) of (?:the |its |our )?(\d+(?:,\d{3})*)(?! ms)\b(?!\.\d)")
READINGS = re.compile(r"(\d+|[Nn]one) of (?:the )?(\d+)(?: other)? readings")
WORDS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
WORDS |= {"hundred": 100, "thousand": 1000}
SMALL = 12
"""Whole numbers up to this count things (two copies, six sectors) and are not looked up."""


def quoted(sentence: str) -> Iterator[tuple[str, float, float]]:
    """The numbers of a sentence as text, value and half a unit of their last digit; references and levels of ε are left out."""
    bare = LEVELS.sub(" ", REFERENCES.sub(" ", sentence))
    for match in NUMBER.finditer(bare):
        text = match.group()
        if "·10" in text:
            continue
        digits = text.replace("−", "-").replace(",", "").rstrip("% ")
        scale = 0.01 if match.group(1) else 1.0
        decimals = len(digits.partition(".")[2])
        if decimals == 0 and scale == 1.0 and abs(float(digits)) <= SMALL:
            continue
        yield text.strip(), float(digits) * scale, 0.5 * 10.0**-decimals * scale
    for word, value in WORDS.items():
        if re.search(rf"\b{word}\b", bare, re.IGNORECASE):
            yield word, float(value), 0.5


def disagreements(verdict: Verdict) -> list[str]:
    """What the sentence says and the numbers do not; of a claim that holds, its own words are the sentence."""
    if verdict.verdict == REPRODUCED and isinstance(verdict.published, str):
        said = replace(verdict, why=verdict.published)
        return [one for one in (*false_comparisons(said), *refuted(said)) if UNCLEAR not in one]
    parts = (_numbers, _levels, _at_levels, _moves, _readings, _references, false_comparisons, unfounded)
    return [one for part in parts for one in part(verdict)]


def _numbers(verdict: Verdict) -> Iterator[str]:
    known = verdict.quotable
    printed: set[str] = set()
    if isinstance(verdict.published, str):
        printed = {text for text, _, _ in quoted(verdict.published)}
    for text, value, half in quoted(verdict.why):
        # A share is computed as 0.92 and said as 92 %; only a number whose name has a “%” is computed in percent.
        percent = text.endswith("%")
        near = any(_near(one, value, half, 100 if percent and "%" in name else 1) for name, one in known)
        if not near and text not in printed:
            yield f"{text} is said, and no computed number is that"


def _references(verdict: Verdict) -> Iterator[str]:
    for name in ARTIFACT.findall(verdict.why):
        if name not in names():
            yield f"{name} is referred to, and there is no such artifact"


def _near(one: float, value: float, half: float, scale: float) -> bool:
    """Equal to the digits that are said; a minus that is said must be there, one that is not said may be (“0.07 too low”)."""
    return abs((one if value < 0 else abs(one)) - scale * value) <= 1.02 * scale * half


def _readings(verdict: Verdict) -> Iterator[str]:
    for met, tried in READINGS.findall(verdict.why):
        right = (len(verdict.met_by), len(verdict.variants))
        if (int(met) if met.isdigit() else 0, int(tried)) != right:
            yield f"“{met} of {tried} readings” is said, and it is {right[0]} of {right[1]}"


def _levels(verdict: Verdict) -> Iterator[str]:
    if re.search(r"\b(?:holds|is so|is best) at every ε", verdict.why) and not all(verdict.levels.values() or [False]):
        yield "“at every ε” is said, and not every level shows it"
    for level in FROM.findall(verdict.why):
        first, levels = float(level), verdict.levels
        if not levels:
            yield f"“from ε = {level} on” is said, and nothing computed says at which ε it holds"
            continue
        after = [holds for epsilon, holds in levels.items() if epsilon >= first]
        before = [epsilon for epsilon, holds in levels.items() if epsilon < first]
        if not after or not all(after):
            failing = ", ".join(f"{epsilon:g}" for epsilon, holds in sorted(levels.items()) if epsilon >= first and not holds)
            yield f"“from ε = {level} on” is said, and it does not hold at ε = {failing}"
        elif before and levels[max(before)]:
            yield f"“from ε = {level} on” is said, and it holds at ε = {max(before):g} already"
    labels = " ".join((*verdict.evidence, *verdict.variants, str(verdict.published), verdict.name))
    for listed in AT.findall(verdict.why):
        for level in re.findall(r"[\d.]*\d", listed):
            if not _names(labels, f"ε = {level}") and float(level) not in verdict.levels:
                yield f"“at ε = {level}” is said, and no number at ε = {level} is shown"


def _names(label: str, level: str) -> bool:
    return re.search(rf"{re.escape(level)}(?![\d.]*\d)", label) is not None


def _at_levels(verdict: Verdict) -> Iterator[str]:
    """“0.64 at ε = 10” is looked up among the numbers at that level, where there are such."""
    for number, percent, level in AT_LEVEL.findall(REFERENCES.sub(" ", verdict.why)):
        there = [value for label, value in {**verdict.evidence, **verdict.variants}.items() if _names(label, level)]
        if _names(verdict.name, level):
            there += [float(one) for one in (verdict.ours, verdict.published) if isinstance(one, int | float)]
        scale, half = (0.01 if percent else 1.0), 0.51 * 10.0 ** -len(number.partition(".")[2])
        if there and not any(abs(value / one - float(number)) <= half for value in there for one in {scale, 1.0}):
            yield f"{number}{percent} at {level} is said, and no number at {level} is that"


def _moves(verdict: Verdict) -> Iterator[str]:
    """What falls must come out lower, and a part is no more than the whole."""
    for way, start, end in MOVES.findall(verdict.why):
        if (way in DOWN) != (float(start) > float(end)):
            yield f"“{way} from {start} to {end}” is said"
    for part, whole in PART.findall(verdict.why):
        if int(part.replace(",", "")) > int(whole.replace(",", "")):
            yield f"“{part} of {whole}” is said"
