"""What a proof page states, read from its `certificate` block and worked out in exact numbers.

A line `LEFT == RIGHT` is an identity between the integers of the compiled channel. The last line, `LEFT <= e^epsilon` or
`LEFT <= delta`, is the inequality: LEFT must be the certificate's own number, and the inequality must hold.

Names are those of the compiled channel (`deniable audit --recipe FILE --compiled-out`). Beside them: `table`, all weights row
by row; `columns(rows)`; `largest(part)`, the largest ratio of a part by the stand-alone verifier; max, min, sum, product and
floor; `ratios(rows[value], rows[other])`, the quotients of two rows, for the pair of values that comes nearest to breaking a
promise, whose right side is `e^level`; `e^epsilon`, and `e_low`, the rational at or below e^epsilon that the certificate was
computed with.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from deniable.core import Mechanism, exp_bounds
from deniable.privacy.auditing.verifier import largest_ratio

PAGES = Path(__file__).parents[2] / "proofs"
BLOCK = re.compile(r"^```certificate\n(.*?)^```$", re.DOTALL | re.MULTILINE)
MOST_WEIGHTS = 1 << 15
PRECISION = 400
LOW, HIGH = 0, 1


class TooLarge(Exception):
    """The whole table of this instance is too large to be written out."""


def statements(page: str) -> list[str]:
    """The lines of a page's one `certificate` block."""
    blocks = BLOCK.findall(page)
    assert len(blocks) == 1, "a proof page has exactly one ```certificate block"
    return [line.strip() for line in blocks[0].splitlines() if line.strip()]


def check(page: str, mechanism: Mechanism) -> None:
    """Compare what a page states with the certificate of one mechanism."""
    *identities, inequality = statements(page)
    for line in identities:
        left, _, right = line.partition(" == ")
        ends = [(evaluated(left, mechanism, side), evaluated(right, mechanism, side)) for side in (LOW, HIGH)]
        assert all(a == b for a, b in ends), f"{mechanism!r}: {line} is not so"
    left, _, right = inequality.partition(" <= ")
    certificate, found = mechanism.certificate(), evaluated(left, mechanism, LOW)
    assert certificate.holds, f"{mechanism!r}: the certificate does not hold"
    if right == "delta":
        assert mechanism.delta > 0
        assert found == certificate.delta_exact, f"{mechanism!r}: {left} is not the certificate's delta"
        assert found <= Fraction(mechanism.delta)
    elif right == "e^level":
        assert mechanism.promise is not None
        assert certificate.pair is not None
        assert found == certificate.pair.ratio, f"{mechanism!r}: {left} is not the certificate's ratio"
        assert certificate.pair.level.allows(found)
        assert mechanism.promise.level(certificate.pair.value, certificate.pair.other) == certificate.pair.level
    else:
        assert right == "e^epsilon", f"{inequality}: the right side must be e^epsilon, e^level or delta"
        assert mechanism.delta == 0
        assert found == certificate.ratio, f"{mechanism!r}: {left} is not the certificate's ratio"
        assert mechanism.privacy.allows(found)


def evaluated(text: str, mechanism: Mechanism, side: int) -> Fraction:
    """An expression of a page, with e^epsilon replaced by a rational just below or above it."""
    tree = ast.parse(text.replace("e^epsilon", "e_epsilon"), mode="eval")
    found = _value(tree.body, _names(mechanism, side))
    assert isinstance(found, int | Fraction)
    return Fraction(found)


def _names(mechanism: Mechanism, side: int) -> dict[str, Any]:
    channel = mechanism.channel
    compiled = channel.compiled()

    def table() -> list[list[int]]:
        if channel.inputs * channel.outputs > MOST_WEIGHTS:
            raise TooLarge
        return [[channel.weight(x, y) for y in range(channel.outputs)] for x in range(channel.inputs)]

    found: dict[str, Any] = {
        **compiled,
        "table": table,
        "e_epsilon": exp_bounds(mechanism.privacy.exact, PRECISION)[side],
        "e_low": mechanism.privacy.bounds()[LOW],
    }
    pair = mechanism.certificate().pair
    if pair is not None:
        found |= {"value": pair.value, "other": pair.other}
    if mechanism.delta:
        found["delta"] = Fraction(mechanism.delta)
    return found


def _columns(rows: list[list[int]]) -> list[tuple[int, ...]]:
    return [column for column in zip(*rows, strict=True) if any(column)]


def _ratios(row: list[int], other: list[int]) -> list[Fraction]:
    return [Fraction(a, b) for a, b in zip(row, other, strict=True) if a or b]


def _largest(part: dict[str, Any]) -> Fraction:
    found = largest_ratio(part)
    assert found is not None
    return found


def _product(factors: Iterable[Any]) -> Any:
    return math.prod(factors, start=Fraction(1))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "max": max,
    "min": min,
    "sum": sum,
    "zip": lambda *lists: list(zip(*lists, strict=True)),
    "product": _product,
    "floor": math.floor,
    "columns": _columns,
    "largest": _largest,
    "ratios": _ratios,
}
OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: Fraction(a) / Fraction(b),
    ast.Pow: lambda a, b: Fraction(a) ** int(b),
}


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            found = names[name]
            return found() if callable(found) else _exact(found)
        case ast.Attribute(value=inner, attr=name):
            return _exact(_value(inner, names)[name])
        case ast.Subscript(value=inner, slice=index):
            return _exact(_value(inner, names)[_value(index, names)])
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_value(inner, names)
        case ast.BinOp(left=left, op=operator, right=right):
            return OPERATORS[type(operator)](_value(left, names), _value(right, names))
        case ast.Call(func=ast.Name(id=name), args=[ast.GeneratorExp() as inside], keywords=[]):
            return FUNCTIONS[name](_each(inside, names))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return FUNCTIONS[name](*(_value(argument, names) for argument in arguments))
    raise AssertionError(f"a page may not use {ast.unparse(node)}")


def _each(inside: ast.GeneratorExp, names: dict[str, Any]) -> Iterator[Any]:
    (loop,) = inside.generators
    assert not loop.ifs
    for item in _value(loop.iter, names):
        if isinstance(loop.target, ast.Name):
            bound = {loop.target.id: item}
        else:
            assert isinstance(loop.target, ast.Tuple)
            bound = {target.id: one for target, one in zip(loop.target.elts, item, strict=True) if isinstance(target, ast.Name)}
        yield _value(inside.elt, {**names, **bound})


def _exact(found: Any) -> Any:
    """Large integers are written as text in compiled channels."""
    return int(found) if isinstance(found, str) and re.fullmatch(r"-?\d+", found) else found
