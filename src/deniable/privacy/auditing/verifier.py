"""An independent check of a privacy claim: this one file, the standard library, and integers.

    python -m deniable.privacy.auditing.verifier compiled.json      (or copy this file and run it anywhere)

It works out the largest ratio any output can have between two inputs and compares it with its own rational bounds
of e**epsilon. It shares no code with samplers, channels or certificates. A kind it does not know never passes.
The document is {"recipe": {"epsilon": …, "parameters": {…}, …}, "channel": {"kind": …}, "fingerprint": …};
`deniable audit --recipe FILE --compiled-out compiled.json` writes it from a recipe.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from math import comb, isqrt, prod
from typing import Any, NamedTuple

MOST_PAIRS = 1 << 22


class Unknown(Exception):
    """A kind of channel, or a claim about it, that this verifier cannot judge."""


class Refused(Exception):
    """The integers make no channel."""


class Verdict(NamedTuple):
    """`ratio` is None when unbounded; `holds` is None when the verifier cannot tell."""

    holds: bool | None
    ratio: Fraction | None
    delta: Fraction
    reason: str


def verify(document: dict[str, Any], epsilon: Fraction | None = None) -> Verdict:
    """Judge a document's claim, or another epsilon."""
    try:
        channel, recipe = document["channel"], document.get("recipe", {})
        stated = document.get("fingerprint")
        if stated is not None and recipe and stated != _fingerprint(recipe, channel):
            return Verdict(False, None, Fraction(1), "the fingerprint is not that of this recipe and these integers")
        claim = Fraction(recipe["epsilon"]) if epsilon is None else epsilon
        parameters = recipe.get("parameters", {})
        delta = Fraction(parameters.get("delta", 0))
        if epsilon is None and ("levels" in parameters or "sensitive" in parameters):
            return _judge_pairs(channel, _levels_of(parameters, claim, len(channel["rows"])))
        return _judge(channel, claim, delta)
    except Unknown as why:
        return Verdict(None, None, Fraction(1), f"not judged: {why}")
    except Refused as why:
        return Verdict(False, None, Fraction(1), f"not a channel: {why}")
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError):
        return Verdict(False, None, Fraction(1), "not a channel: a field is missing or has the wrong type")


def _judge(channel: dict[str, Any], claim: Fraction, delta: Fraction) -> Verdict:
    if claim <= 0 or claim > 1000 or not 0 <= delta < 1:
        raise Refused("epsilon must be positive and at most 1000, delta at least 0 and below 1")
    ratio, power = largest_ratio(channel), f"e^({_shown(claim)})" if claim.denominator > 1 else f"e^{claim}"
    if ratio is not None and below_exp(ratio, claim):
        return Verdict(True, ratio, Fraction(0), f"every ratio is at most {_shown(ratio)} <= {power}")
    if delta == 0 and any(f'"{kind}"' in json.dumps(channel) for kind in ("chain", "direction-distance", "reference")):
        raise Unknown("the bound is above e^epsilon, but for this kind it need not be attained")
    if delta == 0:
        text = "unbounded" if ratio is None else f"{_shown(ratio)} > {power}"
        return Verdict(False, ratio, Fraction(0), f"the largest ratio is {text}")
    largest = largest_delta(channel, claim)
    word = "<=" if largest <= delta else ">"
    return Verdict(largest <= delta, ratio, largest, f"delta at {power} is {float(largest):.6g} {word} {_shown(delta)}")


def _levels_of(parameters: dict[str, Any], claim: Fraction, size: int) -> list[list[Fraction | None]]:
    """What is promised for every ordered pair of inputs: written out, or the claim for sensitive values against all others."""
    if "levels" in parameters:
        levels = [[None if level is None else Fraction(level) for level in row] for row in parameters["levels"]]
    else:
        hidden = set(_whole(*parameters["sensitive"]))
        levels = [[claim if x in hidden else None] * size for x in range(size)]
    if [len(row) for row in levels] != [size] * size or any(
        level is not None and not 0 < level <= 1000 for row in levels for level in row
    ):
        raise Refused("there must be one level, positive and at most 1000, or none, for every pair of inputs")
    return levels


def _judge_pairs(channel: dict[str, Any], levels: list[list[Fraction | None]]) -> Verdict:
    if channel["kind"] != "table":
        raise Unknown("levels for pairs of inputs are judged for tables only")
    rows, judged, worst = _rows(channel), 0, Fraction(1)
    if len(rows) ** 2 * len(rows[0]) > MOST_PAIRS:
        raise Unknown("the table is too large to look at every pair of inputs")
    for x, row in enumerate(rows):
        for y, other in enumerate(rows):
            level = levels[x][y]
            if x == y or level is None:
                continue
            judged += 1
            ratio = _worst(zip(row, other, strict=True))
            if ratio is None or not below_exp(ratio, level):
                text = "unbounded" if ratio is None else f"{_shown(ratio)} > e^({_shown(level)})"
                return Verdict(False, ratio, Fraction(0), f"for input {x} against {y} the largest ratio is {text}")
            worst = max(worst, ratio)
    if not judged:
        raise Refused("nothing is promised for any pair of inputs")
    pairs = len(rows) * (len(rows) - 1)
    rest = "" if judged == pairs else f"; NOTHING is promised for the other {pairs - judged} pairs"
    return Verdict(True, worst, Fraction(0), f"{judged} of {pairs} ordered pairs of inputs keep their levels{rest}")


def exp_bounds(x: Fraction, terms: int) -> tuple[Fraction, Fraction]:
    """Rationals around e**x, x > 0: the power series in one integer, and a geometric bound of what it leaves out."""
    terms = max(terms, 2 * (x.numerator // x.denominator) + 4)
    p, q, total, term, scale = x.numerator, x.denominator, 1, 1, 1
    for n in range(1, terms + 1):
        scale *= q * n
        term *= p
        total = total * q * n + term
    # The next term is below x/terms * this one <= half of it, and so on: the rest is below the last term.
    return Fraction(total, scale), Fraction(total + term, scale)


def below_exp(ratio: Fraction, x: Fraction) -> bool:
    """Is `ratio <= e**x`? Always decided: e**x is irrational."""
    terms = 24
    while True:
        low, high = exp_bounds(x, terms)
        if ratio <= low or ratio > high:
            return ratio <= low
        terms *= 2


def largest_ratio(channel: dict[str, Any]) -> Fraction | None:
    """An upper bound of every ratio, attained by most kinds; None when it is unbounded."""
    if channel["kind"] not in RATIOS:
        raise Unknown(f"the kind {str(channel['kind'])[:40]!r} of channel is not known here")
    return RATIOS[channel["kind"]](channel)


def _rows(channel: dict[str, Any]) -> list[list[int]]:
    rows = [_whole(*row) for row in channel["rows"]]
    if not rows or len({len(row) for row in rows}) != 1 or len({sum(row) for row in rows}) != 1 or sum(rows[0]) == 0:
        raise Refused("the rows of a table must be equally long and have the same positive sum")
    return rows


def _two_level(channel: dict[str, Any]) -> Fraction | None:
    """high / low, whatever the favoured sets are, as long as all of them are equally large."""
    name = channel["set"]
    if name not in EQUAL_SETS:
        raise Unknown(f"the set system {str(name)[:40]!r} is not known here")
    if any(isinstance(number, float) for number in channel.values()) or not EQUAL_SETS[name](channel):
        raise Refused(f"the integers of the set system {name} do not give sets of one size")
    return _span(channel["low"], channel["high"])


EQUAL_SETS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "singleton": lambda c: c["size"] >= 2,
    "window": lambda c: 0 < c["members"] < c["outputs"] and c["inputs"] >= 1 and c["first"] <= c["last"],
    "hadamard": lambda c: c["size"] >= 1 and c["polynomial"] in (3, 7, 11, 19, 37, 67, 131, 283),  # irreducible: a field
    "hashing": lambda c: c["size"] >= 1 and c["buckets"] >= 2,  # one bucket for every seed
    "wide-hashing": lambda c: 1 <= c["kept"] <= c["bits"] and c["buckets"] >= 2,
    "sketch-signs": lambda c: 1 <= c["kept"] <= c["bits"] and c["row_bits"] >= 0 and c["width_bits"] >= 1,
    "subsets": lambda c: 1 <= c["chosen"] < c["size"] and comb(c["size"] - 1, c["chosen"]) > 0,
    # Hyperplanes over a prime field; with divisors of zero they could differ in size.
    "projective": lambda c: (
        all(c["prime"] % d for d in range(2, isqrt(c["prime"]) + 1))
        and 1 <= c["size"] <= sum(c["prime"] ** i for i in range(c["dimension"]))
    ),
    "nearest": lambda c: 0 < c["members"] < (c["rows"] * c["columns"] if c["region"] is None else len(set(c["region"]))),
    "nearest-places": lambda c: 0 < c["members"] < len(c["columns"]) == len(c["rows"]),
    # As many words for every seed, and more words than those.
    "nearest-codes": lambda c: c["dimension"] >= 1 and 0 < c["nearest"] < 1 << c["code_bits"],
    # Every set is filled up to the same number of places, so it is met by equally many sets of `chosen` places.
    "hitting": lambda c: (
        1 <= c["at_most"] <= c["items"] >= 2 and c.get("levels", 1) >= 1 <= c["chosen"] <= c["items"] * c.get("levels", 1)
    ),
    "sectors": lambda c: c["sectors"] >= 2 and c["cells"] % c["sectors"] == 0,
}


def _bits(channel: dict[str, Any]) -> Fraction | None:
    """Two bits differ between two inputs: the odds of one over the odds of the other."""
    own, other, scale = _whole(channel["own"], channel["other"], channel["scale"])
    if channel["size"] < 2 or own > scale or other > scale or scale == 0:
        raise Refused("bits need at least two values and weights not above the scale")
    same, flipped = own * (scale - other), other * (scale - own)
    return Fraction(1) if own == other else _span(same, flipped)


def _levels(channel: dict[str, Any]) -> Fraction | None:
    """Groups of fixed sizes, one weight each; every input arranges the outputs into them."""
    edges = [0, *channel.get("widths", []), channel.get("cells", 0)]
    sizes = channel["sizes"] if channel["kind"] == "ranked" else [b - a for a, b in pairwise(edges)]
    fits = channel["kind"] == "nested" or sum(sizes) == len(channel["columns"]) == len(channel["rows"])
    if min(sizes) < 1 or len(sizes) != len(channel["weights"]) or not fits:
        raise Refused("there must be one weight per group, and the groups must hold every output once")
    return _span(*channel["weights"])


def _reference(channel: dict[str, Any]) -> Fraction | None:
    """Every weight lies between low and high of its output, the one at the edge of the favoured stretch too."""
    low, high = _whole(*channel["low"]), _whole(*channel["high"])
    if any(a > b for a, b in zip(low, high, strict=True)) or not sum(low) <= channel["total"] < sum(high):
        raise Refused("a reference channel needs low <= high and a total between their sums")
    return _worst(zip(high, low, strict=True))


def _profile(channel: dict[str, Any]) -> Fraction | None:
    weights = _whole(*channel["weights"])
    inputs, margin, first = channel["inputs"], channel["margin"], channel["first"]
    if channel["wrap"]:
        if len(weights) != inputs or margin:
            raise Refused("a wrapped profile has one weight per cell")
        return _span(*weights)
    reach = inputs - 1 + margin
    if first > -reach or first + len(weights) - 1 < reach or inputs < 1 or margin < 0:
        raise Refused("a profile must reach every output from every input")
    ends = [_tails(weights, first, inputs, margin), _tails(weights[::-1], 1 - first - len(weights), inputs, margin)]
    inner = weights[1 - reach - first : reach - first]  # what outputs other than the two ends can meet
    pairs = zip(_extreme(inner, inputs, max), _extreme(inner, inputs, min), strict=True)
    return _worst([*pairs, *((max(tail), min(tail)) for tail in ends)])


def _tails(weights: list[int], first: int, inputs: int, margin: int) -> list[int]:
    """What lands on the first output, for every input: all offsets up to -margin - input."""
    sums = list(accumulate(weights[: max(0, 1 - margin - first)]))
    return [sums[-1 - x] if x < len(sums) else 0 for x in range(inputs)]


def _extreme(values: list[int], width: int, best: Callable[[int, int], int]) -> list[int]:
    """The best of every `width` neighbours: blocks of that width, best from the left and from the right."""
    left, right = list(values), list(values)
    for i, j in zip(range(1, len(values)), range(len(values) - 1, 0, -1), strict=True):
        left[i] = best(left[i], left[i - 1]) if i % width else left[i]
        right[j - 1] = best(right[j - 1], right[j]) if j % width else right[j - 1]
    return [best(right[i], left[i + width - 1]) for i in range(len(values) - width + 1)]


def _product(channel: dict[str, Any]) -> Fraction | None:
    ratios = [largest_ratio(part) for part in channel["parts"]]
    shares = _whole(*channel.get("shares", [1] * len(ratios)))
    if not ratios or len(shares) != len(ratios) or min(shares) == 0:
        raise Refused("there must be at least one part, and for a mixture one positive share per part")
    known = [ratio for ratio in ratios if ratio is not None]
    if len(known) < len(ratios):
        return None
    return max(known) if channel["kind"] == "mixture" else prod(known, start=Fraction(1))


def _fake_data(channel: dict[str, Any]) -> Fraction | None:
    """All digits true against all digits false."""
    above = below = Fraction(0)
    for part in channel["parts"]:
        low, high, size = _whole(part["low"], part["high"], part["size"])
        if part["kind"] != "two-level" or part["set"] != "singleton":
            raise Unknown("fake data beside anything but randomized response is not known here")
        total = high + (size - 1) * low
        above, below = above + Fraction(high * size, total), below + Fraction(low * size, total)
    return None if below == 0 else above / below


def _signed_bits(channel: dict[str, Any]) -> Fraction | None:
    """What the true key may show, over what any other key shows: the largest quotient over the smallest."""
    agree, differ, other, scale = _whole(*(channel[name] for name in ("agree", "differ", "other", "scale")))
    if channel["keys"] < 2 or agree + differ >= scale or 2 * other >= scale:
        raise Refused("signs need at least two keys and weights below the scale")
    if not agree or not differ or not other:
        return None
    quotients = [Fraction(agree, other), Fraction(differ, other), Fraction(scale - agree - differ, scale - 2 * other)]
    return max(quotients) / min(quotients)


def _picked_item(channel: dict[str, Any]) -> Fraction | None:
    """Rows are means of `at_most` inner rows. Where an inner output favours one input, at most one of them has it."""
    inner = channel["inner"]
    most, items, levels = _whole(channel["at_most"], channel["items"], channel["levels"])
    if not 1 <= most <= items or items < 2 or levels < 1:
        raise Refused("a set holds 1 to all of at least two items")
    places = (items + most) * (1 if levels == 1 else 2)
    if inner["kind"] == "two-level" and inner["set"] == "singleton":
        ratio = _two_level(inner)
        if inner["size"] != places:
            raise Refused("the inner channel must take every place")
        return None if ratio is None else (ratio + most - 1) / most
    if inner.get("size", 2 * inner.get("keys", 0)) != places or inner["kind"] not in ("bits", "signed-bits"):
        raise Unknown("a picked item that is reported by anything but randomized response or bits is not known here")
    return largest_ratio(inner)


RATIOS: dict[str, Callable[[dict[str, Any]], Fraction | None]] = {
    "table": lambda c: _worst((max(column), min(column)) for column in zip(*_rows(c), strict=True)),
    "two-level": _two_level,
    "bits": _bits,
    "pair": lambda c: _span(c["both"], c["one"], c["neither"]),
    "nested": _levels,
    "ranked": _levels,
    "reference": _reference,
    "profile": _profile,
    "product": _product,
    "mixture": _product,
    # Not more than either link: the second only processes the first, and the first only mixes rows of the second.
    "chain": lambda c: min((r for r in (largest_ratio(c["first"]), largest_ratio(c["second"])) if r is not None), default=None),
    "steps": lambda c: _product({"kind": "steps", "parts": [c["step"]] * c["length"]}),
    "direction-distance": lambda c: _product({"kind": "product", "parts": [c["direction"], c["distance"]]}),
    "fake-data": _fake_data,
    "signed-bits": _signed_bits,
    "picked-item": _picked_item,
    "identity": lambda c: None if c["size"] > 1 else Fraction(1),
    "interpolated": lambda c: largest_ratio(c["inner"]),  # mixtures of rows
    "field": lambda c: largest_ratio(c["inner"]),
    "several-digits": lambda c: largest_ratio(c["inner"]),
}


def largest_delta(channel: dict[str, Any], claim: Fraction) -> Fraction:
    """An upper bound of the delta beside e**claim, for the kinds that make such claims."""
    ratio, kind = largest_ratio(channel), channel["kind"]
    if ratio is not None and below_exp(ratio, claim):
        return Fraction(0)
    if kind == "identity":
        return Fraction(1)
    if kind in ("interpolated", "field", "several-digits"):
        return largest_delta(channel["inner"], claim)
    if kind == "mixture":
        shares = channel["shares"]
        parts = zip(shares, channel["parts"], strict=True)
        return sum((Fraction(share, sum(shares)) * largest_delta(part, claim) for share, part in parts), Fraction(0))
    bound = exp_bounds(claim, 64)[0]  # from below, so that delta is rounded up
    if kind == "table" and len(channel["rows"]) ** 2 * len(channel["rows"][0]) <= MOST_PAIRS:
        rows = _rows(channel)
        return max(_excess(a, b, bound) for a in rows for b in rows)
    triples = zip(channel["weights"], channel["weights"][1:], channel["weights"][2:], strict=False) if kind == "profile" else ()
    if kind == "profile" and not channel["wrap"] and all(b * b >= a * c > 0 for a, b, c in triples):
        # Likelihood ratios are then monotone in the output, and grow with the distance of the inputs.
        first, last = (_profile_row(channel, x) for x in (0, channel["inputs"] - 1))
        return max(_excess(first, last, bound), _excess(last, first, bound))
    raise Unknown(f"delta of the kind {str(kind)[:40]!r} is not known here")


def _profile_row(channel: dict[str, Any], x: int) -> list[int]:
    outputs, margin = channel["inputs"] + 2 * channel["margin"], channel["margin"]
    row = [0] * outputs
    for place, weight in enumerate(channel["weights"]):
        row[min(max(x + margin + channel["first"] + place, 0), outputs - 1)] += weight
    return row


def _excess(row: Sequence[int], other: Sequence[int], ratio: Fraction) -> Fraction:
    top, bottom = ratio.numerator, ratio.denominator
    return Fraction(sum(max(0, a * bottom - top * b) for a, b in zip(row, other, strict=True)), bottom * sum(row))


def _worst(pairs: Any) -> Fraction | None:
    """The largest of the quotients; None for something over nothing."""
    top, bottom = 1, 1
    for above, below in pairs:
        if below == 0 < above:
            return None
        if above * bottom > top * below:
            top, bottom = above, below
    return Fraction(top, bottom)


def _span(*weights: int) -> Fraction | None:
    return _worst([(max(_whole(*weights)), min(weights))])


def _whole(*numbers: Any) -> list[int]:
    """Weights: whole numbers, none negative (true and 2.0 are not whole numbers here)."""
    if any(type(number) is not int or number < 0 for number in numbers):
        raise Refused("weights must be whole numbers, none of them negative")
    return list(numbers)


def _fingerprint(recipe: Any, channel: Any) -> str:
    text = json.dumps({"channel": channel, "recipe": recipe}, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:32]


def _shown(number: Fraction) -> str:
    text = str(number)
    return text if len(text) <= 24 else f"{float(number):.12g}"


def main(arguments: Sequence[str]) -> int:
    """Judge files; 0 when every claim holds, 1 when one does not, 2 when one cannot be judged."""
    worst = 0 if arguments else 2
    for path in arguments:
        try:
            with open(path, encoding="utf-8") as file:
                verdict = verify(json.load(file))
        except (OSError, ValueError):
            verdict = Verdict(None, None, Fraction(1), "not judged: the file cannot be read as JSON")
        code, word = {True: (0, "holds"), False: (1, "DOES NOT HOLD"), None: (2, "unknown")}[verdict.holds]
        sys.stdout.write(f"{path}: {word}: {verdict.reason}\n")
        worst = max(worst, code)
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
