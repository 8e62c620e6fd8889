"""Splits golds and answers into parts.

Separators are tried in this order: labels, line breaks, semicolons, "and", commas.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from prorl_verifiers.math.reading.answers import closed_boxes
from prorl_verifiers.notation.latex_text import split_top, strip_wrappers

MAX_PARTS = 20
MAX_PART = 2000

_LABEL = re.compile(
    r"(?:^|(?<=[\s;,.}]))(?:\\text(?:bf)?\s*\{\s*)?(?:\(\s*(?:part\s+)?([a-t]|[ivx]{1,4}|\d{1,2})\s*\)|(?:part\s+)?([a-t]|[ivx]{1,4}|\d{1,2})\))"
    r"\s*[:.]?\s*\}?[\s~:]*"
)
_SERIES = (
    list("abcdefghijklmnopqrst"),
    "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx".split(),  # noqa: SIM905
    [str(number) for number in range(1, MAX_PARTS + 1)],
)
_ENCLOSED = re.compile(
    r"(?:\\left)?(?:\\?[({\[]|\\langle)(.*?)(?:\\right)?(?:\\?[)}\]]|\\rangle)"
    r"|\\begin\{[pbv]?matrix\}(.*)\\end\{[pbv]?matrix\}",
    re.DOTALL,
)
_LINE = re.compile(r"&|\\\\(?:\[[^\]]*\])?|\n|\\newline(?![A-Za-z])|\\q?quad(?![A-Za-z])")
_AND = re.compile(
    r"\s*,?\s*(?:\\(?:text|mathrm)\s*\{\s*,?\s*and\s*\}|(?<![A-Za-z\\])and(?![A-Za-z]))\s*"
)


def gold_parts(reference: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return one reference per value of a gold list, or None if the gold is a single value."""
    answers = part_texts(reference.get("answer"))
    if answers is None:
        return None
    parts = []
    for at, answer in enumerate(answers):
        part: dict[str, Any] = {"answer": answer}
        for key in ("unit", "tolerance"):
            value = reference.get(key)
            value = value[at] if isinstance(value, list) else value
            if value is not None:
                part[key] = value
        parts.append(part)
    return parts


def part_texts(answer: Any) -> list[str] | None:
    """Split a list, a JSON list or a labelled text such as ``(a) 5 m; (b) 3 s``, or return None."""
    if isinstance(answer, list):
        return [str(part) for part in answer]
    if not isinstance(answer, str) or len(answer) > MAX_PARTS * MAX_PART:
        return None
    return _json_list(answer) or labelled(answer)


def is_open_interval(gold: Any, answer: str) -> bool:
    """Return whether ``answer`` starts with ``(``, and ``gold`` could be a closed interval such as ``[1, 4]``."""
    if not isinstance(gold, str) or re.search(r"[(]", strip_wrappers(answer.strip())[:7]) is None:
        return False
    ends = _json_list(gold) or []
    return len(ends) == 2 and '"' not in gold and float(ends[0]) < float(ends[1])


def _json_list(text: str) -> list[str] | None:
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return None
    try:
        members = json.loads(text)
    except (ValueError, RecursionError):
        return None
    plain = all(isinstance(m, str | int | float) and not isinstance(m, bool) for m in members)
    if not plain or len(members) < 2:
        return None
    return [str(member) for member in members]


def labelled(text: str) -> list[str] | None:
    """Split a text at consecutive labels such as (a) (b), a) b), (i) (ii) or 1) 2), or return None."""
    text = _single_blanks(text)
    labels = [(m.group(1) or m.group(2), m) for m in _LABEL.finditer(text)]
    if len(labels) < 2 or len(labels) > MAX_PARTS or text[: labels[0][1].start()].strip():
        return None
    names = [name for name, _ in labels]
    if not any(names == series[: len(names)] for series in _SERIES):
        return None
    ends = [*(match.start() for _, match in labels[1:]), len(text)]
    parts = [_tidy(text[m.end() : end]) for (_, m), end in zip(labels, ends, strict=True)]
    return parts if all(parts) else None


def answer_parts(answer: str | None, text: str, count: int) -> list[str] | None:
    """Split an answer into ``count`` parts, or take the last ``count`` boxed texts. Return None if neither is possible."""
    if answer is not None:
        parts = _split(answer, count)
        if parts is not None:
            return parts
    boxes: list[str] = []
    limit = len(text) + 1
    for start, end, content in reversed(closed_boxes(text, 4 * count, MAX_PART)):
        if end <= limit and len(boxes) < count:
            boxes.insert(0, _LABEL.sub("", content, count=1).strip())
            limit = start
    return boxes if len(boxes) == count else None


def _split(answer: str, count: int) -> list[str] | None:
    if len(answer) > MAX_PARTS * MAX_PART:
        return None
    answer = strip_wrappers(_single_blanks(answer))
    for text in (answer,) if _json_list(answer) else (_inside(answer), answer):
        tries = (
            _json_list(text),
            labelled(text),
            _LINE.split(text),
            split_top(text, ";"),
            _AND.split(text),
            [part for piece in _AND.split(text) for part in re.split(r",(?=[\s\\]|$)", piece)]
            if not re.search(r"[(\[]", text)
            else None,
            [part for piece in _AND.split(text) for part in split_top(piece, ",")],
        )
        for parts in tries:
            tidy = [_tidy(part) for part in parts or [] if _tidy(part)]
            if len(tidy) == count:
                return [_LABEL.sub("", part, count=1).strip() or part for part in tidy]
    return None


def _inside(text: str) -> str:
    match = _ENCLOSED.fullmatch(text)
    if match is None or text.count(r"\begin") > 1:
        return ""
    inner = str(match.group(1) or match.group(2) or "")
    depth = 0
    for letter in inner:
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0:
            return ""
    return inner


def _single_blanks(text: str) -> str:
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def _tidy(part: str) -> str:
    part = part.strip().strip(",;").strip()
    part = re.sub(r"(?:\\text\s*\{\s*,?\s*and\s*\}|(?<![A-Za-z])and)$", "", part)
    return part.strip(" ,;~").removesuffix("\\").strip(" ,;")
