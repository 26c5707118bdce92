"""Words that compare, rank or count without a digit: each is looked up in the numbers beside the sentence, or refused.

“A third of the reports” needs a number near 1/3. “A has the least error” needs A to be the least of all that are shown, “A falls
with ε” needs it to fall, “A has 0.44” needs 0.44 among A's numbers. “The claim holds at ε = 2” needs the levels to say so. What can
be said in many ways (“beats”, “does not err more”) is refused: a reason says which errs less, or is above.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from operator import ge, gt, le, lt

from deniable_reproduce.comparisons import LISTED, UNCLEAR, Key, Series, series
from deniable_reproduce.verdict import Verdict

PARTS = {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10}
COUNTS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
COUNTS |= {"eleven": 11, "twelve": 12}
COUNT = "|".join(COUNTS)
PART = re.compile(rf"\b(?:(half)|(?:a|one) ({'|'.join(PARTS)}))\b(?! a\b)", re.IGNORECASE)
IN = re.compile(rf"\b({COUNT}) (?:\w+ )?in ({COUNT})\b", re.IGNORECASE)
TIMES = re.compile(rf"\b(?:(twice|doubles?|doubled)|({COUNT}) times)\b", re.IGNORECASE)
OF = re.compile(rf"\b({COUNT}) of (?:the |its |our )?({COUNT})\b", re.IGNORECASE)
ROUGH = 0.03
"""A part in words may be off by so much: one in six is 0.167, and 0.17 is near enough."""
VAGUE = re.compile(
    r"\b(?:beats?|outperforms?|outdoes|exceeds|surpass(?:es)?|wins|loses to|trails|lags|leads|falls behind"
    r"|(?:does|do|fares?) (?:better|worse)|(?:do|does|did) not err|never errs?|equals?(?! record)|(?:is|are) (?:equal|as good)"
    r"|(?:is|are) (?:not|never) (?:above|below|larger|smaller|lower|higher|more|less))\b",
    re.IGNORECASE,
)
RANKED = re.compile(r"(?:has|is|gives) the (least|lowest|smallest|fewest|largest|highest|most|best)\b")
LOWEST = ("least", "lowest", "smallest", "fewest")
TREND = re.compile(r"\b(rises|grows|increases|climbs|falls|drops|decreases|shrinks) with ε")
DOWN = ("falls", "drops", "decreases", "shrinks")
OWN = re.compile(r"(?: \(|: | has | gives | is | errs by )(\d+(?:\.\d+)?)(?! ?[%\d])(?:\)|\b)")
WHOSE = re.compile(r"(\d+\.\d+) (?:is|for|belongs to) (?:the \w+ of )?")
BOUND = re.compile(r"\b(?:is|are|stays?|lies?) (?:all )?(above|below|at most|at least) (\d+(?:\.\d+)?)( ?%)?")
BOUNDS: dict[str, Callable[[float, float], bool]] = {"above": gt, "below": lt, "at most": le, "at least": ge}
BETWEEN = re.compile(r"\blies? between (\d+(?:\.\d+)?) and (\d+(?:\.\d+)?)")
LEVELS = r"ε = ([\d.]*\d(?:(?:,| and) (?:ε = )?[\d.]*\d)*)"
HOLDS = re.compile(rf"\b(holds|is so|fails|does not hold) (only )?at {LEVELS}")
UNTIL = re.compile(r"\b(?:holds|is so) (up to|below) ε = ([\d.]*\d)")


def unfounded(verdict: Verdict) -> Iterator[str]:
    """What the words say and the numbers do not, or cannot."""
    known = series(verdict)
    for check in (_parts, _vague, _levels):
        yield from check(verdict, known)
    yield from refuted(verdict)


def refuted(verdict: Verdict) -> Iterator[str]:
    """What is said of something shown and its numbers refute: a rank, a trend, a number of its own, a bound."""
    known = series(verdict)
    for check in (_ranks, _trends, _own_numbers, _bounds):
        yield from check(verdict, known)


def _parts(verdict: Verdict, known: Series) -> Iterator[str]:
    """Parts and multiples in words, by numbers that are shown or given; “two of the three” needs both."""
    said = [(match.group(), 1 / PARTS[(match.group(1) or match.group(2)).lower()]) for match in PART.finditer(verdict.why)]
    said += [(match.group(), _count(match, 1) / _count(match, 2)) for match in IN.finditer(verdict.why)]
    said += [(match.group(), 2.0 if match.group(1) else float(_count(match, 2))) for match in TIMES.finditer(verdict.why)]
    for text, value in said:
        if not any(abs(abs(one) - value) <= ROUGH * value for _, one in verdict.quotable):
            yield f"“{text}” is said, and no computed number is near {value:.3g}"
    for match in OF.finditer(verdict.why):
        if not {_count(match, 1), _count(match, 2)} <= {one for _, one in verdict.quotable}:
            yield f"“{match.group()}” is said, and nothing computed counts them"


def _count(match: re.Match[str], group: int) -> int:
    return COUNTS[match.group(group).lower()]


def _vague(verdict: Verdict, known: Series) -> Iterator[str]:
    for match in VAGUE.finditer(verdict.why):
        yield f"“{match.group().strip()}” is said: say which errs less, or is above, so that it can be looked up"


def _subject(verdict: Verdict, match: re.Match[str], known: Series) -> str | None:
    before = verdict.why[: match.start()].rstrip().removesuffix("'s error").removesuffix("’s error")
    return max((name for name in known if before.endswith(name)), key=len, default=None)


def _at(verdict: Verdict, match: re.Match[str], known: Series, name: str) -> dict[Key, float]:
    """The numbers of a name at the levels of ε that the clause lists, or all of them."""
    clause = re.split(r"[.;](?:\s|$)", verdict.why[match.end() :])[0]
    listed = LISTED.search(clause)
    if listed is None:
        return known[name]
    levels = {float(level) for level in re.findall(r"[\d.]*\d", listed.group(1))}
    return {key: value for key, value in known[name].items() if key[0] in levels}


def _ranks(verdict: Verdict, known: Series) -> Iterator[str]:
    for match in RANKED.finditer(verdict.why):
        name = _subject(verdict, match, known)
        if name is None:
            continue
        if match.group(1) == "best":
            yield f"“{name} {match.group()}” is said: say least or largest, so that it can be looked up"
            continue
        for key, value in _at(verdict, match, known, name).items():
            others = [other[key] for other in known.values() if key in other]
            if value != (min if match.group(1) in LOWEST else max)(others) or len(others) < 2:
                where = "" if key[0] is None else f" at ε = {key[0]:g}"
                yield f"“{name} {match.group()}” is said, and{where} it has {value:.4g} among {len(others)} that are shown"


def _trends(verdict: Verdict, known: Series) -> Iterator[str]:
    for match in TREND.finditer(verdict.why):
        name = _subject(verdict, match, known)
        if name is None:
            yield f"“{match.group()}” {UNCLEAR} do"
            continue
        curves: dict[tuple[str, ...], list[tuple[float, float]]] = {}
        for (level, others), value in known[name].items():
            if level is not None:
                curves.setdefault(others, []).append((level, value))
        steps = [(a, b) for curve in curves.values() for (_, a), (_, b) in pairwise(sorted(curve))]
        if not steps or any((b >= a) if match.group(1) in DOWN else (b <= a) for a, b in steps):
            yield f"“{name} {match.group()}” is said, and the numbers do not"


def _own_numbers(verdict: Verdict, known: Series) -> Iterator[str]:
    """A number that is said of a name is one of its numbers."""
    for match in OWN.finditer(verdict.why):
        name = _subject(verdict, match, known)
        if name is None:
            continue
        if not _among(match.group(1), _at(verdict, match, known, name)):
            yield f"“{name}{match.group()}” is said, and none of its numbers is that"
    for match in WHOSE.finditer(verdict.why):
        rest = verdict.why[match.end() :]
        name = max((one for one in known if rest.startswith(one)), key=len, default=None)
        if name is not None and not _among(match.group(1), _at(verdict, match, known, name)):
            yield f"“{match.group()}{name}” is said, and none of its numbers is that"


def _among(number: str, values: dict[Key, float]) -> bool:
    half = 0.51 * 10.0 ** -len(number.partition(".")[2])
    return any(abs(abs(value) - float(number)) <= half for value in values.values())


def _bounds(verdict: Verdict, known: Series) -> Iterator[str]:
    for match in BOUND.finditer(verdict.why):
        name = _subject(verdict, match, known)
        limit = float(match.group(2)) * (0.01 if match.group(3) else 1)
        if name is None:
            yield f"“{match.group()}” {UNCLEAR} are"
        elif not all(BOUNDS[match.group(1)](value, limit) for value in _at(verdict, match, known, name).values()):
            yield f"“{name} {match.group()}” is said, and not all of its numbers are"
    shown = [*verdict.variants.values(), *verdict.evidence.values()]
    for match in BETWEEN.finditer(verdict.why):
        ends = [float(match.group(1)), float(match.group(2))]
        half = [0.51 * 10.0 ** -len(match.group(group).partition(".")[2]) for group in (1, 2)]
        if not shown or abs(min(shown) - ends[0]) > half[0] or abs(max(shown) - ends[1]) > half[1]:
            yield f"“{match.group()}” is said, and the numbers shown do not lie so"


def _levels(verdict: Verdict, known: Series) -> Iterator[str]:
    levels = verdict.levels
    for match in HOLDS.finditer(verdict.why):
        listed = {float(level) for level in re.findall(r"[\d.]*\d", match.group(3))}
        right = {level for level, holds in levels.items() if holds == (match.group(1) in ("holds", "is so"))}
        if not listed <= right or (match.group(2) and listed != right):
            shown = ", ".join(f"{level:g}" for level in sorted(right)) or "no level"
            yield f"“{match.group()}” is said, and it is so at ε = {shown}"
    for match in UNTIL.finditer(verdict.why):
        last = float(match.group(2))
        inside = {level for level in levels if level < last or (level == last and match.group(1) == "up to")}
        if not inside or {level for level, holds in levels.items() if holds} != inside:
            yield f"“{match.group()}” is said, and the levels say otherwise"
