"""Validates and formats the values of code problems, for functions and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

INPUT_TYPES = {
    "int": "an integer",
    "str": "a string",
    "ints": "a list of integers",
    "strs": "a list of words (strings)",
    "grid": "a list of rows, each a list of integers",
    "rows": "a list of strings of equal length",
    "pairs": "a list of pairs of integers, each a list `[a, b]`",
    "triples": "a list of triples of integers, each a list `[a, b, c]`",
}
OUTPUT_TYPES = {
    "int": "the result as an integer",
    "str": "the result as a string",
    "ints": "the result as a list of integers",
    "strs": "the result as a list of strings",
    "grid": "the result as a list of rows, each a list of integers",
    "rows": "the result as a list of strings",
}
_INPUT_LINES = {
    "int": "a line with the integer `{name}`",
    "str": "a line with the string `{name}`",
    "ints": "a line with the number of elements of `{name}`, then a line with these elements "
    "separated by single spaces (an empty line if there are none)",
    "strs": "a line with the number of words of `{name}`, then a line with these words separated "
    "by single spaces (an empty line if there are none)",
    "grid": "a line with the number of rows and the number of columns of `{name}`, then each row "
    "on a line of its own, its integers separated by single spaces",
    "rows": "a line with the number of rows of `{name}`, then each row on a line of its own",
    "pairs": "a line with the number of pairs in `{name}`, then each pair on a line of its own, "
    "its two integers separated by a single space",
    "triples": "a line with the number of triples in `{name}`, then each triple on a line of its "
    "own, its three integers separated by single spaces",
}
_OUTPUT_LINES = {
    "int": "a line with the integer that is the result",
    "str": "a line with the string that is the result",
    "ints": "a line with the integers of the result, separated by single spaces (an empty line if "
    "there are none)",
    "strs": "a line with the words of the result, separated by single spaces (an empty line if "
    "there are none)",
    "grid": "each row of the result on a line of its own, its integers separated by single spaces "
    "(nothing if there are no rows)",
    "rows": "each string of the result on a line of its own (nothing if there are none)",
}
_READERS = {
    "int": "{name} = int(input())",
    "str": "{name} = input()",
    "ints": "input()\n{name} = list(map(int, input().split()))",
    "strs": "input()\n{name} = input().split()",
    "grid": "{name} = [list(map(int, input().split())) for _ in range(int(input().split()[0]))]",
    "rows": "{name} = [input() for _ in range(int(input()))]",
    "pairs": "{name} = [list(map(int, input().split())) for _ in range(int(input()))]",
    "triples": "{name} = [list(map(int, input().split())) for _ in range(int(input()))]",
}
_WRITERS = {
    "int": "print(result)",
    "str": "print(result)",
    "ints": "print(*result)",
    "strs": "print(*result)",
    "grid": 'print("".join(" ".join(map(str, row)) + "\\n" for row in result), end="")',
    "rows": 'print("".join(row + "\\n" for row in result), end="")',
}
_WIDTHS = {"pairs": 2, "triples": 3}


def check_kind(name: str, kind: str, value: Any) -> None:
    """Raise ValueError unless ``value`` is of ``kind``."""
    if not _fits(kind, value):
        raise ValueError(f"{name} is not of kind {kind!r}: {value!r:.200}")


def _fits(kind: str, value: Any) -> bool:
    if kind == "int":
        return type(value) is int
    if kind == "str":
        return type(value) is str and value == value.strip() and value.isprintable()
    if type(value) is not list:
        return False
    if kind == "ints":
        return all(type(part) is int for part in value)
    if kind in ("strs", "rows"):
        words = all(type(part) is str and part and part.split() == [part] for part in value)
        return words and (kind == "strs" or len({len(part) for part in value}) <= 1)
    widths = {len(part) if type(part) is list else -1 for part in value}
    if kind in _WIDTHS and not widths <= {_WIDTHS[kind]}:
        return False
    if len(widths) > 1 or widths & {0, -1}:
        return False
    return all(type(cell) is int for part in value for cell in part)


def format_section(inputs: Sequence[tuple[str, str]], output: str) -> str:
    lines = [_INPUT_LINES[kind].format(name=name) for name, kind in inputs]
    first, *further = lines
    text = f"Input format: {first}" + "".join(f"; next {line}" for line in further)
    return f"{text}.\nOutput format: {_OUTPUT_LINES[output]}."


def render_input(inputs: Sequence[tuple[str, str]], args: Sequence[Any]) -> str:
    parts = zip(inputs, args, strict=True)
    return "".join(line + "\n" for (_, kind), value in parts for line in _lines(kind, value))


def _lines(kind: str, value: Any) -> list[str]:
    if kind in ("int", "str"):
        return [str(value)]
    if kind in ("ints", "strs"):
        return [str(len(value)), " ".join(map(str, value))]
    if kind == "rows":
        return [str(len(value)), *value]
    cells = [" ".join(map(str, row)) for row in value]
    if kind == "grid":
        return [f"{len(value)} {len(value[0]) if value else 0}", *cells]
    return [str(len(value)), *cells]


def render_output(kind: str, value: Any) -> str:
    if kind in ("int", "str"):
        return f"{value}\n"
    if kind in ("ints", "strs"):
        return " ".join(map(str, value)) + "\n"
    if kind == "rows":
        return "".join(f"{row}\n" for row in value)
    return "".join(" ".join(map(str, row)) + "\n" for row in value)


def reader_source(name: str, kind: str) -> str:
    return _READERS[kind].format(name=name)


def writer_source(kind: str) -> str:
    return _WRITERS[kind]
