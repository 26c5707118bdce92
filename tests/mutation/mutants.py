"""Every small fault of a source file, one change of its syntax tree each."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from typing import NamedTuple

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}
TWINS = {"min": "max", "floor": "ceil", "bisect_right": "bisect_left", "any": "all", "exp_floor": "exp_ceil"}
TWINS |= {second: first for first, second in TWINS.items()}
"""Functions that are taken for one another: the wrong end, the wrong rounding."""


Change = Callable[[ast.AST], ast.AST | None]
"""Alters a node and says None, or gives another one to stand in its place."""


class Mutant(NamedTuple):
    """One fault: where it is, what stood there, what stands there now, and how to make it."""

    line: int
    scope: str
    kind: str
    before: str
    after: str
    source: str
    place: int
    change: Change

    @property
    def name(self) -> str:
        """What tells this fault from all others of the file, also after lines have moved."""
        return f"{self.scope}: {self.before}  ->  {self.after}"

    def tree(self) -> ast.Module:
        """The whole faulty file."""
        tree = ast.parse(self.source)
        _changed(tree, self.place, self.change)
        return ast.fix_missing_locations(tree)


class Site(NamedTuple):
    """A place where a fault can be planted: how to reach it, and what to do there."""

    node: ast.AST
    shown: ast.AST
    scope: str
    kind: str
    change: Change


@cache
def mutants(source: str) -> tuple[Mutant, ...]:
    """All faults of a source text, in the order of its lines; equal ones are numbered."""
    tree = ast.parse(source)
    places = {id(node): place for place, node in enumerate(ast.walk(tree))}
    found: list[Mutant] = []
    seen: dict[str, int] = {}
    for site in _sites(tree):
        within = next(place for place, node in enumerate(ast.walk(site.shown)) if node is site.node)
        after = _text(_changed(deepcopy(site.shown), within, site.change))
        line, place = getattr(site.node, "lineno", 1), places[id(site.node)]
        mutant = Mutant(line, site.scope, site.kind, _text(site.shown), after, source, place, site.change)
        number = seen[mutant.name] = seen.get(mutant.name, 0) + 1
        found.append(mutant if number == 1 else mutant._replace(after=f"{after}  (no. {number})"))
    return tuple(sorted(found, key=lambda mutant: mutant.line))


def _changed(tree: ast.AST, place: int, change: Change) -> ast.AST:
    """Change the node that comes at this place of a walk; the tree, or what stands for it when it was itself replaced."""
    node = list(ast.walk(tree))[place]
    new = change(node)
    if new is None:
        return tree
    ast.copy_location(new, node)
    if node is tree:
        return new
    _Replace(node, new).visit(tree)
    return tree


def _text(node: ast.AST) -> str:
    """One line that shows the node."""
    text = ast.unparse(node).split("\n")[0]
    return text if len(text) <= 150 else text[:147] + "..."


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def _sites(tree: ast.Module) -> Iterator[Site]:
    """Where faults go. Not in annotations, decorators, imports, docstrings and the texts of errors."""
    yield from _in_block(tree.body, "module")


def _in_block(body: list[ast.stmt], scope: str) -> Iterator[Site]:
    for statement in body:
        if isinstance(statement, ast.ClassDef | ast.FunctionDef):
            inner = statement.name if scope == "module" else f"{scope}.{statement.name}"
            if isinstance(statement, ast.FunctionDef):
                for default in [*statement.args.defaults, *(d for d in statement.args.kw_defaults if d)]:
                    yield from (site._replace(kind="default") for site in _in_expression(default, default, inner))
                yield from _returns(statement, inner)
            yield from _in_block(statement.body, inner)
        elif not isinstance(statement, ast.Import | ast.ImportFrom | ast.Pass) and not _is_typing(statement):
            yield from _in_statement(statement, scope)


def _is_typing(statement: ast.stmt) -> bool:
    """Lists of names, aliases of types, blocks for the type checker and docstrings: nothing runs there."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return True
    if isinstance(statement, ast.If) and _text(statement.test) == "TYPE_CHECKING":
        return True
    if not isinstance(statement, ast.Assign):
        return False
    types = (ast.BinOp, ast.Subscript, ast.Name, ast.Constant, ast.operator, ast.expr_context, ast.Tuple, ast.Load)
    named = all(isinstance(node, types) for node in ast.walk(statement.value))
    alias = isinstance(statement.value, ast.BinOp) and isinstance(statement.value.op, ast.BitOr)
    return _text(statement.targets[0]) == "__all__" or (named and (alias or isinstance(statement.value, ast.Subscript)))


def _in_statement(statement: ast.stmt, scope: str) -> Iterator[Site]:
    if isinstance(statement, ast.Raise):
        yield Site(statement, statement, scope, "statement removed", lambda node: ast.Pass())
        return
    calls = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    if calls or isinstance(statement, ast.AugAssign | ast.Break):
        yield Site(statement, statement, scope, "statement removed", lambda node: ast.Pass())
    if isinstance(statement, ast.AugAssign) and type(statement.op) in ARITHMETIC:
        yield Site(statement, statement, scope, "arithmetic", _other_operator)
    if isinstance(statement, ast.If | ast.While) and not isinstance(statement.test, ast.UnaryOp):
        yield Site(statement.test, statement.test, scope, "condition negated", _negated)
    if isinstance(statement, ast.For):
        yield Site(statement.iter, statement.iter, scope, "loop skipped", lambda node: ast.Tuple(elts=[], ctx=ast.Load()))
    for name, value in ast.iter_fields(statement):
        if name in ("body", "orelse", "finalbody"):
            yield from _in_block(value, scope)
        elif name == "handlers":
            for handler in value:
                yield from _in_block(handler.body, scope)
        elif name not in ("annotation", "target", "targets"):
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, ast.AST):
                    yield from _in_expression(part, statement if not hasattr(statement, "body") else part, scope)


def _in_expression(node: ast.AST, shown: ast.AST, scope: str) -> Iterator[Site]:
    if isinstance(node, ast.JoinedStr):
        return
    for kind, change in _changes(node):
        yield Site(node, shown, scope, kind, change)
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.arguments):
            yield from _in_expression(child, shown, scope)


def _changes(node: ast.AST) -> Iterator[tuple[str, Change]]:
    """What can go wrong at one node of an expression."""
    if isinstance(node, ast.Compare):
        for place, op in enumerate(node.ops):
            for other in COMPARISONS[type(op)]:
                yield "comparison", lambda node, place=place, other=other: _other_comparison(node, place, other)  # type: ignore[misc]
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        yield "arithmetic", _other_operator
    elif isinstance(node, ast.BoolOp):
        yield "and/or", _other_junction
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not | ast.Invert):
        yield "sign or not dropped", lambda node: getattr(node, "operand", None)
    elif isinstance(node, ast.IfExp):
        yield "condition negated", _swap_branches
    elif isinstance(node, ast.comprehension) and node.ifs:
        yield "filter dropped", _without_filter
    elif isinstance(node, ast.Constant):
        yield from _other_constants(node.value)
    elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load) and _called(node) in TWINS:
        yield "twin function", _other_twin


def _other_constants(value: object) -> Iterator[tuple[str, Change]]:
    if isinstance(value, bool):
        yield "constant", lambda node: ast.Constant(value=not value)
    elif isinstance(value, int | float):
        yield "constant", lambda node: ast.Constant(value=value + 1)
        yield "constant", lambda node: ast.Constant(value=value - 1)


def _returns(function: ast.FunctionDef, scope: str) -> Iterator[Site]:
    """What is returned is changed: turned over, one more, or nothing at all."""
    kind = "" if function.returns is None else _text(function.returns)
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and node.value is not None and _text(node.value) not in ("None", "NotImplemented"):
            change = _negated_return if kind == "bool" else _one_more_returned if kind == "int" else _none_returned
            yield Site(node, node, scope, "return value", change)


def _negated_return(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.Return)
    assert node.value is not None
    return ast.Return(value=ast.UnaryOp(op=ast.Not(), operand=node.value))


def _one_more_returned(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.Return)
    assert node.value is not None
    return ast.Return(value=ast.BinOp(left=node.value, op=ast.Add(), right=ast.Constant(value=1)))


def _none_returned(node: ast.AST) -> ast.AST:
    return ast.Return(value=ast.Constant(value=None))


def _negated(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.expr)
    return ast.UnaryOp(op=ast.Not(), operand=deepcopy(node))


def _swap_branches(node: ast.AST) -> None:
    assert isinstance(node, ast.IfExp)
    node.body, node.orelse = node.orelse, node.body


def _other_operator(node: ast.AST) -> None:
    assert isinstance(node, ast.BinOp | ast.AugAssign)
    node.op = ARITHMETIC[type(node.op)]()


def _other_comparison(node: ast.AST, place: int, other: type[ast.cmpop]) -> None:
    assert isinstance(node, ast.Compare)
    node.ops[place] = other()


def _other_junction(node: ast.AST) -> None:
    assert isinstance(node, ast.BoolOp)
    node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()


def _without_filter(node: ast.AST) -> None:
    assert isinstance(node, ast.comprehension)
    node.ifs = []


def _called(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def _other_twin(node: ast.AST) -> ast.AST:
    twin = TWINS[_called(node)]
    if isinstance(node, ast.Attribute):
        return ast.Attribute(value=node.value, attr=twin, ctx=ast.Load())
    # A twin that is not imported would be noticed by its missing name alone: it is reached through its module.
    return ast.parse(f"__import__('bisect').{twin}" if "bisect" in twin else twin, mode="eval").body
