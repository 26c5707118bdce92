"""Comparisons in words: “A errs less than B at ε = 2, 3”, looked up in the numbers beside the sentence.

What a label names comes before its first comma or “ at ε”; levels and the rest of a label must be the same on both sides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from operator import gt, le, lt

from deniable_reproduce.verdict import Verdict

SAID = re.compile(
    r"(?:errs |is )(?:a little |far |much )?(no more|less|more|above|below|larger|smaller|lower|higher|ahead|behind)"
    r"(?: often)?(?: than)?(?=[ .,;])(?! \d)(?! colluders)"
)
HOLDS = {"no more": le, "less": lt, "below": lt, "smaller": lt, "lower": lt}
HOLDS |= {"more": gt, "above": gt, "larger": gt, "higher": gt}
UNCLEAR = "is said, and it is not clear which numbers"
AND = re.compile(r"(?:,| and| or) (?:the )?")
LISTED = re.compile(r"at ε = ([\d.]*\d(?:(?:,| and) [\d.]*\d)*)")
ONWARD = re.compile(r"from ε = ([\d.]*\d) on")
Key = tuple[float | None, tuple[str, ...]]
Series = dict[str, dict[Key, float]]


def series(verdict: Verdict) -> Series:
    """The numbers beside a sentence by what they are of, then by level and the rest of their labels."""
    by_name: Series = {}
    for label, value in {**verdict.variants, **verdict.evidence}.items():
        name, *parts = re.split(r", | (?=at ε = )", label)
        levels = [match.group(1) for part in parts if (match := re.fullmatch(r"(?:at )?ε = ([\d.]*\d)", part))]
        others = tuple(part for part in parts if not re.fullmatch(r"(?:at )?ε = [\d.]*\d", part))
        by_name.setdefault(name, {})[(float(levels[0]) if levels else None, others)] = value
    return by_name


def false_comparisons(verdict: Verdict) -> Iterator[str]:
    """Comparisons that the numbers refute, and those that no numbers can show."""
    known = series(verdict)
    for match in SAID.finditer(verdict.why):
        clause = re.split(r"[.;](?:\s|$)", verdict.why[match.end() :])[0]
        before, after = verdict.why[: match.start()].rstrip(), clause.removeprefix(" ").removeprefix("the ")
        one = _longest([name for name in known if before.endswith(name)])
        others = _listed(after, known)
        if one is None or not others or match.group(1) not in HOLDS:
            yield f"“{match.group()}” {UNCLEAR} it compares"
            continue
        for other in others:
            yield from _refuted(match, one, other, known, _levels(clause))


def _refuted(match: re.Match[str], one: str, other: str, known: Series, levels: Sequence[float] | float | None) -> Iterator[str]:
    verb, holds = match.group(), HOLDS[match.group(1)]
    shared = [key for key in known[one] if key in known[other]]
    if isinstance(levels, float):
        shared = [key for key in shared if key[0] is not None and key[0] >= levels]
    elif levels is not None:
        missing = [level for level in levels if not any(key[0] == level for key in shared)]
        if missing:
            yield f"“{one} {verb} {other}” is said, and not both are shown at ε = {missing[0]:g}"
        shared = [key for key in shared if key[0] in levels]
    if not shared:
        yield f"“{one} {verb} {other}” is said, and not both are shown"
    for key in shared:
        if not holds(known[one][key], known[other][key]):
            where = "" if key[0] is None else f" at ε = {key[0]:g}"
            yield f"“{one} {verb} {other}” is said, and{where} the numbers are {known[one][key]:.4g} and {known[other][key]:.4g}"


def _levels(clause: str) -> Sequence[float] | float | None:
    if listed := LISTED.search(clause):
        return [float(level) for level in re.findall(r"[\d.]*\d", listed.group(1))]
    onward = ONWARD.search(clause)
    return float(onward.group(1)) if onward else None


def _longest(names: Sequence[str]) -> str | None:
    return max(names, key=len, default=None)


def _listed(text: str, known: Series) -> list[str]:
    """The names that a text begins with: one, or several with commas and “and” between them."""
    names: list[str] = []
    while (name := _longest([name for name in known if text.startswith(name)])) is not None:
        names.append(name)
        rest = text[len(name) :]
        step = AND.match(rest)
        if step is None:
            break
        text = rest[step.end() :]
    return names
