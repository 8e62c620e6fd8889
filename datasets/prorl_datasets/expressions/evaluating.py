"""What an expression is worth for a row: a walk over its nodes, strict about kinds, bounded in size.

Texts and numbers are never compared with each other (``"3" == 3`` is an error that says how to mend it), so no
filter drops every row in silence. Without loops the steps are at most the nodes of the expression; what it makes
is bounded by ``MAX_MADE`` characters and members in all.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from prorl_common import UserError, nearest, what_failed
from prorl_datasets.expressions.functions import (
    FUNCTION_TABLE,
    FUNCTIONS,
    MAX_TEXT,
    FunctionError,
    kind,
)
from prorl_datasets.expressions.parsing import WORDS, Expression, ExpressionError
from prorl_datasets.sources.readers.plain import one_line, some_names

MAX_MADE = 4 * MAX_TEXT
MAX_BITS = 14_000
"""Of a whole number: about 4,200 digits."""
_ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
_ORDER: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_PLAIN = ("a text", "a number", "true or false")


def value_of(expression: Expression, row: Mapping[str, Any]) -> Any:
    """Return what an expression is worth for a row. Raises ExpressionError: expression, place, cure."""
    walk = _Walk(expression, row)
    try:
        return walk.value(expression.tree)
    except (RecursionError, MemoryError, OverflowError) as error:
        raise expression.wrong(
            "a value is too large, or nested too deep", expression.tree
        ) from error


def condition(expression: Expression, row: Mapping[str, Any]) -> bool:
    """Return a condition's true or false. Raises ExpressionError, also for another kind of value."""
    value = value_of(expression, row)
    if not isinstance(value, bool):
        raise expression.wrong(
            f"a condition is true or false, this is {kind(value)}; compare it", expression.tree
        )
    return value


class _Walk:
    """One evaluation."""

    def __init__(self, expression: Expression, row: Mapping[str, Any]) -> None:
        self._expression, self._row, self._made = expression, row, 0

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self._named(node)
            case ast.BoolOp():
                return self._boolean(node)
            case ast.UnaryOp(op=ast.Not()):
                return not self._truth(node.operand)
            case ast.UnaryOp():
                number = self._number(node.operand)
                return -number if isinstance(node.op, ast.USub) else number
            case ast.BinOp():
                return self._charged(self._arithmetic(node), node)
            case ast.Compare():
                return self._compare(node)
            case ast.IfExp():
                return self.value(node.body if self._truth(node.test) else node.orelse)
            case ast.Call():
                return self._charged(self._call(node), node)
            case ast.Subscript():
                return self._charged(self._subscript(node), node)
            case ast.List() | ast.Tuple():
                return self._charged([self.value(member) for member in node.elts], node)
            case ast.JoinedStr():
                parts = [self.value(part) for part in node.values]
                texts = [p if isinstance(p, str) else FUNCTION_TABLE["text"](p) for p in parts]
                return self._charged("".join(texts), node)
            case ast.FormattedValue():
                return self.value(node.value)
            case _:  # parse lets no other node through
                raise AssertionError(ast.dump(node))

    def _wrong(self, problem: str, node: ast.AST) -> ExpressionError:
        return self._expression.wrong(problem, node)

    def _charged(self, value: Any, node: ast.AST) -> Any:
        """Return a value that was made, its size counted."""
        if isinstance(value, str | list | tuple):
            self._made += len(value)
        if self._made > MAX_MADE or (isinstance(value, int) and value.bit_length() > MAX_BITS):
            raise self._wrong("a value is too large", node)
        return value

    def _named(self, node: ast.Name) -> Any:
        if node.id in self._row:
            return self._row[node.id]
        if node.id in WORDS:
            return WORDS[node.id]
        names = [str(name) for name in self._row]
        raise self._wrong(
            f"no column '{node.id}'{nearest(node.id, names[:100])}; columns here: {some_names(names)}",
            node,
        )

    def _truth(self, node: ast.expr) -> bool:
        value = self.value(node)
        if not isinstance(value, bool):
            raise self._wrong(f"wants true or false, not {kind(value)}; compare it", node)
        return value

    def _number(self, node: ast.expr) -> int | float:
        value = self.value(node)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong(f"wants a number, not {kind(value)}{_cure(value)}", node)
        return value

    def _boolean(self, node: ast.BoolOp) -> bool:
        stop = isinstance(node.op, ast.Or)
        return stop if any(self._truth(part) is stop for part in node.values) else not stop

    def _arithmetic(self, node: ast.BinOp) -> Any:
        if isinstance(node.op, ast.Add):
            left, right = self.value(node.left), self.value(node.right)
            for types in (str, list):
                if isinstance(left, types) and isinstance(right, types):
                    if len(left) + len(right) > MAX_TEXT:
                        raise self._wrong("a value is too large", node)
                    return left + right  # type: ignore[operator]
            for value, side in ((left, node.left), (right, node.right)):
                if isinstance(value, bool) or not isinstance(value, int | float):
                    raise self._wrong(
                        f"cannot add {kind(left)} and {kind(right)}{_cure(value)}", side
                    )
        else:
            left, right = self._number(node.left), self._number(node.right)
        sizes = [v.bit_length() for v in (left, right) if isinstance(v, int)]
        if isinstance(node.op, ast.Mult) and sum(sizes) > MAX_BITS:
            raise self._wrong("a value is too large", node)
        try:
            return _ARITHMETIC[type(node.op)](left, right)
        except ZeroDivisionError as error:
            raise self._wrong("division by zero", node) from error

    def _compare(self, node: ast.Compare) -> bool:
        left = self.value(node.left)
        for sign, side in zip(node.ops, node.comparators, strict=True):
            right = self.value(side)
            if not self._holds(sign, left, right, side):
                return False
            left = right
        return True

    def _holds(self, sign: ast.cmpop, left: Any, right: Any, node: ast.expr) -> bool:
        match sign:
            case ast.Eq() | ast.NotEq():
                return self._equal(left, right, node) is isinstance(sign, ast.Eq)
            case ast.Is() | ast.IsNot():
                if right is not None:
                    raise self._wrong("'is' asks for null alone; use ==", node)
                return (left is None) is isinstance(sign, ast.Is)
            case ast.In() | ast.NotIn():
                return self._member(left, right, node) is isinstance(sign, ast.In)
            case _:
                kinds = {kind(left), kind(right)}
                if kinds not in ({"a number"}, {"a text"}):
                    problem = f"cannot order {kind(left)} and {kind(right)}{_cure(left, right)}"
                    raise self._wrong(problem, node)
                return _ORDER[type(sign)](left, right)

    def _equal(self, left: Any, right: Any, node: ast.expr) -> bool:
        kinds = (kind(left), kind(right))
        if kinds[0] != kinds[1] and kinds[0] in _PLAIN and kinds[1] in _PLAIN:
            raise self._wrong(
                f"cannot compare {kinds[0]} with {kinds[1]}{_cure(left, right)}", node
            )
        return kinds[0] == kinds[1] and bool(left == right)

    def _member(self, left: Any, right: Any, node: ast.expr) -> bool:
        if isinstance(right, str):
            if not isinstance(left, str):
                raise self._wrong(f"cannot look for {kind(left)} in a text", node)
            return left in right
        if isinstance(right, Mapping):
            return isinstance(left, str) and left in right
        if isinstance(right, list | tuple):
            same = [member for member in right if kind(member) == kind(left)]
            if right and not same and left is not None and kind(right[0]) in _PLAIN:
                self._equal(left, right[0], node)  # says how to mend it
            return any(left == member for member in same)
        raise self._wrong(f"'in' wants a list, an object or a text, not {kind(right)}", node)

    def _subscript(self, node: ast.Subscript) -> Any:
        whole = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            if not isinstance(whole, str | list | tuple):
                raise self._wrong(f"cannot take a piece of {kind(whole)}", node)
            bounds = (node.slice.lower, node.slice.upper, node.slice.step)
            ends = [None if part is None else self._whole(part) for part in bounds]
            if ends[2] == 0:
                raise self._wrong("a step of 0", node)
            return whole[ends[0] : ends[1] : ends[2]]
        if isinstance(whole, Mapping):
            key = self.value(node.slice)
            if not isinstance(key, str) or key not in whole:
                names = [str(name) for name in whole]
                shown = one_line(str(key), 60)
                raise self._wrong(
                    f"no '{shown}'{nearest(shown, names[:100])} here; there are {some_names(names)}",
                    node.slice,
                )
            return whole[key]
        if not isinstance(whole, str | list | tuple):
            raise self._wrong(f"{kind(whole)} has no members", node)
        place = self._whole(node.slice)
        if not -len(whole) <= place < len(whole):
            raise self._wrong(f"no member {place}: there are {len(whole)}", node.slice)
        return whole[place]

    def _whole(self, node: ast.expr) -> int:
        value = self._number(node)
        if not isinstance(value, int):
            raise self._wrong("wants a whole number", node)
        return value

    def _call(self, node: ast.Call) -> Any:
        assert isinstance(node.func, ast.Name)
        name, given = node.func.id, [self.value(argument) for argument in node.args]
        if name == "row":
            return dict(self._row)
        try:
            if name in FUNCTION_TABLE:
                return FUNCTION_TABLE[name](*given)
        except FunctionError as error:
            raise self._wrong(f"{name} {error}", node) from error
        try:
            return _plain(FUNCTIONS.get(name).call(*given))
        except UserError:
            raise
        except Exception as error:  # a plug-in's function: the row is a bad one, and says why
            said = one_line(what_failed(error))
            raise self._wrong(f"{name} raised {said}", node) from error


def _plain(value: Any) -> Any:
    """Return what a plug-in's function gave, as far as it is plain. Raises TypeError."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_plain(member) for member in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(member) for key, member in value.items()}
    raise TypeError(f"it gives a {type(value).__name__}, not a text, number, list or object")


def _cure(*values: Any) -> str:
    """Return how a value of another kind becomes comparable."""
    if any(value is None for value in values):
        return "; first(column, ...) stands in for null, `is not null` asks"
    return (
        "; number(...) reads a text, text(...) writes a number"
        if any(isinstance(value, str) for value in values)
        else ""
    )
