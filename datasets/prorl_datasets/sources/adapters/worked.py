"""Extracts answers from worked solutions: option letters and short final answers."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from prorl_datasets.sources.adapters.fields import Unusable
from prorl_verifiers.extract import last_boxed
from prorl_verifiers.stem.choices import choice_index
from prorl_verifiers.stem.numbers import read_measure

_LABELS = (
    re.compile(r"(?:^|(?<=\s))\(([A-Za-z])\)[ \t]*(?=\S)"),
    re.compile(r"(?:^|(?<=\n))[ \t]*([A-Za-z])(?:\)[ \t]*|\.[ \t]+)(?=\S)"),
    re.compile(r"(?:^|(?<=\s))([A-Z])[.)][ \t]+(?=\S)"),
)
_NAMES_LETTER = re.compile(
    r"(?i:\b(?:answer|ans|(?:correct|right|best)\s+(?:option|choice|alternative|one))\b)"
    r"\.?(?i:\s+(?:is|choice|option|would\s+be))*"
    r"\s*[:,]?\s*(?:\\(?:boxed|text|mathrm|textbf)\{|[$*(\[{\s])*(?:([A-Z])|(?<=[(\[{*])([a-z]))"
    r"(?=[)\]}*.,:;$\s]|$)"
)
"""Matches the naming of an option. Small letters need brackets or marks: "the answer is a lie" names no option."""
_BEGINS = re.compile(r"\s*(?:\*\*)?[(\[]?([A-Za-z])(?:[)\].:]|\*\*)(?=\s|$|\*)")
_ALONE = re.compile(r"\s*[(\[]?([A-Za-z])[)\]]?\s*\.?\s*")


def options_in(problem: str) -> list[str] | None:
    for pattern in _LABELS:
        labels = list(pattern.finditer(problem))
        for start in range(len(labels)):
            run = _label_run(labels, start)
            if len(run) < 3:
                continue
            ends = [match.start() for match in run[1:]]
            last = problem.find("\n\n", run[-1].end())
            ends.append(len(problem) if last < 0 else last)
            texts = [
                " ".join(problem[match.end() : end].split()).strip(" ;,")
                for match, end in zip(run, ends, strict=True)
            ]
            distinct = len(set(texts)) == len(texts)
            return texts if distinct and all(texts) and len(texts) <= 26 else None
    return None


def _label_run(labels: list[re.Match[str]], start: int) -> list[re.Match[str]]:
    first = labels[start].group(1)
    if first not in "Aa":
        return []
    run: list[re.Match[str]] = []
    for match in labels[start : start + 26]:
        if match.group(1) != chr(ord(first) + len(run)):
            break
        run.append(match)
    return run


def letter_of(solution: str, count: int) -> str | None:
    """Return the letter of the option (one of ``count``) that a solution names, or None. Raises Unusable if several."""
    alone = _ALONE.fullmatch(solution)
    begins = _BEGINS.match(solution)
    named = [match.group(1) or match.group(2) for match in _NAMES_LETTER.finditer(solution)]
    if alone is not None:
        named = [alone.group(1)]
    elif begins is not None:
        named.append(begins.group(1))
    letters = {letter.upper() for letter in named if ord(letter.upper()) - ord("A") < count}
    if len(letters) > 1:
        raise Unusable("the solution names several options", ", ".join(sorted(letters)))
    return min(letters) if letters else None


NO_TRUTH = "no usable ground truth"
_MAX_ANSWER = 120
_MAX_TEXT = 20_000
"""Maximum number of characters of a problem or solution; longer texts are slow to search."""
_MAX_TAIL = 160
"""Maximum number of characters of prose after the last equation."""
_TASK = re.compile(
    r"(?:^|[.?!:;]\s+|\n\s*|,\s*(?:and|then)\s+)(?:(?:please|also|and)\s+)?(?:prove|show|derive|explain|sketch|draw"
    r"|plot|discuss|describe|verify|demonstrate|justify|why|compare|list|define|outline|state)\b",
    re.IGNORECASE,
)
_MANY = re.compile(
    r"\b(?:find|determine|what are|compute|calculate|give|state|evaluate)\b[^.?]{0,200}?"
    r"\b(?:all|values|each|both|pairs|roots|solutions)\b|\brespectively\b",
    re.IGNORECASE,
)
_FIRST_PART = re.compile(r"(?:^|(?<=\s))\(?(?:a|i|1)[.)](?=\s)", re.IGNORECASE)
_SECOND_PART = re.compile(r"(?<=\s)\(?(?:b|ii|2)[.)](?=\s)", re.IGNORECASE)
_PART = 4000
"""Maximum number of characters between the labels of the first and second part."""
_MATH = re.compile(
    r"\$\$(.{1,2000}?)\$\$|\\\[(.{1,2000}?)\\\]|\\\((.{1,2000}?)\\\)|\$((?:[^$\\]|\\.){1,2000}?)\$|"
    r"\\begin\{(?:align|equation|gather)\*?\}(.{1,2000}?)\\end\{(?:align|equation|gather)\*?\}",
    re.DOTALL,
)
r"""A formula; the bounds prevent quadratic search in a text of unclosed ``\[``."""
_SAYS = re.compile(
    r"\b(?:(?:final|correct)\s+)?(?:answer|ans)\b\.?\s*(?:is\s*:?|:|=)\s*(.+)", re.IGNORECASE
)
_EQUAL = re.compile(r"(?<![<>!\\])=(?!=)|\\(?:approx|simeq|cong|doteq|equiv)(?![a-z])|≈|≃")
_LAYOUT = re.compile(
    r"\\(?:begin|end)\{(?:aligned|align|array|split|gathered|cases|equation)\*?\}(?:\{[clr|]+\})?"
    r"|\\(?:left|right|big|Big|displaystyle|nonumber|notag|hline)(?![a-zA-Z])|&"
)
_WHERE = re.compile(r"\s*(?:where|in which|recall)\b", re.IGNORECASE)
"""Start of a text that only explains the preceding formula."""
_ROWS = re.compile(r"\\\\(?:\[[^\]]*\])?")
_LEADS = re.compile(
    r"^\s*or\s*$|\b(?:thus|therefore|hence|so|probability|answer|total|value)\b.*"
    r"\b(?:is|equals|of|about|approximately)\s*$",
    re.IGNORECASE | re.DOTALL,
)
"""Prose before a bare number that makes the number the answer: "or", "Hence the probability is"."""
_REMARK = re.compile(
    r"(?:\\q?quad|\\[,;!]|[\s,.~])*\\(?:text|mathrm|mbox)\s*\{\s*\(?\s*answer\s*\)?\s*\}",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.?!]\s+(?=[A-Z])|\n\s*\n")
_ASIDE = re.compile(
    r"\b(?:check|note|compare|however|while|whereas|percent error|error|instead|alternatively|respectively"
    r"|similarly|if|for example|when|case|cases|otherwise|suppose|assume|proceed|impossible|contradict\w*"
    r"|possib\w*|at least|at most|neither|both|literature|experimental|accepted|table|figure|cf\.)\b",
    re.IGNORECASE,
)
_INEQUALITY = re.compile(
    r"[<>≤≥]|\\(?:leq?|geq?|lt|gt|ll|gg|leqslant|geqslant|to|rightarrow)(?![a-z])"
)
_PROSE = re.compile(r"(?<![\\{A-Za-z])[A-Za-z]{2,} [A-Za-z]")
_BARE_UNIT = re.compile(r"(?<![\\{A-Za-z~])(?!e[+-]?\d)[A-Za-z](?![A-Za-z]*\{)(?![^{}]*\})")
r"""Letters in a formula that ``\mathrm{}`` does not mark as a unit: ``4044 c`` is a product."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_UNIT_BEHIND = re.compile(
    r"[ \t]{0,2}([A-Za-zµΩ°%][A-Za-zµΩ°/^0-9·-]{0,12})(?=[.,;]?(?:\s*$|\s*\n))"
)
"""A unit in prose directly after a formula, as in ``$5.0$ m/s.``"""


@dataclass(frozen=True, slots=True)
class ShortAnswer:
    """A short answer, the name of the rule that found it, and the options if it is a letter."""

    answer: str
    rule: str
    choices: tuple[str, ...] | None = None


def short_answer(problem: str, solution: str) -> ShortAnswer:
    """Return the final answer of ``solution``. Raises Unusable."""
    if max(len(problem), len(solution)) > _MAX_TEXT:
        raise Unusable(NO_TRUTH, f"the text is longer than {_MAX_TEXT} characters")
    options = options_in(problem)
    if options is not None:
        letter = letter_of(solution, len(options))
        if letter is None:  # the solution may give the option's text or number
            boxes = _boxes(solution)
            answer = boxes[0] if len(boxes) == 1 else _unboxed("", solution).answer
            place = choice_index(answer, options)
            if place is None:
                raise Unusable(NO_TRUTH, "the answer is none of the options")
            letter = chr(ord("A") + place)
        return ShortAnswer(letter, "option", tuple(options))
    boxes = _boxes(solution)
    if len(boxes) > 1:
        raise Unusable(NO_TRUTH, "several boxed answers")
    if _has_parts(problem):
        raise Unusable(NO_TRUTH, "the problem has several parts or unnamed options")
    if boxes:
        if len(boxes[0]) > _MAX_ANSWER:
            raise Unusable(NO_TRUTH, "the boxed answer is too long")
        return ShortAnswer(boxes[0], "boxed")
    return _unboxed(problem, solution)


def _unboxed(problem: str, solution: str) -> ShortAnswer:
    if _TASK.search(problem):
        raise Unusable(NO_TRUTH, "the problem asks for a proof, drawing or explanation")
    if _MANY.search(problem):
        raise Unusable(NO_TRUTH, "the problem asks for several values")
    if _has_parts(solution):
        raise Unusable(NO_TRUTH, "the solution has several parts")
    for rule, find in (
        ("said", _stated_answer),
        ("whole", _whole_solution),
        ("equation", _last_equation),
    ):
        answer = find(problem, solution)
        if answer is not None:
            return ShortAnswer(answer, rule)
    raise Unusable(NO_TRUTH, "the solution does not end in a readable answer")


def _has_parts(text: str) -> bool:
    first = [match.end() for match in _FIRST_PART.finditer(text)]
    for second in _SECOND_PART.finditer(text):
        place = bisect_right(first, second.start())
        if place and second.start() - first[place - 1] <= _PART:
            return True
    return False


def _boxes(solution: str) -> list[str]:
    boxes: list[str] = []
    text = solution
    for _ in range(20):
        box = last_boxed(text)
        if box is None:
            break
        if box and "".join(box.split()) not in ("".join(other.split()) for other in boxes):
            boxes.append(box)
        text = text[: max(text.rfind("\\boxed"), text.rfind("\\fbox"))]
    return boxes


def _stated_answer(problem: str, solution: str) -> str | None:
    """Return X of the last "the answer is X" if X is a number near the end."""
    statements = list(_SAYS.finditer(solution))
    if not statements or len(solution) - statements[-1].start() > 2 * _MAX_TAIL:
        return None
    text = _SENTENCE.split(statements[-1].group(1))[0]
    return None if _ends_in_variables(text) else _number(_last_side(_unwrapped(text)))


def _ends_in_variables(text: str) -> bool:
    formulas = [part for match in _MATH.finditer(text) for part in match.groups() if part]
    return bool(formulas) and _BARE_UNIT.search(_last_side(formulas[-1])) is not None


def _whole_solution(problem: str, solution: str) -> str | None:
    if len(solution) > _MAX_ANSWER or "\n" in solution.strip():
        return None
    text = _unwrapped(solution)
    if (
        _has_several_equations(text)
        or _ends_in_variables(solution)
        or _PROSE.search(_EQUAL.split(text)[0])
    ):
        return None
    answer = _number(_last_side(text))
    return None if answer is None or _is_stated(answer, problem) else answer


def _last_equation(problem: str, solution: str) -> str | None:
    """Return the right side of the last equation if it is a number that the problem does not state."""
    segments = list(_MATH.finditer(solution))
    displays = [match for match in segments if _is_display(match)]
    following = solution[displays[-1].end() :] if displays else ""
    if _WHERE.match(following) and len(_SENTENCE.split(following.strip())) == 1:
        segments = segments[: segments.index(displays[-1]) + 1]
        solution = solution[: displays[-1].end()]
    if not segments:
        return None
    last = segments[-1]
    tail = solution[last.end() :]
    begin = max((m.end() for m in displays if m.end() <= last.start()), default=0)
    sentence = _SENTENCE.split(solution[begin : last.start()])[-1]
    if len(tail) > _MAX_TAIL or _NUMBER.search(tail) or _ASIDE.search(tail + " " + sentence):
        return None
    if not _is_display(last):  # another equation of the sentence may be the result
        for match in _MATH.finditer(sentence):
            text = next(part for part in match.groups() if part is not None)
            if not _is_display(match) and _EQUAL.search(text) and _NUMBER.search(_last_side(text)):
                return None
    # take the number at the end; without an equation it counts only after "is" or "or"
    text = next(part for part in last.groups() if part is not None)
    rows = [line for line in _ROWS.split(_LAYOUT.sub(" ", _REMARK.sub("", text))) if line.strip()]
    if not rows or _has_several_equations(rows[-1]) or _INEQUALITY.search(rows[-1]):
        return None
    marks = list(_EQUAL.finditer(rows[-1]))
    if not marks and not _LEADS.search(sentence):
        return None
    behind = _UNIT_BEHIND.match(tail)
    unit = f" {behind.group(1)}" if behind else ""
    answer = None
    if len(marks) > 1 and marks[-1].group() != "=":  # take 0.396 from ``= 0.396 \approx 0.40``
        side = rows[-1][marks[-2].end() : marks[-1].start()].strip()
        answer = _number(side) if re.match(r"[+-]?\d*\.\d", side) else None
    answer = answer or _number(_last_side(rows[-1]) + unit)
    if answer is None or (not unit and _BARE_UNIT.search(answer)):
        return None
    return None if _is_stated(answer, problem) else answer


def _is_display(match: re.Match[str]) -> bool:
    return match.group(3) is None and match.group(4) is None


def _has_several_equations(text: str) -> bool:
    pieces = re.split(
        r",\s|;|\\q?quad(?![a-z])|\\(?:text|mathrm)\s*\{\s*(?:and|or)\s*\}|\\;\\;", text
    )
    return sum(bool(_EQUAL.search(piece)) for piece in pieces) > 1 or "\\pm" in text


def _unwrapped(text: str) -> str:
    text = " ".join(text.split()).strip()
    text = re.sub(r"\$|\\[()\[\]]|\*\*", " ", text).strip()
    return re.sub(r"[.,;:]+$", "", text).strip()


def _last_side(text: str) -> str:
    side = _EQUAL.split(text)[-1]
    return re.sub(r"[\s.,;:]+$", "", re.sub(r"\\[,;!]\s*$", "", side)).strip("$ ~")


def _number(text: str) -> str | None:
    """Return ``text`` if it is a number, alone or with a known unit."""
    if not text or len(text) > _MAX_ANSWER:
        return None
    # library calls have no time limit here
    return text if read_measure(text, "", lambda module: None) is not None else None


def _is_stated(answer: str, problem: str) -> bool:
    number = _NUMBER.search(answer)
    return (
        number is not None
        and len(number.group()) > 1
        and number.group() in _NUMBER.findall(problem)
    )
