"""Read an expression: the nodes that the language has, its sizes, and the functions it names.

Leaves out: what an expression is worth (``evaluating``).
"""

from __future__ import annotations

import ast
import functools
import inspect
import warnings
from dataclasses import dataclass

from prorl_common import nearest
from prorl_datasets.expressions.functions import known_functions
from prorl_datasets.types import DatasetError

MAX_SOURCE = 4000
"""Characters of an expression."""
MAX_DEPTH = 60
NODES = (
    ast.Constant, ast.Name, ast.Load, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.UAdd,
    ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Compare, ast.Eq, ast.NotEq,
    ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn, ast.Is, ast.IsNot, ast.IfExp, ast.Call, ast.Subscript,
    ast.Slice, ast.List, ast.Tuple, ast.JoinedStr, ast.FormattedValue,
)  # fmt: skip
"""What an expression may consist of."""
_CURES = {
    ast.Attribute: 'there are no attributes; write row()["name"] or get(value, "name")',
    ast.Pow: "there are no powers",
    ast.Lambda: "there are no functions of one's own here; give one in a plug-in file (FunctionSpec)",
    ast.ListComp: "there are no loops; give a function in a plug-in file (FunctionSpec)",
    ast.GeneratorExp: "there are no loops; give a function in a plug-in file (FunctionSpec)",
}
WORDS = {"true": True, "false": False, "null": None}
"""Words of the language, for columns of no such name."""
_ODD = frozenset("\a\b\f\v\r\0")


class ExpressionError(DatasetError):
    """An expression that cannot be read, or has no value for a row. One line with expression and place."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A checked expression: its text, and its tree of allowed nodes."""

    source: str
    tree: ast.expr

    def names(self) -> list[str]:
        """Return the columns that it names, each once, without the words of the language."""
        called = {id(node) for node in self._called()}
        found = [n for n in ast.walk(self.tree) if isinstance(n, ast.Name) and id(n) not in called]
        return [name for name in dict.fromkeys(n.id for n in found) if name not in WORDS]

    def functions(self) -> list[str]:
        """Return the functions that it calls, each once."""
        return list(dict.fromkeys(node.id for node in self._called()))

    def _called(self) -> list[ast.Name]:
        calls = (node.func for node in ast.walk(self.tree) if isinstance(node, ast.Call))
        return [function for function in calls if isinstance(function, ast.Name)]

    def wrong(self, problem: str, node: ast.AST) -> ExpressionError:
        """Return the error for a problem at a node: expression, place (a character, from 1), problem."""
        return _error(self.source, problem, _column(self.source, node))


@functools.lru_cache(maxsize=1024)
def parse(source: str) -> Expression:
    """Return the expression written in ``source``. Raises ExpressionError: expression, place, cure."""
    text = " ".join(source.splitlines()).strip()
    if not text:
        raise ExpressionError("an expression is empty")
    if len(text) > MAX_SOURCE:
        raise ExpressionError(f"an expression has {len(text)} characters, at most {MAX_SOURCE}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # "\d": a backslash that says nothing
            tree = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        if "escape" in str(error.msg):
            raise _error(text, "write a backslash in a text twice", error.offset or 1) from error
        raise _error(text, f"not an expression ({error.msg})", error.offset or 1) from error
    except (RecursionError, MemoryError, ValueError) as error:
        raise _error(text, "not an expression (nested too deep, or odd characters)", 1) from error
    expression = Expression(text, tree)
    _check(expression, tree, 0)
    return expression


def _check(expression: Expression, node: ast.AST, depth: int) -> None:
    """Raise ExpressionError for a node that the language does not have."""
    if depth > MAX_DEPTH:
        raise expression.wrong(f"nested more than {MAX_DEPTH} deep", node)
    if not isinstance(node, NODES):
        words = _CURES.get(type(node), f"the language has no {type(node).__name__}")
        raise expression.wrong(words, node)
    if isinstance(node, ast.Constant):
        if not isinstance(node.value, str | int | float | None):  # bool is an int
            raise expression.wrong("a value is a text, a number, true, false or null", node)
        if isinstance(node.value, str) and _ODD & {*node.value}:
            raise expression.wrong("write a backslash in a text twice", node)
    if isinstance(node, ast.Tuple) and any(isinstance(part, ast.Slice) for part in node.elts):
        raise expression.wrong("a piece is taken by one pair of places", node)
    if isinstance(node, ast.FormattedValue) and (node.format_spec or node.conversion != -1):
        raise expression.wrong("in an f-text only {value}, without format", node)
    if isinstance(node, ast.Call):
        known = known_functions()
        if not isinstance(node.func, ast.Name):
            words = "a function is called by its name"
            if isinstance(node.func, ast.Attribute):
                words = f"write {node.func.attr}(text, ...), not text.{node.func.attr}(...)"
            raise expression.wrong(words, node.func)
        if node.func.id not in known:
            there = ", ".join(known)
            raise expression.wrong(
                f"unknown function '{node.func.id}'{nearest(node.func.id, known)}; there are {there}",
                node,
            )
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            raise expression.wrong("a function takes plain values, one after the other", node)
        try:
            inspect.signature(known[node.func.id]).bind(*node.args)
        except TypeError as error:
            words = f"{node.func.id} does not take {len(node.args)} values ({error})"
            raise expression.wrong(words, node) from error
        children: list[ast.AST] = [*node.args]
    else:
        children = [*ast.iter_child_nodes(node)]
    for child in children:
        _check(expression, child, depth + 1)


def _column(source: str, node: ast.AST) -> int:
    """Return the place of a node in characters, from 1."""
    offset = getattr(node, "col_offset", 0)
    return len(source.encode()[:offset].decode("utf-8", "ignore")) + 1


def _error(source: str, problem: str, place: int) -> ExpressionError:
    shown = source if len(source) <= 120 else f"{source[:117]}..."
    return ExpressionError(f"`{shown}`, character {place}: {problem}")
