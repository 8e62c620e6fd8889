"""Tools for environments, and the execution of tool calls."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prorl_verifiers.environments.calls import read_calls

if TYPE_CHECKING:
    from prorl_sandbox import Sandbox

Tool = Callable[[Mapping[str, Any]], str]
"""Takes the arguments of a call and returns its result. Raises ToolError with a message for the model."""
MOST_CALLS = 8
"""Maximum number of calls in one response that are executed."""
LONGEST_RESULT = 4000
"""Maximum characters of a result; the rest is cut off."""
LONGEST_EXPRESSION = 500
CALL_SECONDS = 5.0
"""Limit of wall and CPU seconds for one call of ``python_session``."""
_WORD = re.compile(r"\w+")
_POWER_OF_POWER = re.compile(r"\^\s*-?\s*[\w.]+\s*\^")
_REPLAY = """
import ast, contextlib, io, json, random, sys
*earlier, last = json.load(sys.stdin)
random.seed(0)
names = {"__name__": "__main__"}

def run(source):
    tree = ast.parse(source)
    shown = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<call>", "exec"), names)
    if shown is not None:
        value = eval(compile(ast.Expression(shown.value), "<call>", "eval"), names)
        if value is not None:
            print(repr(value))

for source in earlier:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
        run(source)
run(last)
"""


class ToolError(Exception):
    """Raised if a tool call fails. Its message is shown to the model."""


def answer_calls(response: str, tools: Mapping[str, Tool]) -> list[dict[str, str]]:
    """Return a message for each call in a response: its result, or ``error: ...``."""
    messages = []
    for call in read_calls(response)[1][:MOST_CALLS]:
        try:
            if fault := call.fault_among(tools):
                raise ToolError(fault)
            result = tools[call.name](call.arguments)
        except ToolError as error:
            result = f"error: {error}"
        if len(result) > LONGEST_RESULT:
            result = f"{result[:LONGEST_RESULT]} ... ({len(result) - LONGEST_RESULT} more)"
        messages.append({"role": "tool", "content": result or "(no output)"})
    return messages


def _text(arguments: Mapping[str, Any], name: str, longest: int) -> str:
    value = arguments.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= longest:
        raise ToolError(f"the argument {name!r} must be a string of 1 to {longest} characters")
    return value


def calculator(arguments: Mapping[str, Any]) -> str:
    """Return the value of ``expression`` with at most 12 digits after the point."""
    from prorl_verifiers.math.evaluating.values import Evaluator
    from prorl_verifiers.math.reading.parser import read

    text = _text(arguments, "expression", LONGEST_EXPRESSION)
    plain = text.replace("**", "^")
    if "%" in text or _POWER_OF_POWER.search(plain):
        raise ToolError("% and a^b^c are ambiguous: write / 100 or (a^b)^c")
    try:
        value = Evaluator({}, digits=30).value(read(plain, grouping=False))
        if isinstance(value, Fraction) and value.denominator == 1:
            return str(value.numerator)
        rounded = Fraction(round(value * 10**12), 10**12) if isinstance(value, Fraction) else value
        if not math.isfinite(number := float(rounded)):
            raise OverflowError
        return f"{number:.15g}"
    except (ArithmeticError, KeyError, TypeError, ValueError) as error:
        raise ToolError(f"cannot evaluate {text!r} ({type(error).__name__})") from error


def python_session(calls: list[str], arguments: Mapping[str, Any], sandbox: Sandbox) -> str:
    """Run ``code`` after the conversation's earlier ``calls`` and return its output. Raises SandboxError.

    The earlier calls run again in a new sandbox. Unless it times out, the code is appended to ``calls``.
    """
    from prorl_sandbox import Limits, Program

    code = _text(arguments, "code", 20_000)
    program = Program(_REPLAY, stdin=json.dumps([*calls, code]))
    outcome = sandbox.run(program, Limits(wall_seconds=CALL_SECONDS, cpu_seconds=CALL_SECONDS))
    if outcome.status == "timeout":
        return f"timed out after {CALL_SECONDS:g} s"
    calls.append(code)
    if outcome.status == "ok":
        return outcome.stdout
    lines = outcome.stderr.strip().splitlines() or [outcome.hint or outcome.status]
    return f"{outcome.stdout}{lines[-1]}"


class TextSearch:
    """A tool that returns the ``most`` best matching paragraphs of a folder's ``.txt`` and ``.md`` files.

    Paragraphs that share rare words with ``query`` rank higher.
    """

    def __init__(self, folder: Path, most: int = 3) -> None:
        self._most = most
        files = sorted(path for path in folder.rglob("*") if path.suffix in (".txt", ".md"))
        self._texts = [
            f"{path.relative_to(folder)}: {paragraph.strip()}"
            for path in files
            for paragraph in path.read_text(encoding="utf-8", errors="replace").split("\n\n")
            if paragraph.strip()
        ]
        self._words = [frozenset(_words(text)) for text in self._texts]
        self._counts = Counter(word for words in self._words for word in words)

    def __call__(self, arguments: Mapping[str, Any]) -> str:
        query = set(_words(_text(arguments, "query", LONGEST_EXPRESSION)))
        weights = {
            word: math.log1p(len(self._texts) / self._counts[word])
            for word in query & self._counts.keys()
        }
        ranked = sorted(
            (
                (-sum(weights.get(w, 0.0) for w in words & query), at)
                for at, words in enumerate(self._words)
            )
        )
        found = [self._texts[at] for weight, at in ranked[: self._most] if weight < 0]
        return "\n\n".join(found) or "nothing found"


def _words(text: str) -> Sequence[str]:
    return _WORD.findall(text.lower())
