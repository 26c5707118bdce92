"""Does the sentence of a verdict say what its numbers say? Every quoted number, level of ε and comparison is looked up.

A sentence may quote numbers of the result (its evidence, its readings, ours, the released one), the printed number and its
tolerance, and numbers it takes from the source, which are listed as `given`. Anything else has no computed number behind it.
“0.64 at ε = 10” needs 0.64 among the numbers at ε = 10. “A errs less than B at ε = 2, 3” needs A and B in the evidence at these
levels; comparisons are looked up in `deniable_reproduce.comparisons`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from deniable_reproduce.comparisons import false_comparisons
from deniable_reproduce.verdict import Verdict

NAMED = (
    r"(?:Definitions?|Theorems?|Lemmas?|Sections?|Figures?|Examples?|Appendix|Appendices|Tables?|Chapters?|chapters?|Hypothesis)"
)
REFERENCES = re.compile(
    rf"{NAMED} [A-Z]?[\d.]+(?:(?:,| and| to) [A-Z]?[\d.]+)*|(?:figure|table|example)-\S+|(?:reproduce/)?tests/\S+|\d+ × \d+"
    r"|\b(?=\w*[a-f])[0-9a-f]{7,}\b"
)
FROM = re.compile(r"from ε = (\d+(?:\.\d+)?) on")
AT = re.compile(r"[Aa]t (ε = [\d.]*\d(?:(?:,| and) [\d.]*\d)*)(?! on)")
LEVELS = re.compile(r"ε = [\d.]+(?:(?:,| and| to| …,) (?:ε = )?[\d.]+)*")
NUMBER = re.compile(r"(?<![\w^./])[-−]?\d+(?:,\d{3})*(?:\.\d+)?(?:·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?( ?%)?")
AT_LEVEL = re.compile(r"(\d+(?:\.\d+)?)( ?%)? at (ε = [\d.]*\d)")
MOVES = re.compile(r"(falls|rises) from (\d+(?:\.\d+)?)(?: %)?(?: at ε = [\d.]*\d)? to (\d+(?:\.\d+)?)")
PART = re.compile(r"(\d+(?:,\d{3})*) of (?:the |its |our )?(\d+(?:,\d{3})*)(?! ms)\b(?!\.\d)")
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
    """What the sentence says and the numbers do not."""
    return [*_numbers(verdict), *_levels(verdict), *_at_levels(verdict), *_moves(verdict), *false_comparisons(verdict)]


def _numbers(verdict: Verdict) -> Iterator[str]:
    known = [*verdict.evidence.values(), *verdict.variants.values(), *verdict.given, verdict.tolerance]
    known += [float(one) for one in (verdict.ours, verdict.released) if one is not None]
    printed: set[str] = set()
    if isinstance(verdict.published, str):
        printed = {text for text, _, _ in quoted(verdict.published)}
    else:
        known.append(verdict.published)
    for text, value, half in quoted(verdict.why):
        # A share may be computed as 0.92 and said as 92 %, or computed in percent.
        scales = (1, 100) if text.endswith("%") else (1,)
        near = any(abs(abs(one) - scale * abs(value)) <= 1.02 * scale * half for one in known for scale in scales)
        if not near and text not in printed:
            yield f"{text} is said, and no computed number is that"


def _levels(verdict: Verdict) -> Iterator[str]:
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
        if (way == "falls") != (float(start) > float(end)):
            yield f"“{way} from {start} to {end}” is said"
    for part, whole in PART.findall(verdict.why):
        if int(part.replace(",", "")) > int(whole.replace(",", "")):
            yield f"“{part} of {whole}” is said"
