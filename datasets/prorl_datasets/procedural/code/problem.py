"""Builds code items from problems (statement, gold solution, brute force).

Expected outputs come from the brute force, or from the gold solution if the input is too large for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from textwrap import indent
from typing import Any

from prorl_datasets.candidate import TWO_PROGRAMS
from prorl_datasets.procedural.code.forms import (
    INPUT_TYPES,
    OUTPUT_TYPES,
    check_kind,
    format_section,
    reader_source,
    render_input,
    render_output,
    writer_source,
)
from prorl_datasets.procedural.items import Family, Item
from prorl_verifiers import Task

LEAST_TESTS, MOST_TESTS = 10, 12
MOST_EQUAL = 2
"""Maximum number of an item's tests with the same output, so that no constant passes more than 20%."""
LARGE_TESTS = 2
"""Number of tests per item with inputs too large for a slow algorithm, if the problem has such inputs."""
_DRAWS = 20 * MOST_TESTS
_PROBLEMS = 12
_PLAIN: tuple[Any, ...] = (0, -1, "", "none", [], [0], [-1], [0, 0], [0, 0, 0])
"""Results that make a poor example; shown only if there is no better one."""
FUNCTION_NAMES = ("solve", "compute", "answer", "process", "evaluate", "find_result", "run_task")


class TooUniform(ValueError):
    """Raised if a problem has too few distinct inputs or outputs."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem that can be posed as a function or a program."""

    statement: str
    """The task, input names and size limits; it must not mention functions or stdin."""
    signature: str
    """Names and kinds of the inputs and the kind of the result: ``n: int, a: ints -> str``.

    Kinds: ``int``, ``str`` (one line, no blanks at its ends), ``ints``, ``strs`` (words without blanks), ``grid``
    (equally long lists of int), ``rows`` (equally long words), and for inputs ``pairs``, ``triples`` (lists of 2 or 3
    int).
    """
    solution: str
    """Source of the gold solution, which defines ``solve(<names>)`` with the standard library only."""
    brute: Callable[..., Any]
    """Independent solver that takes the same arguments."""
    draw: Callable[[Random], tuple[Any, ...]]
    """Returns the arguments of one test (JSON values)."""
    parameters: Mapping[str, Any]
    """JSON values that identify the problem in its family."""
    edges: tuple[tuple[Any, ...], ...] = ()
    """Arguments that are always tested, unless two earlier tests have the same output."""
    large: Callable[[Random], tuple[Any, ...]] | None = None
    """Draws arguments that are too large for a slow algorithm."""

    @property
    def inputs(self) -> list[tuple[str, str]]:
        pairs = self.signature.partition(" -> ")[0].split(", ")
        return [(name, kind) for name, _, kind in (pair.partition(": ") for pair in pairs)]

    @property
    def output(self) -> str:
        return self.signature.partition(" -> ")[2]


@dataclass(frozen=True, slots=True)
class _Case:
    args: list[Any]
    expected: Any


def code_family(name: str, summary: str, make: Callable[[Random, int], Problem]) -> Family:
    """Return the family that poses the problems drawn by ``make(rng, level)``.

    A problem that varies too little is redrawn a few times before TooUniform is raised.
    """

    def generate(rng: Random, level: int) -> Item:
        for _ in range(_PROBLEMS - 1):
            try:
                return code_item(rng, make(rng, level))
            except TooUniform:
                continue
        return code_item(rng, make(rng, level))

    return Family(name, "code", generate, summary)


def code_item(rng: Random, problem: Problem) -> Item:
    """Pose the problem as a function or a program, chosen at random, with 10 to 12 tests.

    Raises TooUniform if inputs vary too little, ValueError for a value of the wrong kind.
    """
    as_function = rng.random() < 0.5
    cases = _cases(rng, problem)
    question, reference, source = (_function if as_function else _program)(rng, problem, cases)
    return Item(
        question,
        Task("code", reference),
        f"```python\n{source.strip()}\n```",
        metadata={"form": "function" if as_function else "program"},
        parameters={**problem.parameters},
        core=problem.statement,
        independent=TWO_PROGRAMS,
    )


def _cases(rng: Random, problem: Problem) -> list[_Case]:
    """Return the tests: a short one as the example, other drawn tests, edge cases and large inputs."""
    count = rng.randint(LEAST_TESTS, MOST_TESTS)
    inputs: set[str] = set()
    values: dict[str, int] = {}
    large = _large_cases(rng, problem, inputs, values)
    edges = [case for args in problem.edges if (case := _case(problem, args, inputs, values))]
    count -= len(large)
    drawn: list[_Case] = []
    for _ in range(_DRAWS):
        if len(drawn) + len(edges) >= count:
            break
        case = _case(problem, problem.draw(rng), inputs, values)
        if case is not None:
            drawn.append(case)
    if len(drawn) + len(edges) < count or len(drawn) < 2:
        raise TooUniform(f"the inputs vary too little: {problem.statement[:80]!r}")
    first = min(
        range(len(drawn)),
        key=lambda i: (drawn[i].expected in _PLAIN, len(json.dumps(drawn[i].args)), i),
    )
    return [drawn.pop(first), *drawn, *edges, *large]


def _large_cases(
    rng: Random, problem: Problem, inputs: set[str], values: dict[str, int]
) -> list[_Case]:
    if problem.large is None:
        return []
    names: dict[str, Any] = {}
    exec(problem.solution, names)  # noqa: S102 - our own text, made above
    solve = names["solve"]
    drawn = [problem.large(rng) for _ in range(LARGE_TESTS)]
    return [case for args in drawn if (case := _case(problem, args, inputs, values, solve))]


def _case(
    problem: Problem,
    args: tuple[Any, ...],
    inputs: set[str],
    values: dict[str, int],
    solve: Callable[..., Any] | None = None,
) -> _Case | None:
    """Return a test, or None if its input is a repetition or its output is too frequent."""
    text = json.dumps(args)
    if text in inputs:
        return None
    inputs.add(text)
    plain = json.loads(text)
    for (name, kind), value in zip(problem.inputs, plain, strict=True):
        check_kind(name, kind, value)
    expected = json.loads(json.dumps((solve or problem.brute)(*json.loads(text))))
    check_kind("the result", problem.output, expected)
    shown = render_output(problem.output, expected)
    if values.get(shown, 0) >= MOST_EQUAL:
        return None
    values[shown] = values.get(shown, 0) + 1
    return _Case(plain, expected)


def _function(rng: Random, problem: Problem, cases: list[_Case]) -> tuple[str, dict[str, Any], str]:
    name = rng.choice(FUNCTION_NAMES)
    signature = f"{name}({', '.join(argument for argument, _ in problem.inputs)})"
    lead = rng.choice(("Write", "Define", "Implement"))
    kinds = "; ".join(f"`{argument}` is {INPUT_TYPES[kind]}" for argument, kind in problem.inputs)
    ask = f"{lead} a Python function `{signature}` that returns {OUTPUT_TYPES[problem.output]}"
    shown = cases[: rng.randint(1, 2)]
    calls = "\n".join(
        f"{name}({', '.join(map(repr, case.args))}) == {case.expected!r}" for case in shown
    )
    title = "Example" if len(shown) == 1 else "Examples"
    parts = (problem.statement, f"{ask}. Here {kinds}.", f"{title}:\n```\n{calls}\n```")
    order = (0, 1, 2) if rng.random() < 0.6 else (1, 0, 2)
    question = "\n\n".join(parts[i] for i in order)
    tests = [{"call": name, "args": case.args, "expected": case.expected} for case in cases]
    source = re.sub(r"\bsolve\b", name, problem.solution)
    return question, {"tests": tests, "language": "python", "entry_point": name}, source


def _program(rng: Random, problem: Problem, cases: list[_Case]) -> tuple[str, dict[str, Any], str]:
    texts = [
        (render_input(problem.inputs, case.args), render_output(problem.output, case.expected))
        for case in cases
    ]
    ask = rng.choice(
        (
            "Write a Python program that reads standard input and prints the result.",
            "Write a complete Python program: it reads standard input and prints the result.",
            "Solve this with a Python program that reads from stdin and writes to stdout.",
        )
    )
    sample = f"Sample input:\n```\n{texts[0][0]}```\nSample output:\n```\n{texts[0][1]}```"
    layout = format_section(problem.inputs, problem.output)
    parts = (problem.statement, ask, layout, sample)
    order = (0, 1, 2, 3) if rng.random() < 0.6 else (1, 0, 2, 3)
    question = "\n\n".join(parts[i] for i in order)
    names = ", ".join(name for name, _ in problem.inputs)
    read = "\n".join(reader_source(name, kind) for name, kind in problem.inputs)
    reads = indent(read, "    ")
    source = (
        f"{problem.solution.strip()}\n\n\ndef main():\n{reads}\n"
        f"    result = solve({names})\n    {writer_source(problem.output)}\n\n\nmain()"
    )
    tests = [{"stdin": stdin, "stdout": stdout} for stdin, stdout in texts]
    return question, {"tests": tests, "language": "python"}, source


_ALL_CALLS = '''

def prorl_all_tests(cases):
    """Return what the function under test gives for each list of arguments."""
    return [{name}(*args) for args in cases]
'''

_ALL_PROGRAMS = '''
PRORL_SOURCE = {source!r}


def prorl_all_tests(texts):
    """Return what the program prints for each standard input, white space at line ends removed."""
    import io
    import sys

    code = compile(PRORL_SOURCE, "program.py", "exec")
    outputs = []
    saved = sys.stdin, sys.stdout
    try:
        for text in texts:
            sys.stdin, sys.stdout = io.StringIO(text), io.StringIO()
            exec(code, {{"__name__": "__main__"}})
            lines = [line.rstrip() for line in sys.stdout.getvalue().split("\\n")]
            outputs.append("\\n".join(lines).rstrip())
    finally:
        sys.stdin, sys.stdout = saved
    return outputs
'''

ONE_BOX_LIMITS = {
    "total_seconds": 60,
    "wall_seconds": 60,
    "cpu_seconds": 60,
    "memory_mb": 1024,
    "output_kb": 8192,
}


def one_box(item_task: Task, gold: str) -> tuple[str, Task]:
    """Return a response and a task that run all tests of a code item in one sandbox process.

    ``gold`` is the item's gold response, which must be trusted. Raises ValueError if it contains no code, or unless the
    tests all call the same function or all use stdin and stdout.
    """
    from prorl_sandbox import LANGUAGES
    from prorl_verifiers.extract import last_code_block

    source = last_code_block(gold, LANGUAGES.get("python").marks)
    if source is None:
        raise ValueError("the gold response holds no closed Python block")
    tests = item_task.reference["tests"]
    argument: list[Any]
    expected: list[Any]
    if all("stdout" in test for test in tests):
        argument = [test.get("stdin", "") for test in tests]
        expected = [_stripped(test["stdout"]) for test in tests]
        program = _ALL_PROGRAMS.format(source=source)
    else:
        names = sorted({str(test.get("call", "")) for test in tests})
        if len(names) != 1 or not names[0].isidentifier():
            raise ValueError("the tests are neither all calls of one function nor all stdin/stdout")
        argument = [test["args"] for test in tests]
        expected = [test["expected"] for test in tests]
        program = f"{source.rstrip()}\n{_ALL_CALLS.format(name=names[0])}"
    test = {"call": "prorl_all_tests", "args": [argument], "expected": expected}
    reference = {"tests": [test], "language": "python", "limits": dict(ONE_BOX_LIMITS)}
    return f"```python\n{program.strip()}\n```", Task("code", reference)


def _stripped(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n")).rstrip()
