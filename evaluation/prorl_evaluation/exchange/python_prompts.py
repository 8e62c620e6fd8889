"""Read functions that make prompts from rows, written in Python, without running them: a small part is interpreted.

Assignments, ``if``, f-strings, ``+``, indices, comprehensions over lists and a few methods of texts: enough for functions
that put a row's texts together. Everything else is refused with its line. Steps and lengths are bounded. Leaves out:
imports (names of ``_KNOWN`` aside), loops, calls of other functions.
"""

from __future__ import annotations

import ast
import string
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from prorl_evaluation.types import EvaluationError

MAX_STEPS = 100_000
"""Nodes that one row may take."""
MAX_LENGTH = 2**20
"""Characters or members of one value."""
MAX_WORK = 2**24
"""Characters and members that one row may handle, all its steps together."""
MADE = "Doc"
"""The call whose keywords are what a function gives."""
ASKED = "isinstance"
_TYPES: dict[str, type] = {"str": str, "int": int, "float": float, "list": list, "dict": dict}
_KNOWN: dict[str, Any] = {"ascii_uppercase": string.ascii_uppercase}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "str": str,
    "int": int,
    "len": len,
    "list": list,
    "enumerate": lambda value: list(enumerate(value)),
    "zip": lambda *values: [list(pair) for pair in zip(*values, strict=False)],
    "dedent": textwrap.dedent,
}
_TEXT_METHODS = (
    "strip", "lstrip", "rstrip", "lower", "upper", "title", "capitalize", "split", "rsplit", "splitlines",
    "startswith", "endswith", "removeprefix", "removesuffix", "isdigit",
)  # fmt: skip
_METHODS = (*_TEXT_METHODS, "join", "format", "replace", "get", "index")
_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
    ast.Is: lambda a, b: a is b,
    ast.IsNot: lambda a, b: a is not b,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
}


class UnreadPythonError(EvaluationError):
    """Python that is not interpreted, with its line."""


@dataclass(frozen=True, slots=True)
class Prompting:
    """A function of a module, and the module's own names."""

    function: ast.FunctionDef
    constants: Mapping[str, ast.expr]

    def check(self) -> None:
        """Raise UnreadPythonError where a statement, an expression or an argument is of a kind that is never interpreted."""
        if not 1 <= len(self.function.args.args) <= 2:
            raise UnreadPythonError("it takes other arguments than a row and a task's name")
        for node in ast.walk(ast.Module(self.function.body, [])):
            if isinstance(node, ast.stmt) and not isinstance(node, _STATEMENTS):
                raise _unread(node)
            if isinstance(node, ast.expr) and not isinstance(node, _EXPRESSIONS):
                raise _unread(node)
            match node:
                case ast.Call(func=ast.Name(id=name)) if name not in (MADE, ASKED, *_FUNCTIONS):
                    raise _unread(node)
                case ast.Call(func=ast.Attribute(attr=name)) if name not in _METHODS:
                    raise _unread(node)
                case ast.BinOp(op=op) if not isinstance(op, ast.Add | ast.Sub):
                    raise _unread(node)

    def of(self, row: Mapping[str, Any], task: str) -> dict[str, Any] | None:
        """Return the keywords of the ``Doc`` that the function gives for a row and the task's name; None where it gives None.

        Raises UnreadPythonError; EvaluationError for a row that does not suit the function.
        """
        names = [a.arg for a in self.function.args.args]
        run = _Run(self.constants, dict(zip(names, (dict(row), task), strict=False)))
        try:
            done, value = run.body(self.function.body)
        except UnreadPythonError:
            raise
        except (TypeError, ValueError, LookupError, AttributeError, RecursionError) as error:
            said = f"{type(error).__name__}: {error}"
            raise EvaluationError(f"{self.function.name} does not suit the row ({said})") from error
        if not done or value is None:
            return None
        if not isinstance(value, _Made):
            raise UnreadPythonError(f"{self.function.name} gives no {MADE}")
        return value.keywords


@dataclass(frozen=True, slots=True)
class _Made:
    keywords: dict[str, Any]


_STATEMENTS = (ast.Expr, ast.Assign, ast.AugAssign, ast.Return, ast.If, ast.Pass)
_EXPRESSIONS = (
    ast.Constant, ast.Name, ast.JoinedStr, ast.FormattedValue, ast.Subscript, ast.Slice, ast.BinOp, ast.Compare,
    ast.BoolOp, ast.UnaryOp, ast.IfExp, ast.List, ast.Tuple, ast.ListComp, ast.GeneratorExp, ast.Call, ast.Attribute,
)  # fmt: skip


def _unread(node: ast.AST) -> UnreadPythonError:
    line = getattr(node, "lineno", 0)
    return UnreadPythonError(f"line {line} is Python that is not interpreted: {source(node)}")


def source(node: ast.AST) -> str:
    """Return the first 60 characters of the Python that ``node`` is, on one line, for people."""
    try:
        return " ".join(ast.unparse(node).split())[:60]
    except RecursionError:
        return f"{type(node).__name__}, nested deeply"


@dataclass
class _Run:
    constants: Mapping[str, ast.expr]
    names: dict[str, Any]
    steps: int = 0
    work: int = 0
    within: set[str] = field(default_factory=set)

    def body(self, statements: list[ast.stmt]) -> tuple[bool, Any]:
        """Run statements; return whether one of them returned, and what."""
        for statement in statements:
            match statement:
                case ast.Expr(value=ast.Constant()) | ast.Pass():
                    pass
                case ast.Return(value=value):
                    return True, None if value is None else self.value(value)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self.names[name] = self.value(value)
                case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value):
                    self.names[name] = self.sized(
                        _added(self.name(statement, name), self.value(value))
                    )
                case ast.If(test=test, body=then, orelse=other):
                    done, value = self.body(then if self.value(test) else other)
                    if done:
                        return True, value
                case _:
                    raise _unread(statement)
        return False, None

    def name(self, node: ast.AST, name: str) -> Any:
        """Return what a name stands for: an argument, a variable, a constant of the module."""
        if name in self.names:
            return self.names[name]
        if name in self.constants and name not in self.within:
            self.within.add(name)
            value = self.value(self.constants[name])
            self.within.discard(name)
            return value
        if name in _KNOWN:
            return _KNOWN[name]
        raise _unread(node)

    def value(self, node: ast.expr) -> Any:
        """Return what an expression is worth. Whatever it is long counts, so that no few steps take hours."""
        value = self.worth(node)
        self.worked(len(value) if isinstance(value, str | list | tuple | dict) else 0)
        return value

    def worked(self, count: int) -> None:
        """Count characters and members that were handled."""
        self.work += count
        if self.work > MAX_WORK:
            raise UnreadPythonError(f"a row handles more than {MAX_WORK:,} characters and members")

    def sized(self, value: Any) -> Any:
        """Return ``value`` where all that is in it is within MAX_LENGTH; counts it as handled."""
        self.worked(_length(value))
        return value

    def worth(self, node: ast.expr) -> Any:
        """Return what an expression is worth, uncounted."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise UnreadPythonError(f"a row takes more than {MAX_STEPS:,} steps")
        match node:
            case ast.Constant(value=value) if isinstance(value, str | int | float | bool | None):
                return value
            case ast.Name(id=name):
                return self.name(node, name)
            case ast.JoinedStr(values=parts):
                return _joined("", [self.value(part) for part in parts])
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                return str(_plain(node, self.value(value)))
            case ast.Subscript(value=value, slice=ast.Slice(lower=a, upper=b, step=None)):
                ends = [None if end is None else self.value(end) for end in (a, b)]
                return self.value(value)[ends[0] : ends[1]]
            case ast.Subscript(value=value, slice=place):
                return self.value(value)[self.value(place)]
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self.sized(_added(self.value(left), self.value(right)))
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                return self.value(left) - self.value(right)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARED:
                return self.compared(type(op), self.value(left), self.value(right))
            case ast.BoolOp(op=op, values=values):
                found: Any = isinstance(op, ast.And)
                for part in values:
                    found = self.value(part)
                    if bool(found) != isinstance(op, ast.And):
                        break
                return found
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self.value(operand)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.value(operand)
            case ast.IfExp(test=test, body=then, orelse=other):
                return self.value(then if self.value(test) else other)
            case ast.List(elts=members) | ast.Tuple(elts=members):
                return self.sized([self.value(member) for member in members])
            case (
                ast.ListComp(elt=made, generators=[each])
                | ast.GeneratorExp(elt=made, generators=[each])
            ):
                return self.sized(list(self.members(made, each)))
            case ast.Call():
                return self.call(node)
            case _:
                raise _unread(node)

    def compared(self, op: type[ast.cmpop], a: Any, b: Any) -> bool:
        """Return a comparison; lists are compared at every depth."""
        if not isinstance(a, str) or not isinstance(b, str):
            self.worked(_length(a) + _length(b))
        return _COMPARED[op](a, b)

    def members(self, made: ast.expr, each: ast.comprehension) -> Iterator[Any]:
        """Yield a comprehension's members; its variables are its own."""
        kept = dict(self.names)
        for one in _plain(each.iter, self.value(each.iter)):
            targets = each.target.elts if isinstance(each.target, ast.Tuple) else [each.target]
            values = list(one) if isinstance(each.target, ast.Tuple) else [one]
            for target, value in zip(targets, values, strict=True):
                if not isinstance(target, ast.Name):
                    raise _unread(target)
                self.names[target.id] = value
            if all(self.value(test) for test in each.ifs):
                yield self.value(made)
        self.names = kept

    def call(self, node: ast.Call) -> Any:
        """Return what a call gives: ``Doc``, one of the known functions, or a method of a text, list or row."""
        if any(keyword.arg is None for keyword in node.keywords):
            raise _unread(node)
        keywords = {str(k.arg): self.value(k.value) for k in node.keywords}
        match node.func:
            case ast.Name(id=name) if name == MADE and not node.args:
                return _Made(keywords)
            case ast.Name(id=name) if name in _FUNCTIONS and not keywords:
                given = [_plain(a, self.value(a)) for a in node.args]
                return self.sized(_FUNCTIONS[name](*given))
            case ast.Name(id=name) if name == ASKED and len(node.args) == 2 and not keywords:
                kind = node.args[1]
                if not isinstance(kind, ast.Name) or kind.id not in _TYPES:
                    raise _unread(node)
                return isinstance(self.value(node.args[0]), _TYPES[kind.id])
            case ast.Attribute(value=owner, attr=name):
                return self.method(node, self.value(owner), name, keywords)
            case _:
                raise _unread(node)

    def method(self, node: ast.Call, owner: Any, name: str, keywords: dict[str, Any]) -> Any:
        """Return what a method gives."""
        given = [self.value(a) for a in node.args]
        match owner, name:
            case str(), "join" if not keywords:
                return _joined(owner, given[0])
            case str(), "format":
                return _formatted(node, owner, given, keywords)
            case str(), "replace" if len(given) == 2 and not keywords:
                old, new = map(str, given)
                _bounded(len(owner) + owner.count(old) * len(new))
                return owner.replace(old, new)
            case str() | list(), "index" if not keywords:
                return owner.index(*given)
            case str(), _ if name in _TEXT_METHODS and not keywords:
                return getattr(owner, name)(*given)
            case dict(), "get" if not keywords:
                return owner.get(*given)
            case _:
                raise _unread(node)


def _plain(node: ast.AST, value: Any) -> Any:
    if isinstance(value, _Made):
        raise _unread(node)
    return value


def _bounded(length: int) -> None:
    if length > MAX_LENGTH:
        raise UnreadPythonError(f"a value grows beyond {MAX_LENGTH:,} characters or members")


def _length(value: Any) -> int:
    """Return how many characters and members are in ``value`` at every depth, at most MAX_LENGTH: a list that holds
    itself twice, twenty times over, is a million members long."""
    left, waiting = MAX_LENGTH, [value]
    while waiting:
        one = waiting.pop()
        left -= 1 + (len(one) if isinstance(one, str) else 0)
        if isinstance(one, list | tuple):
            left -= len(one)
            waiting += one if left > 0 else ()
        elif isinstance(one, dict):
            waiting += one.values()
        _bounded(MAX_LENGTH - left)
    return MAX_LENGTH - left


def _added(a: Any, b: Any) -> Any:
    if isinstance(a, str | list) and isinstance(b, str | list):
        _bounded(len(a) + len(b))
    return a + b


def _joined(between: str, parts: Any) -> str:
    texts = list(parts)
    _bounded(sum(len(text) + len(between) for text in texts))
    return between.join(texts)


def _formatted(node: ast.Call, text: str, given: list[Any], keywords: Mapping[str, Any]) -> str:
    """Return ``text.format(...)`` where its fields are names or places and nothing else."""
    found, turn = [], 0
    for literal, name, spec, conversion in string.Formatter().parse(text):
        found.append(literal)
        if name is None:
            continue
        if spec or conversion or not (name == "" or name.isidentifier() or name.isdigit()):
            raise _unread(node)
        place = str(turn) if name == "" else name
        turn += name == ""
        found.append(str(given[int(place)] if place.isdigit() else keywords[place]))
    return _joined("", found)
