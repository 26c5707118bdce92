"""Does the sentence of a verdict say what its numbers say? Every quoted number and every "from ε = 3 on" is looked up.

A sentence may quote numbers of the result (its evidence, its readings, ours, the released one), the printed number and its
tolerance, and numbers it takes from the source, which are listed as `given`. Anything else has no computed number behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from deniable_reproduce.verdict import Verdict

NAMED = (
    r"(?:Definitions?|Theorems?|Lemmas?|Sections?|Figures?|Examples?|Appendix|Appendices|Tables?|Chapters?|chapters?|Hypothesis)"
)
REFERENCES = re.compile(rf"{NAMED} [A-Z]?[\d.]+(?:(?:,| and| to) [A-Z]?[\d.]+)*|tests/\S+|[0-9a-f]*[a-f][0-9a-f]{{6,}}")
FROM = re.compile(r"from ε = (\d+(?:\.\d+)?) on")
AT = re.compile(r"[Aa]t ε = (\d+(?:\.\d+)?)(?!\d)(?! on)")
LEVELS = re.compile(r"ε = [\d.]+(?:(?:,| and| to| …,) (?:ε = )?[\d.]+)*")
NUMBER = re.compile(r"(?<![\w^./])[-−]?\d+(?:,\d{3})*(?:\.\d+)?(?:·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?( ?%)?")
ABOVE = re.compile(r"([\w-]+) is above ([\w-]+) at ε = (\d[\d., ]*\d|\d)")
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


def disagreements(verdict: Verdict) -> list[str]:
    """What the sentence says and the numbers do not."""
    return [*_numbers(verdict), *_levels(verdict), *_orders(verdict)]


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
    for level in AT.findall(verdict.why):
        shown = re.search(rf"ε = {re.escape(level)}(?![\d.]*\d)", labels)
        if shown is None and float(level) not in verdict.levels:
            yield f"“at ε = {level}” is said, and no number at ε = {level} is shown"


def _orders(verdict: Verdict) -> Iterator[str]:
    """“A is above B at ε = 4, 8” is looked up in the evidence."""
    for one, other, levels in ABOVE.findall(verdict.why):
        for level in levels.split(", "):
            shown = [verdict.evidence.get(f"{name}, ε = {level}") for name in (one, other)]
            if shown[0] is None or shown[1] is None:
                yield f"“{one} is above {other} at ε = {level}” is said, and the evidence has not both"
            elif shown[0] <= shown[1]:
                yield f"“{one} is above {other} at ε = {level}” is said, and {shown[0]:g} is not above {shown[1]:g}"
