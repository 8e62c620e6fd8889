"""Find the answer in a response in linear time; no regular expression here can backtrack."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

from prorl_verifiers.findings import listening, note
from prorl_verifiers.types import MAX_ANSWER

OPEN_THINK, CLOSE_THINK = "<think>", "</think>"
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_ANSWER_LINE = re.compile(
    r"(?:(?:therefore|so|thus|hence|then|finally|and)\b,? ?){0,2}(?:(?:the|our|my) )?"
    r"(?:(?:final|correct|right) )?(?:answer|result|solution) ?(?:is ?:?|:|=) ?(.*)",
    re.IGNORECASE,
)
_BOX = re.compile(r"\\(?:boxed|fbox)[ \t\n]{0,8}\{")
_PIECE, _LONGEST_BOX = 1 << 16, 16
"""Number of characters searched at once for a box, and maximum length of a recognised box opening."""
_AROUND = 200
_FENCE = re.compile(r"[ \t]{0,8}(`{3,}|~{3,})[ \t]*([^\s`]{0,40})[^`]*")


def after_thinking(response: str) -> str | None:
    """Return the text after the last ``</think>``, or all of it without thinking, or None if the thinking never ends.

    If a chat template opens the thinking, the caller puts ``<think>`` before the response.
    """
    close = response.rfind(CLOSE_THINK)
    if close < 0:
        return None if OPEN_THINK in response else response
    text = response[close + len(CLOSE_THINK) :]
    return None if OPEN_THINK in text else text


def last_boxed(text: str) -> str | None:
    r"""Return the content of the last ``\boxed{...}`` or ``\fbox{...}``, with braces matched.

    Returns None if it is not closed or longer than MAX_ANSWER characters.
    """
    span = last_box_span(text)
    return None if span is None else text[span[0] : span[1]].strip()


def around_last_box(text: str) -> tuple[str, str]:
    """Return the text before and after the last box on its line, at most 200 characters each."""
    span = last_box_span(text)
    if span is None:
        return "", ""
    start, end = span
    before = text[max(0, start - _AROUND) : start].rpartition("\n")[2].rpartition("\\")[0]
    return before, text[end + 1 : end + 1 + _AROUND].partition("\n")[0]


def last_box_span(text: str) -> tuple[int, int] | None:
    """Return the start and end of the content of ``last_boxed``."""
    start = _last_box_start(text)
    if start is None:
        return None
    depth = 0
    for match in _BRACES.finditer(text, start, start + MAX_ANSWER + 2):
        token = match.group()
        if token == "{":
            depth += 1
        elif token == "}":
            depth -= 1
            if depth == 0:
                return start + 1, match.start()
    return None


def _last_box_start(text: str) -> int | None:
    end = len(text)
    while end > 0:
        start = max(0, end - _PIECE)
        last = None
        for last in _BOX.finditer(text, start, end + _LONGEST_BOX):  # noqa: B007 - the last one counts
            pass
        if last is not None:
            return last.end() - 1
        end = start
    return None


def last_tag(text: str) -> str | None:
    """Return the stripped text of the last closed ``<answer>``, or None."""
    span = last_tag_span(text)
    return None if span is None else text[span[0] : span[1]].strip()


def last_tag_span(text: str) -> tuple[int, int] | None:
    """Return the start and end of the content of ``last_tag``."""
    close = text.rfind("</answer>")
    start = text.rfind("<answer>", 0, close) if close >= 0 else -1
    return None if start < 0 else (start + len("<answer>"), close)


def answer_line(text: str) -> str | None:
    """Return X if the last non-blank line is ``Answer: X``, "So the final answer is X" or similar, else None.

    X is returned without markup and full stop.
    """
    stripped = text.rstrip()
    line = stripped[stripped.rfind("\n") + 1 :]
    if len(line) > 2000:
        return None
    line = " ".join(line.split()).lstrip(" *_>#-")
    head, tail = line[:80], line[80:]
    match = _ANSWER_LINE.fullmatch(head.replace("**", "").replace("__", "").strip() + tail)
    if match is None:
        return None
    answer = match.group(1).strip(" *_`")
    if answer.endswith(".") and not answer.endswith(".."):
        answer = answer[:-1].rstrip(" *_`")
    for left, right in (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]")):
        inner = answer[len(left) : len(answer) - len(right)]
        if answer.startswith(left) and answer.endswith(right) and left not in inner:
            return inner.strip() or None
    return answer or None


def note_answer(text: str, answer: str) -> None:
    """Record a finding with the answer and its place in the text."""
    if not listening():
        return
    span = last_box_span(text)
    where = "the last \\boxed{}"
    if span is None or answer != text[slice(*span)].strip():
        where = "the last boxes together" if span is not None else "the last line"
    if span is None:
        end = len(text.rstrip())
        span = text.rfind("\n", 0, end) + 1, end
    note("answer", None, {"found in": where, "answer": answer}, span=span)


def last_code_block(text: str, marks: Collection[str] = ("python", "py", "python3")) -> str | None:
    """Return the last closed fenced block marked with one of ``marks``, else the last closed one without a mark.

    A fence is a line of three or more backticks or tildes, followed by the mark. Unclosed blocks (truncated answers) do
    not count.
    """
    marked: str | None = None
    plain: str | None = None
    fence, mark = "", ""
    body: list[str] = []
    for line in text.split("\n"):
        if fence:
            closing = line.strip()
            if closing.startswith(fence) and not closing.strip(fence[0]):
                if mark in marks:
                    marked = "\n".join(body)
                elif not mark:
                    plain = "\n".join(body)
                fence, body = "", []
            else:
                body.append(line)
            continue
        match = _FENCE.fullmatch(line.rstrip("\r")) if "```" in line or "~~~" in line else None
        if match:
            fence, mark = match.group(1), match.group(2).lower()
    return marked if marked is not None else plain


def closing_bracket(text: str, place: int, brackets: str = "{}") -> int:
    """Return the index of the bracket that closes the one before ``place``, or the text's length."""
    depth = 1
    for index in range(place, len(text)):
        depth += (text[index] == brackets[0]) - (text[index] == brackets[1])
        if depth == 0:
            return index
    return len(text)


def strict_json(text: str | bytes) -> Any:
    """Parse JSON. Raises ValueError, also for NaN and Infinity."""

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)
